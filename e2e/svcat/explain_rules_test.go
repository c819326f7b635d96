package svcat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// explainEveryRule is a catalog in which each rule of docs/choosing.md has something to
// decide.
func (e *testEnv) explainEveryRule() {
	e.Helper()
	e.explainOffers(
		explainOffer{class: "azure", spec: "serviceType: mysql-SUFFIX, defaultProvisionParameters: {location: eastus, ssl: {enforced: true, ca: none}}", plans: []explainPlan{
			{name: "premium", is: "default", spec: "defaultProvisionParameters: {ssl: {ca: azure}, storage: 50}"},
			{name: "basic", is: "suggested"},
			{name: "tiny", spec: "weight: 7", labels: "size: small"},
			{name: "small", spec: "weight: 3", labels: "size: small"},
		}},
		explainOffer{class: "aws", spec: "serviceType: postgres-SUFFIX", plans: []explainPlan{{name: "dev", is: "suggested"}, {name: "prod"}}},
		explainOffer{class: "gcp", spec: "serviceType: sql-SUFFIX", plans: []explainPlan{{name: "main", is: "default"}}},
		explainOffer{class: "own", own: true, spec: "serviceType: sql-SUFFIX", plans: []explainPlan{{name: "here", is: "default"}, {name: "there"}}},
		explainOffer{class: "hints", own: true, spec: "serviceType: redis-SUFFIX", plans: []explainPlan{{name: "mine", is: "suggested"}}},
		explainOffer{class: "cache", spec: "serviceType: redis-SUFFIX", plans: []explainPlan{{name: "theirs", is: "suggested"}}},
	)
	e.explainRecorded("mysql", "azure-premium", false)
	e.explainRecorded("sql", "gcp-main", false)
	e.explainRecorded("sql", "own-here", true)
}

// TestExplainTellsEveryRule: each rule as a tree, and the webhook decides as the
// tree says.
func TestExplainTellsEveryRule(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainEveryRule()
	for rule, question := range map[string]string{
		"named":               "clusterServiceClassExternalName: azure-SUFFIX, clusterServicePlanExternalName: basic, parameters: {location: westus, ssl: {ca: null}}",
		"only-plan":           "clusterServiceClassExternalName: gcp-SUFFIX",
		"class-default":       "clusterServiceClassExternalName: azure-SUFFIX",
		"class-suggested":     "clusterServiceClassExternalName: aws-SUFFIX",
		"selector":            "serviceType: mysql-SUFFIX, planSelector: {matchLabels: {size: small}}",
		"namespace-default":   "serviceType: sql-SUFFIX",
		"cluster-default":     "serviceType: mysql-SUFFIX, parameters: {storage: 100}",
		"namespace-suggested": "serviceType: redis-SUFFIX",
		"cluster-suggested":   "serviceType: postgres-SUFFIX",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			e := e.explainIn(t)
			manifest := explainObject("ServiceInstance", "mydb", "", question)
			told := e.explained(manifest, "-f", "-")
			require.Len(t, told, 1)
			assert.Equal(t, rule, told[0].Now.Rule)
			assert.Equal(t, "decided", told[0].Now.Verdict)
			e.golden("explain/rule-"+rule, e.explainTree(manifest, "-f", "-"))

			stored, warnings := e.explainDryRun(manifest)
			assert.Equal(t, warnings, told[0].Now.Warnings, "admission is heard, not imitated")
			applied, err := v1beta1.ParseAppliedDefaults(stored.Annotations[v1beta1.AnnotationAppliedDefaults])
			require.NoError(t, err)
			assert.Equal(t, rule, applied.Rule)
			assert.Equal(t, told[0].Now.Plan.Class+"/"+told[0].Now.Plan.Plan, applied.Class+"/"+applied.Plan)
			from := map[string]string{}
			for _, parameter := range told[0].Now.Parameters {
				if parameter.From != "user" {
					from[parameter.Pointer] = parameter.From
				}
			}
			if len(applied.From) > 0 || len(from) > 0 {
				assert.Equal(t, applied.From, from, "where each default comes from")
			}
		})
	}
}

// TestExplainAType: a type by its name, as an operator asks.
func TestExplainAType(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainEveryRule()
	e.golden("explain/type", e.explainTree("", e.Name("mysql")))
	assert.Equal(t, e.explainTree("", e.Name("mysql")), e.explainTree("", "type/"+e.Name("mysql")))
	assert.Equal(t, "namespace-default", e.explained("", e.Name("sql"))[0].Now.Rule)

	said := e.SvcatFails(1, "explain", "mysq-"+e.Suffix)
	assert.Contains(t, said, `no type "mysq-`+e.Suffix+`" in the cluster and namespace "`+e.Namespace+`"; did you mean mysql-`+e.Suffix+"?")
}

// explainIn is the same environment as seen by a subtest.
func (e *testEnv) explainIn(t *testing.T) *testEnv {
	t.Helper()
	return &testEnv{e.In(t)}
}

// explainDryRun is an instance as admission would store it, and its warnings, by
// kubectl.
func (e *testEnv) explainDryRun(manifest string) (*v1beta1.ServiceInstance, []string) {
	e.Helper()
	stdout, stderr, err := e.Stack.Kubectl(e.Context(), e.explainNamed(manifest), "-n", e.Namespace, "create", "-f", "-", "--dry-run=server", "-o", "json")
	require.NoError(e, err, stderr)
	stored := &v1beta1.ServiceInstance{}
	require.NoError(e, json.Unmarshal([]byte(stdout), stored))
	var warnings []string
	for line := range strings.SplitSeq(strings.TrimSpace(stderr), "\n") {
		if warning, ok := strings.CutPrefix(line, "Warning: "); ok {
			warnings = append(warnings, warning)
		}
	}
	return stored, warnings
}
