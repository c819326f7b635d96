package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestEveryDecisionIsTold: an operator finds each decision in the audit log, in
// one log line for each half of admission, and counted in the metrics.
func TestEveryDecisionIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addPlans(class{namespace: w.namespace, name: w.name("c"), serviceType: w.name("db")}, plan{name: w.name("p"), isSuggested: true})
	labels := []string{`phase="mutate"`, `kind="ServiceInstance"`, `operation="CREATE"`}
	allowed := append([]string{`rule="namespace-suggested"`, `outcome="allowed"`}, labels...)
	refused := append([]string{`outcome="NoDefault"`}, labels...)
	counts := func(labels []string) float64 {
		return w.metric(0, "defaultplan_decisions_total", labels...) + w.metric(1, "defaultplan_decisions_total", labels...)
	}
	allowedBefore, refusedBefore := counts(allowed), counts(refused)

	w.createInstance("mydb", ofType(w.name("db")))
	require.NoError(t, w.client.Create(t.Context(), w.instance("tried", ofType(w.name("db"))), client.DryRunAll))
	requireInvalid(t, w.client.Create(t.Context(), w.instance("wrong", ofType(w.name("absent")))), "")

	// Other scenarios decide meanwhile.
	assert.GreaterOrEqual(t, counts(allowed)-allowedBefore, 2.0)
	assert.GreaterOrEqual(t, counts(refused)-refusedBefore, 1.0)
	for i := range 2 {
		assert.Positive(t, w.metric(i, "defaultplan_decision_duration_seconds_count", `kind="ServiceInstance"`))
	}
	w.tells("mydb", []decision{
		{Phase: "mutate", Rule: "namespace-suggested", Plan: w.namespace + "/" + w.name("p"), Outcome: "allowed"},
		{Phase: "validate", Rule: "none", Plan: w.namespace + "/" + w.name("p"), Outcome: "allowed"},
	})
	w.tells("tried", []decision{
		{Phase: "mutate", DryRun: true, Rule: "namespace-suggested", Plan: w.namespace + "/" + w.name("p"), Outcome: "allowed"},
		{Phase: "validate", DryRun: true, Rule: "none", Plan: w.namespace + "/" + w.name("p"), Outcome: "allowed"},
	})
	w.tells("wrong", []decision{{Phase: "mutate", Rule: "undecided", Outcome: "NoDefault"}})

	var annotated []map[string]string
	for _, event := range w.audited() {
		annotated = append(annotated, event.ours("mutate"))
	}
	assert.Equal(t, []map[string]string{
		{"rule": "namespace-suggested", "plan": w.name("c") + "/" + w.name("p")},
		{"rule": "namespace-suggested", "plan": w.name("c") + "/" + w.name("p")},
		{"undecided": "NoDefault"},
	}, annotated)
}

// tells asserts what was logged about the creation of an instance, by whichever
// process; the two halves may be decided by different ones.
func (w *world) tells(name string, want []decision) {
	w.Helper()
	var got []decision
	uids := map[string]bool{}
	for i := range 2 {
		for _, line := range w.decisions(i) {
			if line.Name == name {
				uids[line.UID] = true
				line.UID = ""
				got = append(got, line)
			}
		}
	}
	for i := range want {
		want[i].Message, want[i].Operation, want[i].Kind = "admission", "CREATE", "ServiceInstance"
		want[i].Namespace, want[i].Name, want[i].User = w.namespace, name, "admin"
	}
	assert.ElementsMatch(w, want, got, name)
	// Each hook is asked in a request of its own.
	assert.Len(w, uids, len(want), name)
}
