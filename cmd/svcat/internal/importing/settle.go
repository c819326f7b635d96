package importing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// atOnce is how many objects are waited for at the same time: each takes a watch.
const atOnce = 32

// quietFor is how long it waits without a word.
const quietFor = 5 * time.Second

// settle waits for the outcomes that have no result yet, and reports all. Nothing is waited for in
// a dry run: what is here already is reported as it is.
func (s *side) settle(ctx context.Context, outcomes []*outcome) {
	var open []*outcome
	for _, o := range outcomes {
		if o.result == "" && o.here != nil {
			open = append(open, o)
		}
	}
	until := time.Now().Add(s.wait)
	defer time.AfterFunc(quietFor, func() {
		_, _ = fmt.Fprintf(s.env.ErrOut, "waiting for %d objects to be ready, at most %s\n", len(open), s.wait)
	}).Stop()
	for batch := range slices.Chunk(open, atOnce) {
		objects := make([]client.Object, len(batch))
		for i, o := range batch {
			objects[i] = o.here
		}
		// Why an object is not ready is in the object.
		var waited error
		if left := max(time.Until(until), time.Second); !s.dryRun {
			waited = s.ready(ctx, left, objects...)
		}
		for _, o := range batch {
			o.conclude(waited)
		}
	}
	s.add(outcomes)
}

// conclude says what became of an object that was waited for.
func (o *outcome) conclude(waited error) {
	generation, conditions := o.here.GetGeneration(), moving.ConditionsOf(o.here)
	find := func(typ string) (v1beta1.Condition, bool) {
		c, _ := v1beta1.FindCondition(conditions, typ)
		return c, c.Status == v1beta1.ConditionTrue && c.ObservedGeneration == generation
	}
	if failed, is := find(v1beta1.ConditionFailed); is {
		o.endf(moving.NotMoved, "%sit failed here: %s: %s", o.at(), failed.Reason, failed.Message)
		return
	}
	ready, is := find(v1beta1.ConditionReady)
	switch {
	case is && o.existed:
		o.endf(moving.Unchanged, "%s", ready.Reason)
	case is:
		o.endf(moving.Moved, "%s%s", o.at(), ready.Reason)
	default:
		o.endf(moving.Waiting, "%s%s", o.at(), waiting(ready, waited))
	}
}

// waiting says what an object waits for. Of an error it is said only if it tells more than that.
func waiting(ready v1beta1.Condition, waited error) string {
	text := "nothing was said of it yet; is the controller running?"
	if ready.Reason != "" {
		text = strings.TrimSuffix(ready.Reason+": "+ready.Message, ": ")
	}
	if _, told := errors.AsType[*cli.Failure](waited); waited != nil && !told {
		text = fmt.Sprintf("%s (%s)", text, waited)
	}
	return text + "; run the same command again to go on"
}
