package svcat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// explainRefusals is a catalog in which much is refused.
func (e *testEnv) explainRefusals() {
	e.Helper()
	schema := "instanceCreateParameterSchema: {type: object, required: [region], properties: {region: {type: string}}}"
	e.explainOffers(
		explainOffer{class: "plain", spec: "serviceType: none-SUFFIX", plans: []explainPlan{{name: "one"}, {name: "two"}}},
		explainOffer{class: "hints", spec: "serviceType: both-SUFFIX", plans: []explainPlan{{name: "one", is: "suggested"}, {name: "two", is: "suggested"}, {name: "three"}}},
		explainOffer{class: "dear", spec: "serviceType: dear-SUFFIX", plans: []explainPlan{
			{name: "gold", is: "default", spec: "weight: 9", labels: "tier: paid"}, {name: "silver", spec: "weight: 2", labels: "tier: paid"},
		}},
		explainOffer{class: "strict", spec: "serviceType: strict-SUFFIX", plans: []explainPlan{{name: "only", is: "default", spec: schema}}},
	)
	e.explainRecorded("dear", "dear-gold", false)
	e.explainRecorded("strict", "strict-only", false)
	e.Apply("{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ProvisioningPolicy, metadata: {name: budget-SUFFIX}, spec: {action: Deny, " +
		"message: 'gold is for production; ask finance', namespaces: {names: [" + e.Namespace + "]}, subjects: [{planName: dear-gold-SUFFIX}]}}")
}

// TestExplainTellsEveryRefusal: what is refused, in admission's own words, with the
// tiers that were asked in vain.
func TestExplainTellsEveryRefusal(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainRefusals()
	for name, question := range map[string]string{
		"no-default":      "serviceType: none-SUFFIX",
		"ambiguous":       "serviceType: both-SUFFIX",
		"denied-default":  "serviceType: dear-SUFFIX",
		"schema":          "serviceType: strict-SUFFIX, parameters: {size: 3}",
		"class-not-found": "clusterServiceClassExternalName: nowhere-SUFFIX",
		"nothing-matches": "serviceType: dear-SUFFIX, planSelector: {matchLabels: {tier: free}}",
		"nothing-named":   "parameters: {size: 3}",
		"named-twice":     "clusterServiceClassExternalName: dear-SUFFIX, clusterServiceClassName: dear-SUFFIX",
		"other-type":      "clusterServiceClassExternalName: dear-SUFFIX, clusterServicePlanExternalName: silver, serviceType: none-SUFFIX",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.explainIn(t)
			manifest := explainObject("ServiceInstance", "mydb", "", question)
			told := e.explained(manifest, "-f", "-")
			require.Len(t, told, 1)
			assert.Equal(t, "refused", told[0].Now.Verdict)
			e.golden("explain/refused-"+name, e.explainTree(manifest, "-f", "-"))

			_, denial, err := e.Stack.Kubectl(e.Context(), e.explainNamed(manifest), "-n", e.Namespace, "create", "-f", "-", "--dry-run=server")
			require.Error(t, err)
			for line := range strings.SplitSeq(told[0].Now.Refusal.Message, "\n") {
				assert.Contains(t, denial, line, "admission is heard, not imitated")
			}
		})
	}
	t.Run("type", func(t *testing.T) {
		t.Parallel()
		e := e.explainIn(t)
		e.golden("explain/refused-type", e.explainTree("", e.Name("dear"))+"\n"+e.explainTree("", e.Name("none"))+"\n"+e.explainTree("", e.Name("strict")))
	})
}

// TestExplainPassesOverWhatPoliciesDeny: a selector takes the next plan, and says
// why.
func TestExplainPassesOverWhatPoliciesDeny(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainRefusals()
	e.golden("explain/selector-denied", e.explainTree(explainObject("ServiceInstance", "mydb", "", "planSelector: {matchLabels: {tier: paid}}, serviceType: dear-SUFFIX"), "-f", "-"))
}

// TestExplainTellsWhatItWaitsFor: what is admitted without a plan.
func TestExplainTellsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainRefusals()
	named := explainObject("ServiceInstance", "mydb", "", "clusterServiceClassExternalName: plain-SUFFIX, clusterServicePlanExternalName: three")
	assert.Equal(t, "waits", e.explained(named, "-f", "-")[0].Now.Verdict)
	e.golden("explain/waits-for-plan", e.explainTree(named, "-f", "-"))

	typed := explainObject("ServiceInstance", "mydb", "", "serviceType: none-SUFFIX")
	told := e.explained(typed, "-f", "-", "--unresolved=wait")
	assert.Equal(t, "waits", told[0].Now.Verdict)
	assert.NotEmpty(t, told[0].Now.Waits)
	said := e.SvcatFails(2, "explain", "mysql", "--unresolved=hope")
	assert.Contains(t, said, "--unresolved")
}

// TestExplainDisbelievesARecord: the recorded plan is gone from its broker's
// catalog, and the tree says that annotations decide.
func TestExplainDisbelievesARecord(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainOffers(explainOffer{class: "azure", spec: "serviceType: mysql-SUFFIX", plans: []explainPlan{
		{name: "old", is: "default"}, {name: "new", is: "suggested"},
	}})
	e.explainRecorded("mysql", "azure-old", false)
	stdout, stderr, err := e.Stack.Kubectl(e.Context(), "", "patch", "clusterserviceplan", e.Name("azure-old"), "--subresource=status", "--type=merge",
		"-p", `{"status":{"removedFromBrokerCatalog":true}}`)
	require.NoError(t, err, stdout+stderr)
	told := e.explained("", e.Name("mysql"))
	require.Len(t, told[0].Now.Records, 1)
	assert.False(t, told[0].Now.Records[0].Believed)
	e.golden("explain/record-not-believed", e.explainTree("", e.Name("mysql")))
}
