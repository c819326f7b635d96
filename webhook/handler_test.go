package webhook

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each decision is one log line and one count, in words that do not vary.
func TestDecisionsAreTold(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, spec  string
		breaks        bool
		rule, outcome string
		plan          string
	}{
		"Decided":   {reason: "A choice tells its rule and plan.", spec: `{"serviceType":"mysql","parameters":{"a":"` + canary + `"}}`, rule: "namespace-default", outcome: "allowed", plan: "dev/db-small"},
		"Refused":   {reason: "A refusal its reason.", spec: `{"serviceType":"told","parameters":{"a":"` + canary + `"}}`, rule: "undecided", outcome: "NoDefault"},
		"Undecided": {reason: "What waits says so.", spec: `{"serviceClassName":"told","servicePlanName":"told"}`, rule: "undecided", outcome: "allowed"},
		"Failed":    {reason: "A failure of ours is neither.", spec: byType, breaks: true, rule: "none", outcome: "failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, "dev|"+db).world()
			if tc.breaks {
				w.live.fail(func(string) error { return errors.New("down") })
			}
			before := counted(t, tc.rule, tc.outcome)
			body, err := json.Marshal(w.review(instanceOf(tc.spec), nil))
			require.NoError(t, err)
			w.post(MutateInstances, body)
			logged := w.log()
			assert.Equal(t, 1, strings.Count(logged, `"msg"="admission"`), logged)
			for _, part := range []string{
				`"phase"="mutate"`, `"operation"="CREATE"`, `"kind"="ServiceInstance"`, `"namespace"="dev"`, `"name"="mydb"`, `"user"="alice"`, `"dryRun"=false`,
				`"rule"="` + tc.rule + `"`, `"outcome"="` + tc.outcome + `"`, `"plan"="` + tc.plan + `"`,
			} {
				assert.Contains(t, logged, part, tc.reason)
			}
			assert.NotContains(t, logged, canary)
			assert.Greater(t, counted(t, tc.rule, tc.outcome), before, tc.reason)
		})
	}
}

func counted(t *testing.T, rule, outcome string) float64 {
	t.Helper()
	var metric dto.Metric
	require.NoError(t, decisions.WithLabelValues("mutate", "ServiceInstance", "CREATE", rule, outcome).Write(&metric))
	return metric.GetCounter().GetValue()
}

// A warning is never longer than what the API server passes on, whatever it is about.
func TestWarningsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ключ", 60)
	w := stocked(t, db, planDefaults("db-small", `{"`+long+`1":1,"`+long+`2":2}`)).world()
	o := w.create(byType)
	o.admitted()
	require.Len(t, o.mutate.Warnings, 2)
	assert.True(t, strings.HasSuffix(o.mutate.Warnings[1], "…"))
	// The world holds each warning against the limit.
	w.options.Unresolved = UnresolvedWait
	w.create(`{"clusterServiceClassExternalName":"` + strings.Repeat("x", 5000) + `","clusterServicePlanName":"p"}`).admitted()
}
