package controller

import (
	"context"
	"errors"
	"hash/maphash"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/tracing"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// failureReports are what was logged, and emitted as events, of a resource since it last succeeded:
// nothing is reported again at each attempt. Texts are kept as hashes, because a broker's may be long.
type failureReports struct {
	logged  map[reportKey]uint64
	emitted map[reportKey]emittedEvent
}

// A reportKey is what a line of the log, or an event, is about.
type reportKey struct {
	step    lifecycle.Step
	warning bool
}

// An emittedEvent is the last event of a key, and when it was last emitted.
type emittedEvent struct {
	hash uint64
	last time.Time
}

// seriesTime is how long a repeated event joins the series of the last one, with a margin: later it
// would be a new Event.
const seriesTime = 5 * time.Minute

// reportSeed is the seed of all hashes of this process.
var reportSeed = maphash.MakeSeed() //nolint:gochecknoglobals // hashes of one seed can be compared

// reportsOf are the reports of a resource. The passes over an object follow each other.
func reportsOf(ctx context.Context, s resource, thing *lifecycle.Resource) *failureReports {
	if known := recall(ctx, s.object()).reports[bindingIndex(thing)]; known != nil {
		return known
	}
	made := &failureReports{logged: map[reportKey]uint64{}, emitted: map[reportKey]emittedEvent{}}
	remember(ctx, s.object(), func(m *memory) { m.reports[bindingIndex(thing)] = made })
	return made
}

// clearReports drops the reports of a resource: a failure after this is another one.
func clearReports(ctx context.Context, s resource, thing *lifecycle.Resource) {
	remember(ctx, s.object(), func(m *memory) { m.reports[bindingIndex(thing)] = nil })
}

// isNew says whether a text about a step is another one than the last.
func (r *failureReports) isNew(step lifecycle.Step, warning bool, text string) bool {
	key, now := reportKey{step, warning}, maphash.String(reportSeed, text)
	last, is := r.logged[key]
	r.logged[key] = now
	return !is || last != now
}

// emits says whether an event is emitted: it is not the last one of its key, or joins its series.
func (r *failureReports) emits(step lifecycle.Step, event *lifecycle.Event, now time.Time) bool {
	key, hash := reportKey{step, event.Warning}, maphash.Comparable(reportSeed, *event)
	if last, is := r.emitted[key]; is && last.hash == hash && now.Sub(last.last) > seriesTime {
		return false
	}
	r.emitted[key] = emittedEvent{hash, now}
	return true
}

// logFailure logs a call that failed. A failure that is repeated is logged once.
func logFailure(ctx context.Context, s resource, t *attempt, reply *lifecycle.CallResult) {
	if t.failed = reply.Err != nil && !removed(t, reply.Err); !t.failed || reply.Problem != nil {
		return
	}
	what := "the call to the broker failed"
	if errors.As(reply.Err, new(*lifecycle.APIError)) {
		what = "the broker was not called: a request to the API server failed"
	}
	logCall(ctx, s, t, what, lifecycle.Event{Warning: true, Reason: tracing.Outcome(reply.Err), Message: reply.Err.Error()})
}

// removed says whether a call failed because what it was to remove is gone.
func removed(t *attempt, err error) bool {
	failed := (*osb.Error)(nil)
	return t.decision.Record.Operation == lifecycle.Deprovisioning && errors.As(err, &failed) && failed.StatusCode == http.StatusGone
}

// logSettled logs an operation that ended, as its event says; nil: it goes on. What a call that failed led
// to is not logged again, unless that was a poll: another one could have followed.
func logSettled(ctx context.Context, s resource, t *attempt, outcome *lifecycle.Outcome) {
	event, polled := outcome.Event, t.decision.Step == lifecycle.Poll
	if event == nil || event.Warning && t.failed && (!polled || outcome.Record.Async) {
		return
	}
	if started := t.thing.Record.Started; polled && !started.IsZero() {
		t.took = t.facts.Now.Sub(started)
	}
	what := "the operation ended"
	if event.Warning {
		what = "the operation failed"
	}
	logCall(ctx, s, t, what, *event)
}

// logCall logs what came of a call, with its request ID, which the broker's log may have, too. It never
// logs a parameter.
func logCall(ctx context.Context, s resource, t *attempt, what string, came lifecycle.Event) {
	values := []any{
		"operation", operationOf(s, t.decision.Step), "outcome", came.Reason, "broker", t.broker.String(), "externalID", t.decision.Record.ID,
		"requestID", t.requestID, "took", t.took.String(), "uid", s.object().GetUID(),
	}
	text := came.Reason
	if came.Warning {
		text = t.redactor.Text(came.Message)
		values = append(values, "why", text)
	}
	logger := log.FromContext(ctx)
	if !reportsOf(ctx, s, t.thing).isNew(t.decision.Step, came.Warning, text) {
		logger = logger.V(1)
	}
	logger.Info(what, values...)
}
