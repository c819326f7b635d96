package lifecycle

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// checkCall is what holds of every call.
func (w *rotationWalk) checkCall(s *side, d *Decision) {
	r := &d.Record
	// Without its Secret the one in force is asked for again, and made anew: no rotation.
	remade := w.lost && !s.other
	if (d.Step == Remove || d.Step == Mitigate) && w.binding.DeletionTimestamp == nil && !remade {
		require.NotEqual(w.t, w.holder, r.ID, "what the Secret holds is removed: %v", w.path)
	}
	if at := w.worlds[r.ID]; d.Step == Make && at.place != nothing {
		require.Equal(w.t, at.body, w.bodyOf(s, d), "it is asked for again by another request than the one that made it: %v", w.path)
	}
	if d.Step == Make && s.other {
		require.Equal(w.t, v1beta1.RotationSuccessor, w.role(), "a former one is made again: %v", w.path)
		require.Nil(w.t, w.binding.DeletionTimestamp, "%v", w.path)
		if w.plan.rotatable {
			require.Equal(w.t, InForce(w.binding), SuccessorOf(w.binding, r.InProgress), "%v", w.path)
		}
	}
}

// check is what holds at any time.
func (w *rotationWalk) check() {
	count := 0
	for _, at := range w.worlds {
		if at.place != nothing {
			count++
		}
	}
	require.LessOrEqual(w.t, count, 2, "three at the broker: %v", w.path)
	if w.holder != "" && w.binding.DeletionTimestamp == nil && !w.lost {
		require.Equal(w.t, there, w.worlds[w.holder].place, "the Secret holds what the broker does not take: %v", w.path)
	}
	b := w.binding
	if b.DeletionTimestamp == nil && !w.lost {
		ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
		require.Equal(w.t, v1beta1.ConditionTrue, ready.Status, "a rotation makes it not Ready: %v", w.path)
	}
}

// end goes on with a broker that answers well, until nothing is left to do.
func (w *rotationWalk) end() {
	for range 200 {
		if len(w.binding.Finalizers) > 0 {
			break
		}
		s, d, wait := w.next()
		if s == nil && wait == 0 {
			break
		}
		if w.lost && d.Step == Rest && d.Record.failedForGood() { // without its Secret it had to be made anew
			w.binding.Generation++
		}
		after := w.step(w.bestAnswer, false)
		w.check()
		w.pass(w.now.Add(after))
		for id, at := range w.worlds {
			w.worlds[id] = at.finished(&Record{Async: at.place == making && w.pending(id)})
		}
	}
	require.Nil(w.t, w.binding.Status.Rotation, "no end: %v", w.path)
	for id, at := range w.worlds {
		is := id == InForce(w.binding) && w.binding.DeletionTimestamp == nil
		require.Equal(w.t, map[bool]place{true: there}[is], at.place, "%s in the end: %v", short(id), w.path)
		require.False(w.t, at.cut, "%v", w.path)
	}
	if w.binding.DeletionTimestamp == nil {
		require.Equal(w.t, InForce(w.binding), w.holder, "%v", w.path)
		require.NotEqual(w.t, w.revealed, w.holder, "what was in the Secret when others were asked for is in it still: %v", w.path)
	}
}

// pending says that an operation on an ID is polled.
func (w *rotationWalk) pending(id string) bool {
	s := &w.binding.Status
	return s.ExternalID == id && s.AsyncOpInProgress || s.Rotation != nil && s.Rotation.ExternalID == id && s.Rotation.AsyncOpInProgress
}

func (w *rotationWalk) bestAnswer(all []answer) answer {
	for _, a := range all {
		if strings.HasPrefix(a.name, "201") && a.reply.Credentials == Stored {
			return a
		}
	}
	if a := all[len(all)-1]; a.reply.Credentials == NoCredentials && a.reply.Response != nil && !a.reply.Response.Async {
		for _, a := range all {
			if a.reply.Credentials == Stored {
				return a
			}
		}
	}
	return best(all)
}
