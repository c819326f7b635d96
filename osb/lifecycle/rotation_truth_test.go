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
		w.holder = id
	case s.other && a.reply.Credentials == NotStored && w.random.IntN(2) == 0: // they were, although no answer said so
		w.holder = id
	}
	a.world.secret = false
	w.worlds[id] = a.world
}

func (w *rotationWalk) answers(d *Decision) []answer {
	at := w.worlds[d.Record.ID]
	switch d.Step {
	case Make:
		return at.answersToMake(&w.scene, "a")
	case Remove, Mitigate:
		return at.answersToRemove()
	case Poll:
		return at.answersToPoll(d.Record.Operation)
	case Rest, Change, Fetch, Release:
	}
	return at.answersToFetch(&w.scene, "a")
}

func (w *rotationWalk) store(s *side, r *Record) {
	b := w.binding
	if strings.HasSuffix(r.ID, fmt.Sprintf("%012d", w.ids+1)) {
		w.ids++
	}
	if !s.other {
		b.Status = r.BindingStatus(b.Status)
		return
	}
	before := InForce(b)
	status := rotating.RotationStatus(b, r, Switch{Issued: NewCredentials(b, r.ID, w.now, time.Time{}, time.Time{}), Now: w.now})
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
