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
func (w *stateMachine) checkEnd(s *state, start string) {
	r := &s.resource.Record
	require.False(w.t, s.resource.Deleting, "a deletion does not end: %s", start)
	require.False(w.t, r.Mitigating, "mitigation does not end: %s", start)
	if r.failedForGood() {
		require.True(w.t, r.holds(v1beta1.ConditionStalled), "failed, and not stalled: %s", start)
		return
	}
	require.True(w.t, r.holds(v1beta1.ConditionReady), "neither ready nor failed: %s: %+v", start, r)
	require.Equal(w.t, s.resource.Generation, r.ObservedGeneration, start)
	require.Equal(w.t, NoOperation, r.Operation, start)
	require.Nil(w.t, r.InProgress, start)
	require.Zero(w.t, r.NextRetry, start)
	require.False(w.t, r.holds(v1beta1.ConditionReconciling), "ready, and reconciling: %s", start)
	require.Equal(w.t, there, s.env.place, "ready, and not there: %s", start)
	switch {
	case w.scenario.kind == Binding:
		require.True(w.t, s.env.secret, "ready without a Secret: %s", start)
	case !w.scenario.trusts():
		require.Equal(w.t, s.body, s.env.body, "ready, and not as asked for: %s", start)
	}
}

// checkRecord is what holds of every record that is stored.
func (w *stateMachine) checkRecord(s *state) {
	t, r := w.t, &s.resource.Record
	count := map[string]int{}
	for _, c := range r.Conditions {
		count[c.Type]++
		require.NotZero(t, c.ObservedGeneration, "%s: %+v", s.path(), c)
		require.NotEmpty(t, c.Reason, s.path())
		require.LessOrEqual(t, c.ObservedGeneration, s.resource.Generation, s.path())
	}
	for typ, n := range count {
		require.Equal(t, 1, n, "%s twice: %s", typ, s.path())
	}
	require.False(t, r.holds(v1beta1.ConditionReconciling) && r.holds(v1beta1.ConditionStalled), "reconciling and stalled: %s", s.path())
	require.False(t, r.holds(v1beta1.ConditionReady) && r.holds(v1beta1.ConditionFailed), "ready and failed: %s", s.path())
	require.False(t, r.holds(v1beta1.ConditionReady) && r.holds(v1beta1.ConditionStalled), "ready and stalled: %s", s.path())
	require.False(t, r.holds(v1beta1.ConditionOrphanMitigation) && !r.Mitigating, "says that it mitigates, and does not: %s", s.path())
	require.False(t, r.Mitigating && !r.holds(v1beta1.ConditionOrphanMitigation) && !s.resource.Deleting, "mitigates, and does not say so: %s", s.path())
	require.False(t, r.Mitigating && !s.resource.own(), "mitigates what is not its own: %s", s.path())
	require.False(t, s.resource.mustDeprovision() && r.Target() == nil, "owes a removal, and does not know where: %s", s.path())
	require.Equal(t, r.Exists, r.Applied != nil, s.path())
	if s.env.ours && w.scenario.minted && !s.gaveUp {
		require.True(t, s.resource.mustDeprovision(), "forgot what is there: %s", s.path())
	}
	if !s.resource.Deleting && r.Operation == NoOperation && !r.Exists && len(r.Conditions) > 0 && !r.FetchRequired {
		require.True(t, r.holds(v1beta1.ConditionReconciling) || r.holds(v1beta1.ConditionStalled) || r.Absent, "says nothing: %s: %+v", s.path(), r)
	}
}

// checkCall is what holds of every call.
func (w *stateMachine) checkCall(at *state, f Facts, d *Decision) {
	t, r := w.t, &d.Record
	require.Empty(t, f.HeldBecause, "a broker that is not to be called is called: %s", at.path())
	require.False(t, f.BrokerGone, "a broker that is gone is called: %s", at.path())
	if at.restarted && at.resource.Record.Operation != NoOperation && !at.resource.Record.Async {
		require.False(t, at.resource.Record.Deadline.After(at.now), "called before the deadline of another process: %s", at.path())
	}
	if w.scenario.adopting {
		require.Contains(t, []Step{Fetch, Update, Poll}, d.Step, "what is to be adopted is made or removed: %s", at.path())
	}
	switch d.Step {
	case Provision, Update:
		require.Equal(t, desired(at.body).ParameterChecksum, r.InProgress.ParameterChecksum, at.path())
		require.False(t, at.resource.Deleting, at.path())
	case MitigateOrphan:
		require.True(t, at.resource.own(), "mitigates what is not its own: %s", at.path())
	case Deprovision:
		require.True(t, at.resource.Deleting, at.path())
		require.True(t, at.resource.own() || at.env.ours || at.env.place == nothing || w.scenario.foreign == "", "removes what is another's: %s", at.path())
	case Fetch:
		require.True(t, w.scenario.fetchable, "fetches what cannot be: %s", at.path())
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
func (w *stateMachine) checkOutcome(at *state, d *Decision, a answer, o *Outcome, path string) {
	if e := asError(a.result.Err); d.Step == Provision && a.result.Err != nil && (e.Kind != osb.Conflict || !d.Record.Exists) {
		// A broker that has said that it made a binding, and refuses its credentials, has one of no use,
		// unless they are in the Secret.
		made := at.resource.Kind == Binding && d.Record.FetchRequired && forGood(e) && !at.env.secret
		require.Equal(w.t, (a.orphan || made) && at.resource.own(), o.Record.Mitigating, "mitigation: %s", path)
	}
	if at.resource.Record.Mitigating && !o.Record.Mitigating && !at.resource.Deleting {
		w.checkID(at, d, a, o, path)
	}
	require.Equal(w.t, v1beta1.LastConditionState(o.Record.Conditions), (&o.Record).InstanceStatus(v1beta1.ServiceInstanceStatus{}).LastConditionState, path)
	require.Equal(w.t, v1beta1.LastConditionState(o.Record.Conditions), printedByRetired(o.Record.Conditions), "the retired svcat prints another status: %s", path)
	if d.Step == Update {
		require.False(w.t, o.Record.Mitigating, "an update is undone: %s", path)
	}
	if o.Event != nil {
		require.NotEmpty(w.t, o.Event.Reason, path)
		require.NotEmpty(w.t, o.Event.Message, path)
	}
	require.GreaterOrEqual(w.t, o.After, time.Duration(0), path)
}

// checkID is when an ID that was used is used again: its broker answered all that was sent
// under it, and the first removal well and at once.
func (w *stateMachine) checkID(at *state, d *Decision, a answer, o *Outcome, path string) {
	if d.Record.ID != o.Record.ID {
		return
	}
	require.Equal(w.t, "200", a.name, "an ID that was used is used again: %s", path)
	require.NotEqual(w.t, Deprovisioning, at.resource.Record.Operation, "an earlier removal may still act: %s", path)
	require.False(w.t, a.env.cut || at.env.cut, "what is on its way meets what is made next: %s", path)
	require.True(w.t, at.resource.Record.Deadline.IsZero(), "a request was cut off: %s", path)
}

// printedByRetired is the status that the retired catalog's svcat prints: that of the last
// condition.
func printedByRetired(conditions []v1beta1.Condition) string {
	if len(conditions) == 0 {
		return ""
	}
	last := conditions[len(conditions)-1]
	if last.Status == v1beta1.ConditionTrue {
		return last.Type
	}
	return last.Reason
}

func (w *stateMachine) checkRelease(s *state, warning string) {
	require.True(w.t, s.resource.Deleting, s.path())
	require.False(w.t, s.remains, "released, and its own instance is there: %s", s.path())
	require.False(w.t, warning == "" && !s.gaveUp && (s.env.ours || s.env.cut), "released, and something of ours is there: %s", s.path())
}

// checkParted is what holds of a claim whose own instance is to go.
func (w *stateMachine) checkParted(s *state) {
	require.True(w.t, s.resource.Deleting, s.path())
	require.False(w.t, !s.gaveUp && (s.env.ours || s.env.cut), "the instance goes, and something is bound to it: %s", s.path())
}

func snapshot(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
