package lifecycle

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// happened is the truth after an answer.
func (w *rotationWalk) happened(s *side, id string, a answer, deadline time.Time) {
	if a.world.cut && a.world.cutUntil.IsZero() {
		a.world.cutUntil = deadline
	}
	switch {
	case a.world.secret:
		w.holds(id)
	case s.other && a.reply.Credentials == NotStored && w.random.IntN(2) == 0: // they were, although no answer said so
		w.holds(id)
	}
	a.world.secret = false
	w.worlds[id] = a.world
}

// holds has the Secret have the credentials of an ID, with what they serve in its
// annotations, as it is when they are stored first.
func (w *rotationWalk) holds(id string) {
	if w.holder = id; w.served[id] == 0 {
		w.served[id] = w.binding.Spec.Rotation.Requests
	}
}

// bodyOf is what the broker is sent, which it compares with what it was sent before: one
// that takes over names its predecessor, and has no parameters.
func (w *rotationWalk) bodyOf(s *side, d *Decision) string {
	predecessor := s.predecessor
	if s.other && d.Record.InProgress != nil {
		predecessor = SuccessorOf(w.binding, d.Record.InProgress)
	}
	if predecessor != "" {
		return "after " + predecessor
	}
	return "a"
}

func (w *rotationWalk) answers(s *side, d *Decision) []answer {
	at := w.worlds[d.Record.ID]
	switch d.Step {
	case Make:
		return at.answersToMake(&w.scene, w.bodyOf(s, d))
	case Remove, Mitigate:
		return at.answersToRemove()
	case Poll:
		return at.answersToPoll(d.Record.Operation)
	case Rest, Change, Fetch, Release:
	}
	return at.answersToFetch(&w.scene, at.body)
}

func (w *rotationWalk) store(s *side, r *Record) {
	b := w.binding
	if strings.HasSuffix(r.ID, fmt.Sprintf("%012d", w.ids+1)) {
		w.ids++
	}
	if !s.other {
		b.Status = r.BindingStatus(b.Status)
		switch {
		case !r.Exists:
			b.Status.Credentials = nil
		case b.Status.Credentials == nil:
			b.Status.Credentials = NewCredentials(b, r.ID, w.served[r.ID], w.now, time.Time{}, time.Time{})
		}
		return
	}
	before := InForce(b)
	status := rotating.RotationStatus(b, r, Switch{Issued: NewCredentials(b, r.ID, w.served[r.ID], w.now, time.Time{}, time.Time{}), Now: w.now})
	b.Status = *status.DeepCopy()
	if InForce(b) != before {
		w.switches++
		w.path = append(w.path, "switch")
	}
}

func (w *rotationWalk) released(s *side) {
	if s.other {
		w.binding.Status = RotationDone(w.binding)
		return
	}
	require.NotNil(w.t, w.binding.DeletionTimestamp, "%v", w.path)
	w.binding.Finalizers = []string{"gone"}
}
