package lifecycle

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// checkEnd is what holds where nothing is left to do.
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
	switch {
	case w.scene.kind == Binding:
		require.True(w.t, s.world.secret, "ready without a Secret: %s", start)
	case !w.scene.trusts():
		require.Equal(w.t, s.body, s.world.body, "ready, and not as asked for: %s", start)
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
	require.False(t, r.Mitigating && !r.holds(v1beta1.ConditionOrphanMitigation) && !s.thing.Deleting, "mitigates, and does not say so: %s", s.path())
	require.False(t, r.Mitigating && !s.thing.own(), "mitigates what is not its own: %s", s.path())
	require.False(t, s.thing.owes() && r.Target() == nil, "owes a removal, and does not know where: %s", s.path())
	require.Equal(t, r.Exists, r.Accepted != nil, s.path())
	if s.world.ours && w.scene.minted && !s.gaveUp {
		require.True(t, s.thing.owes(), "forgot what is there: %s", s.path())
	}
	if !s.thing.Deleting && r.Operation == NoOperation && !r.Exists && len(r.Conditions) > 0 && !r.FetchRequired {
		require.True(t, r.holds(v1beta1.ConditionReconciling) || r.holds(v1beta1.ConditionStalled) || r.Absent, "says nothing: %s: %+v", s.path(), r)
	}
}

// checkCall is what holds of every call.
func (w *walk) checkCall(at *state, f Facts, d *Decision) {
	t, r := w.t, &d.Record
	require.Empty(t, f.HeldBecause, "a broker that is not to be called is called: %s", at.path())
	require.False(t, f.BrokerGone, "a broker that is gone is called: %s", at.path())
	if at.restarted && at.thing.Record.Operation != NoOperation && !at.thing.Record.Async {
		require.False(t, at.thing.Record.Deadline.After(at.now), "called before the deadline of somebody else: %s", at.path())
	}
	if w.scene.adopting {
		require.Contains(t, []Step{Fetch, Change, Poll}, d.Step, "what is to be adopted is made or removed: %s", at.path())
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
	case Rest, Release:
	}
	if d.Step != Fetch {
		require.NotEmpty(t, r.ID, at.path())
		require.NotNil(t, r.Target(), at.path())
	}
}

// checkOutcome is where mitigation is asked for, and what events say.
func (w *walk) checkOutcome(at *state, d *Decision, a answer, o *Outcome, path string) {
	if e := asError(a.reply.Err); d.Step == Make && a.reply.Err != nil && (e.Kind != osb.Conflict || !d.Record.Exists) {
		// A broker that has said that it made a binding, and refuses its credentials, has one of no use.
		made := at.thing.Kind == Binding && d.Record.FetchRequired && forGood(e)
		require.Equal(w.t, (a.orphan || made) && at.thing.own(), o.Record.Mitigating, "mitigation: %s", path)
	}
	if at.thing.Record.Mitigating && !o.Record.Mitigating && !at.thing.Deleting {
		require.NotEqual(w.t, d.Record.ID, o.Record.ID, "an ID that was used is used again: %s", path)
	}
	require.Equal(w.t, v1beta1.LastConditionState(o.Record.Conditions), (&o.Record).InstanceStatus(v1beta1.ServiceInstanceStatus{}).LastConditionState, path)
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
	require.False(w.t, s.remains, "released, and its own instance is there: %s", s.path())
	require.False(w.t, warning == "" && !s.gaveUp && (s.world.ours || s.world.cut), "released, and something of ours is there: %s", s.path())
}

// checkParted is what holds of a claim whose own instance is to go.
func (w *walk) checkParted(s *state) {
	require.True(w.t, s.thing.Deleting, s.path())
	require.False(w.t, !s.gaveUp && (s.world.ours || s.world.cut), "the instance goes, and something is bound to it: %s", s.path())
}

func snapshot(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
