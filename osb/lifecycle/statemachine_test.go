package lifecycle

import (
	"flag"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mostStates bounds the states that TestStateMachine goes to, the nearest first. Some
// scenarios have 8,000, some more than 100,000:
//
//	go test ./osb/lifecycle -run TestStateMachine -states 100000
var mostStates = flag.Int("states", 600, "how many states the test goes to")

// TestStateMachine goes from a new resource to every state that it can come to, by every response,
// crash, edit and deletion, with the broker's truth beside it; and from each of them,
// with a broker that answers well from then on, to an end.
func TestStateMachine(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name(), func(t *testing.T) {
			t.Parallel()
			w := stateMachine{t: t, scenario: s, seen: map[string]bool{}, ended: map[string]bool{}}
			w.visit(s.start())
			for len(w.queue) > 0 && len(w.seen) < *mostStates {
				at := w.queue[0]
				w.queue = w.queue[1:]
				w.expand(at)
			}
			t.Logf("%d states, %d calls", len(w.seen), w.calls)
			// Where nothing is made, and nothing is there, there is little to come to.
			least := map[bool]int{true: 10, false: 100}[s.adopting && s.foreign == ""]
			require.Greater(t, len(w.seen), least, "it does not reach what it should")
		})
	}
}

type stateMachine struct {
	t           *testing.T
	scenario    scenario
	seen, ended map[string]bool
	queue       []*state
	calls       int
}

func (w *stateMachine) visit(s state) {
	key := s.key()
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	w.checkRecord(&s)
	w.queue = append(w.queue, &s)
	w.ends(&s)
	deleted := s
	deleted.resource.Deleting = true
	w.ends(&deleted)
}

func (w *stateMachine) expand(at *state) {
	before := snapshot(w.t, &at.resource)
	w.events(at)
	good := w.scenario.facts(at)
	w.step(at, "", good)
	others := w.scenario.otherFacts(at)
	for _, name := range slices.Sorted(maps.Keys(others)) {
		w.step(at, name, others[name])
	}
	require.Equal(w.t, before, snapshot(w.t, &at.resource), "the input was written to: %s", at.path())
}

// events are what people and time do.
func (w *stateMachine) events(at *state) {
	event := func(how string, change func(*state)) {
		next := *at
		next.from, next.how = at, how
		change(&next)
		w.visit(next)
	}
	if !at.resource.Deleting {
		event("edit", func(s *state) { s.resource.Generation++; s.body = map[string]string{"a": "b", "b": "a"}[s.body] })
		event("delete", func(s *state) { s.resource.Generation++; s.resource.Deleting = true })
	}
	if due := at.due(); !due.IsZero() {
		event("wait", func(s *state) { s.passes(due.Add(time.Second)) })
	}
	if at.resource.Record.Async {
		event("wait long", func(s *state) { s.passes(at.now.Add(maxPolling + time.Hour)) })
	}
	if at.env.cut {
		event("lands late", func(s *state) { s.env = s.env.landed() })
		event("is dropped", func(s *state) { s.env.cut = false })
	}
	if at.remains && at.resource.Parted() {
		w.checkParted(at)
		event("the instance goes", func(s *state) { s.remains = false })
	}
	if at.env.secret {
		event("secret lost", func(s *state) { s.env.secret = false })
	}
	if w.scenario.supplies() && !at.env.secret {
		event("secret supplied", func(s *state) { s.env.secret = true })
	}
	if !at.restarted && at.resource.Record.Deadline.After(at.now) {
		event("restart", func(s *state) { s.restarted = true })
	}
}

// due is the next time at which anything changes by itself, or zero.
func (s *state) due() time.Time {
	var due time.Time
	for _, t := range []time.Time{s.resource.Record.NextRetry, s.resource.Record.Deadline} {
		if t.After(s.now) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	return due
}

// passes lets time pass. What was cut off is not acted on after its time.
func (s *state) passes(until time.Time) {
	s.now = until
	if !s.env.cutUntil.After(until) {
		s.env.cut = false
	}
}

// step does what Next says, with every answer that there can be.
func (w *stateMachine) step(at *state, day string, f Facts) {
	d := Next(at.resource, f)
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
		if a.env.cut && a.env.cutUntil.IsZero() {
			a.env.cutUntil = intent.resource.Record.Deadline
		}
		w.crashes(&intent, a)
		w.handled(at, &intent, f, d, a)
	}
}

func (w *stateMachine) rests(at *state, day string, _ Facts, d *Decision) {
	if d.Step == Release {
		w.checkRelease(at, d.Warning)
		return
	}
	next := *at
	next.from, next.how = at, day+"Rest"
	next.resource = at.resource.stored(&d.Record)
	next.gaveUp = at.gaveUp || at.remains && d.Event != nil && d.Event.Warning
	w.visit(next)
}

// intent is the state once the record before a call is written, by this process.
func (w *stateMachine) intent(at *state, day string, f Facts, d *Decision) state {
	next := *at
	next.from, next.how = at, day+d.Step.String()
	if d.Step != Poll && d.Step != Fetch {
		d.Record.Deadline = f.Now.Add(callTimeout)
		next.restarted = false
	}
	if d.Step == Deprovision || d.Step == MitigateOrphan { // no credentials are found that are to end
		next.env.secret = false
	}
	next.resource = at.resource.stored(&d.Record)
	next.resource.Record.Conditions = slices.Clip(next.resource.Record.Conditions)
	return next
}

func (w *stateMachine) answers(intent *state, f Facts, d *Decision) []answer {
	switch d.Step {
	case Provision:
		return intent.env.answersToProvision(&w.scenario, intent.body)
	case Update:
		return intent.env.answersToUpdate(intent.body)
	case Deprovision, MitigateOrphan:
		return intent.env.answersToDeprovision()
	case Poll:
		return intent.env.answersToPoll(d.Record.Operation)
	case Rest, Fetch, Release:
	}
	return intent.env.answersToFetch(&w.scenario, bodyOf(f))
}

func bodyOf(f Facts) string { return f.Desired.ParameterChecksum[:1] }

// crashes is the state in which the process dies before it writes what came of a call.
// Of the credentials that it may have written, some are there.
func (w *stateMachine) crashes(intent *state, a answer) {
	next := *intent
	next.from, next.how = intent, "crash after "+a.name
	next.env, next.restarted = a.env, true
	w.visit(next)
	next.how = "outcome not written after " + a.name
	next.restarted = false
	w.visit(next)
}

func (w *stateMachine) handled(at, intent *state, f Facts, d Decision, a answer) {
	f.Now = f.Now.Add(a.took)
	o := at.resource.HandleResult(d, a.result, f)
	next := *intent
	next.from, next.how, next.env = intent, a.name, a.env
	w.checkOutcome(at, &d, a, &o, next.path())
	if o.Release {
		next.resource.Deleting = true
		w.checkRelease(&next, "")
		return
	}
	next.resource = at.resource.stored(&o.Record)
	if o.Record.ID != d.Record.ID && d.Record.ID != "" {
		require.False(w.t, a.env.ours || a.env.cut, "a new ID while something is there under the old: %s", next.path())
		next.env, next.ids = env{}, next.ids+1
	}
	next.passes(f.Now)
	w.visit(next)
}

// ends goes on with a broker that answers well, until nothing is left to do, or until
// it comes to where it was before.
func (w *stateMachine) ends(at *state) {
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
	require.Fail(w.t, "no end", "%s; deleting: %t; %+v", at.path(), at.resource.Deleting, s.resource.Record)
}

// atEnd takes one step, and says whether it was the last.
func (w *stateMachine) atEnd(s, start *state) bool {
	f := w.scenario.facts(s)
	d := Next(s.resource, f)
	if d.Step.calls() {
		if !w.goesWell(s, f, &d) {
			return false
		}
		require.True(w.t, s.resource.Deleting, "released, and not deleted: %s", start.path())
		return true
	}
	if d.Step == Release {
		require.True(w.t, s.resource.Deleting, "released, and not deleted: %s", start.path())
		return true
	}
	s.resource = s.resource.stored(&d.Record)
	if d.After == 0 && s.remains && s.resource.Parted() {
		s.remains = false
		return false
	}
	if d.After == 0 {
		w.checkEnd(s, start.path())
		return true
	}
	s.passes(s.now.Add(d.After))
	s.env = s.env.finished(&s.resource.Record)
	return false
}

// goesWell makes a call of a decision, answered well, and says whether the resource is
// released.
func (w *stateMachine) goesWell(s *state, f Facts, d *Decision) bool {
	intent := w.intent(s, "", f, d)
	var a answer
	if d.Step == Provision {
		a = intent.env.bestMade(&w.scenario, intent.body)
	} else {
		a = best(w.answers(&intent, f, d))
	}
	f.Now = f.Now.Add(time.Second)
	o := s.resource.HandleResult(*d, a.result, f)
	s.resource, s.env = s.resource.stored(&o.Record), a.env
	if o.Record.ID != d.Record.ID && d.Record.ID != "" {
		s.env, s.ids = env{}, s.ids+1
	}
	s.passes(f.Now.Add(o.After))
	s.env = s.env.finished(&s.resource.Record)
	return o.Release
}
