package controller

import (
	"context"
	"time"

	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// said is what was logged, and told by events, of an object whose calls fail: it is not said again
// at each attempt.
type said struct {
	// logged is the last failure of each step.
	logged map[lifecycle.Step]string
	told   map[subject]telling
}

// A subject is what an event is about.
type subject struct {
	step    lifecycle.Step
	warning bool
}

// A telling is the last event about a subject, and when it was last emitted.
type telling struct {
	event lifecycle.Event
	last  time.Time
}

// series is how long a repeated event joins the series of the last one, with a margin: later it
// would be a new Event.
const series = 5 * time.Minute

// saidOf is what was said of a resource. The passes over an object follow each other.
func saidOf(ctx context.Context, s resource, thing *lifecycle.Resource) *said {
	if known := recall(ctx, s.object()).said[sayer(thing)]; known != nil {
		return known
	}
	made := &said{logged: map[lifecycle.Step]string{}, told: map[subject]telling{}}
	remember(ctx, s.object(), func(m *memory) { m.said[sayer(thing)] = made })
	return made
}

// unsay drops what was said of a resource: a failure after this is another one.
func unsay(ctx context.Context, s resource, thing *lifecycle.Resource) {
	remember(ctx, s.object(), func(m *memory) { m.said[sayer(thing)] = nil })
}

// logs says whether a failure of a step is another one than the last.
func (k *said) logs(step lifecycle.Step, text string) bool {
	last, is := k.logged[step]
	k.logged[step] = text
	return !is || last != text
}

// tells says whether an event is emitted: it is not the last one of its subject, or joins its series.
func (k *said) tells(step lifecycle.Step, event *lifecycle.Event, now time.Time) bool {
	about := subject{step, event.Warning}
	if last, is := k.told[about]; is && last.event == *event && now.Sub(last.last) > series {
		return false
	}
	k.told[about] = telling{*event, now}
	return true
}
