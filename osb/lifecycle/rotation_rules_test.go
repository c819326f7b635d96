package lifecycle

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// checkCall is what holds of every call.
func (w *rotationStateMachine) checkCall(s *side, d *Decision) {
	r := &d.Record
	// Without its Secret the one in force is requested again, and made again: no rotation.
	remade := w.lost && !s.other
	if (d.Step == Deprovision || d.Step == MitigateOrphan) && w.binding.DeletionTimestamp == nil && !remade {
		require.NotEqual(w.t, w.holder, r.ID, "what the Secret holds is removed: %v", w.path)
	}
	if at := w.envs[r.ID]; d.Step == Provision && at.place != nothing {
		require.Equal(w.t, at.body, w.bodyOf(s, d), "it is asked for again by another request than the one that made it: %v", w.path)
	}
	if d.Step == Provision && s.other {
		require.Equal(w.t, v1beta1.RotationSuccessor, w.role(), "a former one is made again: %v", w.path)
		require.Nil(w.t, w.binding.DeletionTimestamp, "%v", w.path)
		if w.plan.rotatable {
			require.Equal(w.t, InForce(w.binding), SuccessorOf(w.binding, r.InProgress), "%v", w.path)
		}
	}
}

// check is what holds at any time.
func (w *rotationStateMachine) check() {
	count := 0
	for _, at := range w.envs {
		if at.place != nothing {
			count++
		}
	}
	require.LessOrEqual(w.t, count, 2, "three at the broker: %v", w.path)
	if w.holder != "" && w.binding.DeletionTimestamp == nil && !w.lost {
		require.Equal(w.t, there, w.envs[w.holder].place, "the Secret holds what the broker does not take: %v", w.path)
	}
	b := w.binding
	if b.DeletionTimestamp == nil && !w.lost {
		ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
		require.Equal(w.t, v1beta1.ConditionTrue, ready.Status, "a rotation makes it not Ready: %v", w.path)
	}
}

// end goes on with a broker that answers well, until nothing is left to do.
func (w *rotationStateMachine) end() {
	for range 200 {
		if len(w.binding.Finalizers) > 0 {
			break
		}
		s, d, wait := w.next()
		if s == nil && wait == 0 {
			break
		}
		if w.lost && d.Step == Rest && d.Record.failedForGood() { // without its Secret it had to be made again
			w.binding.Generation++
		}
		after := w.step(w.bestAnswer, false)
		w.check()
		w.pass(w.now.Add(after))
		for id, at := range w.envs {
			w.envs[id] = at.finished(&Record{Async: at.place == making && w.pending(id)})
		}
	}
	require.Nil(w.t, w.binding.Status.Rotation, "no end: %v", w.path)
	for id, at := range w.envs {
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
func (w *rotationStateMachine) pending(id string) bool {
	s := &w.binding.Status
	return s.ExternalID == id && s.AsyncOpInProgress || s.Rotation != nil && s.Rotation.ExternalID == id && s.Rotation.AsyncOpInProgress
}

func (w *rotationStateMachine) bestAnswer(all []answer) answer {
	for _, a := range all {
		if strings.HasPrefix(a.name, "201") && a.result.Credentials == Stored {
			return a
		}
	}
	if a := all[len(all)-1]; a.result.Credentials == NoCredentials && a.result.Response != nil && !a.result.Response.Async {
		for _, a := range all {
			if a.result.Credentials == Stored {
				return a
			}
		}
	}
	return best(all)
}
