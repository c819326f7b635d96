package observe_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestEveryDecisionIsTold: an operator finds each decision in the audit log, in
// one log line for each half of admission, and counted in the metrics.
func TestEveryDecisionIsTold(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Namespace: e.Namespace, Name: e.Name("c"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("p"), Suggested: true})
	labels := []string{`phase="mutate"`, `kind="ServiceInstance"`, `operation="CREATE"`}
	allowed := append([]string{`rule="namespace-suggested"`, `outcome="allowed"`}, labels...)
	refused := append([]string{`outcome="NoDefault"`}, labels...)
	counts := func(labels []string) float64 {
		return e.Metric(0, "defaultplan_decisions_total", labels...) + e.Metric(1, "defaultplan_decisions_total", labels...)
	}
	allowedBefore, refusedBefore := counts(allowed), counts(refused)

	e.CreateInstance("mydb", env.OfType(e.Name("db")))
	require.NoError(t, e.Client().Create(t.Context(), e.Instance("tried", env.OfType(e.Name("db"))), client.DryRunAll))
	env.RequireInvalid(t, e.Client().Create(t.Context(), e.Instance("wrong", env.OfType(e.Name("absent")))), "")

	// Other scenarios decide meanwhile, and what is answered may yet have to be counted.
	e.Eventually(func() (bool, error) {
		nowAllowed, nowRefused := counts(allowed)-allowedBefore, counts(refused)-refusedBefore
		if nowAllowed >= 2 && nowRefused >= 1 {
			return true, nil
		}
		return false, fmt.Errorf("counted are %v allowed and %v refused", nowAllowed, nowRefused)
	})
	bothDecide(env.New(t))
	tells(e, "mydb", []env.Decision{
		{Phase: "mutate", Rule: "namespace-suggested", Plan: e.Namespace + "/" + e.Name("p"), Outcome: "allowed"},
		{Phase: "validate", Rule: "none", Plan: e.Namespace + "/" + e.Name("p"), Outcome: "allowed"},
	})
	tells(e, "tried", []env.Decision{
		{Phase: "mutate", DryRun: true, Rule: "namespace-suggested", Plan: e.Namespace + "/" + e.Name("p"), Outcome: "allowed"},
		{Phase: "validate", DryRun: true, Rule: "none", Plan: e.Namespace + "/" + e.Name("p"), Outcome: "allowed"},
	})
	tells(e, "wrong", []env.Decision{{Phase: "mutate", Rule: "undecided", Outcome: "NoDefault"}})

	var annotated []map[string]string
	for _, event := range audited(e) {
		annotated = append(annotated, event.ours("mutate"))
	}
	assert.Equal(t, []map[string]string{
		{"rule": "namespace-suggested", "plan": e.Name("c") + "/" + e.Name("p")},
		{"rule": "namespace-suggested", "plan": e.Name("c") + "/" + e.Name("p")},
		{"undecided": "NoDefault"},
	}, annotated)
}

// bothDecide has instances decided, several at once as the API server keeps connections,
// until the metrics of both processes have counted one.
func bothDecide(e *env.Env) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		group, ctx := errgroup.WithContext(e.Context())
		for range 8 {
			group.Go(func() error {
				return e.Client().Create(ctx, e.Instance("trial", env.OfPlan("absent", "absent")), client.DryRunAll)
			})
		}
		err := group.Wait()
		both := true
		for i := range 2 {
			both = both && e.Metric(i, "defaultplan_decision_duration_seconds_count", `kind="ServiceInstance"`) > 0
		}
		return both || err != nil, err
	})
}

// tells asserts what was logged about the creation of an instance, by whichever
// process; the two halves may be decided by different ones. A line may be written after
// the answer.
func tells(e *env.Env, name string, want []env.Decision) {
	e.Helper()
	var got []env.Decision
	var uids map[string]bool
	e.Eventually(func() (bool, error) {
		got, uids = decisionsAbout(e, name)
		if len(got) >= len(want) {
			return true, nil
		}
		return false, fmt.Errorf("%d lines are logged about %s", len(got), name)
	})
	for i := range want {
		want[i].Message, want[i].Operation, want[i].Kind = "admission", "CREATE", "ServiceInstance"
		want[i].Namespace, want[i].Name, want[i].User, want[i].Client = e.Namespace, name, "admin", "unverified"
	}
	assert.ElementsMatch(e, want, got, name)
	// Each hook is asked in a request of its own.
	assert.Len(e, uids, len(want), name)
}

// decisionsAbout are the log lines of both processes about an object, without their UIDs,
// and those.
func decisionsAbout(e *env.Env, name string) (lines []env.Decision, uids map[string]bool) {
	e.Helper()
	uids = map[string]bool{}
	for i := range 2 {
		for _, line := range e.Decisions(i) {
			if line.Name == name {
				uids[line.UID] = true
				line.UID = ""
				lines = append(lines, line)
			}
		}
	}
	return lines, uids
}
