package lifecycle

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// TestWalk goes from a new thing to every state that it can come to, by every reply,
// crash, edit and deletion, with the broker's truth beside it; and from each of them,
// with a broker that answers well from then on, to an end.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, s := range scenes() {
		t.Run(s.name(), func(t *testing.T) {
			t.Parallel()
			w := walk{t: t, scene: s, seen: map[string]bool{}}
			w.visit(s.start())
			for len(w.queue) > 0 {
				at := w.queue[0]
				w.queue = w.queue[1:]
				w.expand(at)
			}
			t.Logf("%d states, %d calls", len(w.seen), w.calls)
			require.Greater(t, len(w.seen), 100, "the walk does not reach what it should")
		})
	}
}

type walk struct {
	t     *testing.T
	scene scene
	seen  map[string]bool
	queue []*state
	calls int
}

func (w *walk) visit(s state) {
	if s.thing.Record.Retries > 7 {
		return
	}
	key := s.key()
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	w.checkRecord(&s)
	w.queue = append(w.queue, &s)
	w.ends(s, false)
	s.thing.Deleting = true
	w.ends(s, true)
}

func (w *walk) expand(at *state) {
	w.events(at)
	good := w.scene.facts(at)
	w.step(at, "", good)
	others := w.scene.otherFacts(at)
	for _, name := range slices.Sorted(maps.Keys(others)) {
		w.step(at, name, others[name])
	}
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
	before := snapshot(w.t, &at.thing)
	d := Next(at.thing, f)
	require.Equal(w.t, before, snapshot(w.t, &at.thing), "Next wrote to its input: %s", at.path())
	if !d.Step.calls() {
		w.rests(at, day, f, &d)
		return
	}
	w.calls++
	w.checkCall(at, f, &d)
	intent := w.intent(at, day, f, &d)
	for _, a := range w.answers(&intent, f, &d) {
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
	before := snapshot(w.t, &at.thing)
	decided := snapshot(w.t, &d.Record)
	o := at.thing.Replied(d, a.reply, f)
	require.Equal(w.t, before, snapshot(w.t, &at.thing), "Replied wrote to its thing: %s > %s", intent.path(), a.name)
	require.Equal(w.t, decided, snapshot(w.t, &d.Record), "Replied wrote to its decision: %s > %s", intent.path(), a.name)
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

// ends goes on with a broker that answers well, until nothing is left to do.
func (w *walk) ends(s state, deleting bool) {
	const patience = 80
	start := s.path()
	for range patience {
		f := w.scene.facts(&s)
		d := Next(s.thing, f)
		if d.Step == Release {
			require.True(w.t, deleting, "released, and not deleted: %s", start)
			return
		}
		if !d.Step.calls() {
			s.thing = s.thing.stored(&d.Record)
			if d.After == 0 {
				w.checkEnd(&s, start)
				return
			}
			s.passes(s.now.Add(d.After))
			continue
		}
		if w.goesWell(&s, f, &d) {
			require.True(w.t, deleting, "released, and not deleted: %s", start)
			return
		}
	}
	require.Fail(w.t, "no end", "%s; deleting: %t; %+v", start, deleting, s.thing.Record)
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
	return o.Release
}

func (w *walk) checkEnd(s *state, start string) {
	r := &s.thing.Record
	require.False(w.t, s.thing.Deleting, "a deletion does not end: %s", start)
	require.False(w.t, r.Mitigating, "mitigation does not end: %s", start)
	if r.failedForGood() {
		require.True(w.t, r.holds(v1beta1.ConditionStalled), "failed, and not stalled: %s", start)
		return
	}
	require.True(w.t, r.holds(v1beta1.ConditionReady), "neither ready nor failed: %s: %+v", start, r)
	require.Equal(w.t, s.thing.Generation, r.ObservedGeneration, start)
	require.Equal(w.t, NoOperation, r.Operation, start)
	require.Nil(w.t, r.InProgress, start)
	require.Zero(w.t, r.NextRetry, start)
	require.False(w.t, r.holds(v1beta1.ConditionReconciling), "ready, and reconciling: %s", start)
	require.Equal(w.t, there, s.world.place, "ready, and not there: %s", start)
	if w.scene.kind == Instance {
		require.Equal(w.t, s.body, s.world.body, "ready, and not as asked for: %s", start)
	} else {
		require.True(w.t, s.world.secret, "ready without a Secret: %s", start)
	}
}

// checkRecord is what holds of every record that is stored.
func (w *walk) checkRecord(s *state) {
	t, r := w.t, &s.thing.Record
	count := map[string]int{}
	for _, c := range r.Conditions {
		count[c.Type]++
		require.NotZero(t, c.ObservedGeneration, "%s: %+v", s.path(), c)
		require.NotEmpty(t, c.Reason, s.path())
		require.LessOrEqual(t, c.ObservedGeneration, s.thing.Generation, s.path())
	}
	for typ, n := range count {
		require.Equal(t, 1, n, "%s twice: %s", typ, s.path())
	}
	require.False(t, r.holds(v1beta1.ConditionReconciling) && r.holds(v1beta1.ConditionStalled), "reconciling and stalled: %s", s.path())
	require.False(t, r.holds(v1beta1.ConditionReady) && r.holds(v1beta1.ConditionFailed), "ready and failed: %s", s.path())
	require.False(t, r.holds(v1beta1.ConditionReady) && r.holds(v1beta1.ConditionStalled), "ready and stalled: %s", s.path())
	require.False(t, r.holds(v1beta1.ConditionOrphanMitigation) && !r.Mitigating, "says that it mitigates, and does not: %s", s.path())
	require.False(t, r.Mitigating && !s.thing.own(), "mitigates what is not its own: %s", s.path())
	require.False(t, s.thing.owes() && r.Target() == nil, "owes a removal, and does not know where: %s", s.path())
	require.Equal(t, r.Exists, r.Accepted != nil, s.path())
	if s.world.ours && w.scene.minted {
		require.True(t, s.thing.owes(), "forgot what is there: %s", s.path())
	}
	if !s.thing.Deleting && r.Operation == NoOperation && !r.Exists && len(r.Conditions) > 0 && !r.FetchRequired {
		require.True(t, r.holds(v1beta1.ConditionReconciling) || r.holds(v1beta1.ConditionStalled) || r.Absent, "says nothing: %s: %+v", s.path(), r)
	}
}

// checkCall is what holds of every call.
func (w *walk) checkCall(at *state, f Facts, d *Decision) {
	t, r := w.t, &d.Record
	require.False(t, f.HeldUntil.After(f.Now), "a broker that is spared is called: %s", at.path())
	require.False(t, f.BrokerGone, "a broker that is gone is called: %s", at.path())
	if at.restarted && at.thing.Record.Operation != NoOperation && !at.thing.Record.Async {
		require.False(t, at.thing.Record.Deadline.After(at.now), "called before the deadline of somebody else: %s", at.path())
	}
	switch d.Step {
	case Make, Change:
		require.Equal(t, ask(at.body).ParameterChecksum, r.InProgress.ParameterChecksum, at.path())
		require.False(t, at.thing.Deleting, at.path())
	case Mitigate:
		require.True(t, at.thing.own(), "mitigates what is not its own: %s", at.path())
	case Remove:
		require.True(t, at.thing.Deleting, at.path())
		require.True(t, at.thing.own() || at.world.ours || at.world.place == nothing || w.scene.foreign == "", "removes what is another's: %s", at.path())
	case Fetch:
		require.True(t, w.scene.fetchable, "fetches what cannot be: %s", at.path())
	case Poll:
		require.True(t, r.Async, at.path())
	}
	if d.Step != Fetch {
		require.NotEmpty(t, r.ID, at.path())
		require.NotNil(t, r.Target(), at.path())
	}
}

// checkOutcome is where mitigation is asked for, and what events say.
func (w *walk) checkOutcome(at *state, d *Decision, a answer, o *Outcome, path string) {
	if e := asError(a.reply.Err); d.Step == Make && a.reply.Err != nil && !(e.Kind == osb.Conflict && d.Record.Exists) {
		require.Equal(w.t, a.orphan && at.thing.own(), o.Record.Mitigating, "mitigation: %s", path)
	}
	if d.Step == Change {
		require.False(w.t, o.Record.Mitigating, "an update is undone: %s", path)
	}
	if o.Event != nil {
		require.NotEmpty(w.t, o.Event.Reason, path)
		require.NotEmpty(w.t, o.Event.Message, path)
	}
	require.GreaterOrEqual(w.t, o.After, time.Duration(0), path)
}

func (w *walk) checkRelease(s *state, warning string) {
	require.True(w.t, s.thing.Deleting, s.path())
	require.False(w.t, warning == "" && (s.world.ours || s.world.cut), "released, and something of ours is there: %s", s.path())
}

func snapshot(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
