package controller

import (
	"context"
	"hash/maphash"
	"time"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// failureReports are what was logged, and emitted as events, of a resource whose calls fail: nothing
// is reported again at each attempt. Texts are kept as hashes, because a broker's may be long.
type failureReports struct {
	// logged has the last failure of each step.
	logged  map[lifecycle.Step]uint64
	emitted map[eventKey]emittedEvent
}

// An eventKey is what an event is about.
type eventKey struct {
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
	made := &failureReports{logged: map[lifecycle.Step]uint64{}, emitted: map[eventKey]emittedEvent{}}
	remember(ctx, s.object(), func(m *memory) { m.reports[bindingIndex(thing)] = made })
	return made
}

// clearReports drops the reports of a resource: a failure after this is another one.
func clearReports(ctx context.Context, s resource, thing *lifecycle.Resource) {
	remember(ctx, s.object(), func(m *memory) { m.reports[bindingIndex(thing)] = nil })
}

// isNew says whether a failure of a step is another one than the last.
func (r *failureReports) isNew(step lifecycle.Step, text string) bool {
	last, is := r.logged[step]
	now := maphash.String(reportSeed, text)
	r.logged[step] = now
	return !is || last != now
}

// emits says whether an event is emitted: it is not the last one of its key, or joins its series.
func (r *failureReports) emits(step lifecycle.Step, event *lifecycle.Event, now time.Time) bool {
	key, hash := eventKey{step, event.Warning}, maphash.Comparable(reportSeed, *event)
	if last, is := r.emitted[key]; is && last.hash == hash && now.Sub(last.last) > seriesTime {
		return false
	}
	r.emitted[key] = emittedEvent{hash, now}
	return true
}
