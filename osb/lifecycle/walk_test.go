package lifecycle

import (
	"flag"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// walkFar bounds a walk; the nearest states come first. Some scenes have 8,000, some
// more than 100,000: go test ./osb/lifecycle -run TestWalk -walk-far 100000.
var walkFar = flag.Int("walk-far", 600, "how many states a walk goes to")

// TestWalk goes from a new thing to every state that it can come to, by every reply,
// crash, edit and deletion, with the broker's truth beside it; and from each of them,
// with a broker that answers well from then on, to an end.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, s := range scenes() {
		t.Run(s.name(), func(t *testing.T) {
			t.Parallel()
			w := walk{t: t, scene: s, seen: map[string]bool{}, ended: map[string]bool{}}
			w.visit(s.start())
			for len(w.queue) > 0 && len(w.seen) < *walkFar {
				at := w.queue[0]
				w.queue = w.queue[1:]
				w.expand(at)
			}
			t.Logf("%d states, %d calls", len(w.seen), w.calls)
			// Where nothing is made, and nothing is there, there is little to come to.
			least := map[bool]int{true: 10, false: 100}[s.adopting && s.foreign == ""]
			require.Greater(t, len(w.seen), least, "the walk does not reach what it should")
		})
	}
}

type walk struct {
	t           *testing.T
	scene       scene
	seen, ended map[string]bool
	queue       []*state
	calls       int
}

func (w *walk) visit(s state) {
	key := s.key()
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	w.checkRecord(&s)
	w.queue = append(w.queue, &s)
	w.ends(&s)
	deleted := s
	deleted.thing.Deleting = true
	w.ends(&deleted)
}

func (w *walk) expand(at *state) {
	before := snapshot(w.t, &at.thing)
	w.events(at)
	good := w.scene.facts(at)
	w.step(at, "", good)
	others := w.scene.otherFacts(at)
	for _, name := range slices.Sorted(maps.Keys(others)) {
		w.step(at, name, others[name])
	}
	require.Equal(w.t, before, snapshot(w.t, &at.thing), "the input was written to: %s", at.path())
}

// events are what people and time do.
func (w *walk) events(at *state) {
	event := func(how string, change func(*state)) {
		next := *at
		next.from, next.how = at, how
		change(&next)
		w.visit(next)
	}
	if !at.thing.Deleting {
		event("edit", func(s *state) { s.thing.Generation++; s.body = map[string]string{"a": "b", "b": "a"}[s.body] })
		event("delete", func(s *state) { s.thing.Generation++; s.thing.Deleting = true })
	}
	if due := at.due(); !due.IsZero() {
		event("wait", func(s *state) { s.passes(due.Add(time.Second)) })
	}
	if at.thing.Record.Async {
		event("wait long", func(s *state) { s.passes(at.now.Add(maxPolling + time.Hour)) })
	}
	if at.world.cut {
		event("lands late", func(s *state) { s.world = s.world.landed() })
		event("is dropped", func(s *state) { s.world.cut = false })
	}
	if at.remains && at.thing.Parted() {
		w.checkParted(at)
		event("the instance goes", func(s *state) { s.remains = false })
	}
	if at.world.secret {
		event("secret lost", func(s *state) { s.world.secret = false })
	}
	if !at.restarted && at.thing.Record.Deadline.After(at.now) {
		event("restart", func(s *state) { s.restarted = true })
	}
}

// due is the next time at which anything changes by itself, or zero.
func (s *state) due() time.Time {
	var due time.Time
	for _, t := range []time.Time{s.thing.Record.NextRetry, s.thing.Record.Deadline} {
		if t.After(s.now) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	return due
}

// passes lets time pass. What was cut off is not acted on after its time.
func (s *state) passes(until time.Time) {
	s.now = until
	if !s.world.cutUntil.After(until) {
		s.world.cut = false
	}
}

// step does what Next says, with every answer that there can be.
func (w *walk) step(at *state, day string, f Facts) {
	d := Next(at.thing, f)
	if !d.Step.calls() {
		w.rests(at, day, f, &d)
		return
	}
	w.calls++
	w.checkCall(at, f, &d)
	intent := w.intent(at, day, f, &d)
	answers := w.answers(&intent, f, &d)
	if day != "" { // the call is as on a good day
		answers = []answer{answers[0], best(answers)}
	}
	for _, a := range answers {
		if a.world.cut && a.world.cutUntil.IsZero() {
			a.world.cutUntil = intent.thing.Record.Deadline
		}
		w.crashes(&intent, a)
		w.replied(at, &intent, f, d, a)
	}
}

func (w *walk) rests(at *state, day string, _ Facts, d *Decision) {
	if d.Step == Release {
		w.checkRelease(at, d.Warning)
		return
	}
	next := *at
	next.from, next.how = at, day+"Rest"
	next.thing = at.thing.stored(&d.Record)
	next.gaveUp = at.gaveUp || at.remains && d.Event != nil && d.Event.Warning
	w.visit(next)
}

// intent is the state once the record before a call is written, by this process.
func (w *walk) intent(at *state, day string, f Facts, d *Decision) state {
	next := *at
	next.from, next.how = at, day+d.Step.String()
	if d.Step != Poll && d.Step != Fetch {
		d.Record.Deadline = f.Now.Add(callTimeout)
		next.restarted = false
	}
	next.thing = at.thing.stored(&d.Record)
	next.thing.Record.Conditions = slices.Clip(next.thing.Record.Conditions)
	return next
}

func (w *walk) answers(intent *state, f Facts, d *Decision) []answer {
	switch d.Step {
	case Make:
		return intent.world.answersToMake(&w.scene, intent.body)
	case Change:
		return intent.world.answersToChange(intent.body)
	case Remove, Mitigate:
		return intent.world.answersToRemove()
	case Poll:
		return intent.world.answersToPoll(d.Record.Operation)
	case Rest, Fetch, Release:
	}
	return intent.world.answersToFetch(&w.scene, bodyOf(f))
}

func bodyOf(f Facts) string { return f.Ask.ParameterChecksum[:1] }

// crashes is the state in which the process dies before it writes what came of a call.
// Of the credentials that it may have written, some are there.
func (w *walk) crashes(intent *state, a answer) {
	next := *intent
	next.from, next.how = intent, "crash after "+a.name
	next.world, next.restarted = a.world, true
	w.visit(next)
	next.how = "outcome not written after " + a.name
	next.restarted = false
	w.visit(next)
}

func (w *walk) replied(at, intent *state, f Facts, d Decision, a answer) {
	f.Now = f.Now.Add(a.took)
	o := at.thing.Replied(d, a.reply, f)
	next := *intent
	next.from, next.how, next.world = intent, a.name, a.world
	w.checkOutcome(at, &d, a, &o, next.path())
	if o.Release {
		next.thing.Deleting = true
		w.checkRelease(&next, "")
		return
	}
	next.thing = at.thing.stored(&o.Record)
	if o.Record.ID != d.Record.ID && d.Record.ID != "" {
		require.False(w.t, a.world.ours || a.world.cut, "a new ID while something is there under the old: %s", next.path())
		next.world, next.ids = world{}, next.ids+1
	}
	next.passes(f.Now)
	w.visit(next)
}

// ends goes on with a broker that answers well, until nothing is left to do, or until
// it comes to where it was before.
func (w *walk) ends(at *state) {
	const patience = 80
	s := *at
	var passed []string
	for range patience {
		key := s.key()
		if w.ended[key] || w.atEnd(&s, at) {
			for _, key := range passed {
				w.ended[key] = true
			}
			return
		}
		passed = append(passed, key)
	}
	require.Fail(w.t, "no end", "%s; deleting: %t; %+v", at.path(), at.thing.Deleting, s.thing.Record)
}

// atEnd takes one step, and says whether it was the last.
func (w *walk) atEnd(s, start *state) bool {
	f := w.scene.facts(s)
	d := Next(s.thing, f)
	if d.Step.calls() {
		if !w.goesWell(s, f, &d) {
			return false
		}
		require.True(w.t, s.thing.Deleting, "released, and not deleted: %s", start.path())
		return true
	}
	if d.Step == Release {
		require.True(w.t, s.thing.Deleting, "released, and not deleted: %s", start.path())
		return true
	}
	s.thing = s.thing.stored(&d.Record)
	if d.After == 0 && s.remains && s.thing.Parted() {
		s.remains = false
		return false
	}
	if d.After == 0 {
		w.checkEnd(s, start.path())
		return true
	}
	s.passes(s.now.Add(d.After))
	s.world = s.world.finished(&s.thing.Record)
	return false
}

// goesWell makes a call of a decision, answered well, and says whether the thing is
// released.
func (w *walk) goesWell(s *state, f Facts, d *Decision) bool {
	intent := w.intent(s, "", f, d)
	var a answer
	if d.Step == Make {
		a = intent.world.bestMade(&w.scene, intent.body)
	} else {
		a = best(w.answers(&intent, f, d))
	}
	f.Now = f.Now.Add(time.Second)
	o := s.thing.Replied(*d, a.reply, f)
	s.thing, s.world = s.thing.stored(&o.Record), a.world
	if o.Record.ID != d.Record.ID && d.Record.ID != "" {
		s.world, s.ids = world{}, s.ids+1
	}
	s.passes(f.Now.Add(o.After))
	s.world = s.world.finished(&s.thing.Record)
	return o.Release
}
