package lifecycle

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// happened is the truth after an answer.
func (w *rotationStateMachine) happened(s *side, id string, a answer, deadline time.Time) {
	if a.env.cut && a.env.cutUntil.IsZero() {
		a.env.cutUntil = deadline
	}
	switch {
	case a.env.secret:
		w.holds(id)
	case s.other && a.result.Credentials == NotStored && w.random.IntN(2) == 0: // they were, although no answer said so
		w.holds(id)
	}
	a.env.secret = false
	w.envs[id] = a.env
}

// holds has the Secret have the credentials of an ID, with what they serve in its
// annotations, as it is when they are stored first.
func (w *rotationStateMachine) holds(id string) {
	if w.holder = id; w.served[id] == 0 {
		w.served[id] = w.binding.Spec.Rotation.Requests
	}
}

// bodyOf is what the broker is sent, which it compares with what it was sent before: one
// that takes over names its predecessor, and has no parameters.
func (w *rotationStateMachine) bodyOf(s *side, d *Decision) string {
	predecessor := s.predecessor
	if s.other && d.Record.InProgress != nil {
		predecessor = SuccessorOf(w.binding, d.Record.InProgress)
	}
	if predecessor != "" {
		return "after " + predecessor
	}
	return "a"
}

func (w *rotationStateMachine) answers(s *side, d *Decision) []answer {
	at := w.envs[d.Record.ID]
	switch d.Step {
	case Provision:
		return at.answersToProvision(&w.scenario, w.bodyOf(s, d))
	case Deprovision, MitigateOrphan:
		return at.answersToDeprovision()
	case Poll:
		return at.answersToPoll(d.Record.Operation)
	case Rest, Update, Fetch, Release:
	}
	return at.answersToFetch(&w.scenario, at.body)
}

func (w *rotationStateMachine) store(s *side, r *Record) {
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

func (w *rotationStateMachine) released(s *side) {
	if s.other {
		w.binding.Status = RotationDone(w.binding)
		return
	}
	require.NotNil(w.t, w.binding.DeletionTimestamp, "%v", w.path)
	w.binding.Finalizers = []string{"gone"}
}
