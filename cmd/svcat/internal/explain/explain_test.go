package explain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// newAsker explains what is in a cluster of these objects, one a line, without
// their apiVersion.
func newAsker(t *testing.T, objects string, flags ...string) *Asker {
	t.Helper()
	cluster, err := offline.New(options.New())
	require.NoError(t, err)
	for line := range strings.SplitSeq(strings.TrimSpace(objects), "\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(line), &object.Object))
		object.SetAPIVersion(v1beta1.GroupVersion.String())
		require.NoError(t, cluster.Load(object))
	}
	options, set := options.New(), pflag.NewFlagSet("explain", pflag.ContinueOnError)
	offline.BindFlags(set, options)
	require.NoError(t, set.Parse(flags))
	asker, err := NewAsker(cluster.Reader(), options)
	require.NoError(t, err)
	return asker
}

// shop has a class k, and a plan with what stands in meta and spec.
func shop(name, meta, spec string) string {
	return fmt.Sprintf("{kind: ClusterServicePlan, metadata: {name: %s, uid: %s%s}, spec: {externalName: %s, externalID: %s, clusterServiceBrokerName: b, clusterServiceClassRef: {name: k}, description: d%s}}\n",
		name, name, meta, name, name, spec)
}

const (
	shopClass = "{kind: ClusterServiceClass, metadata: {name: k, uid: k}, spec: {externalName: k, externalID: k, clusterServiceBrokerName: b, description: d, bindable: true, serviceType: needy, defaultProvisionParameters: {zone: a}}}\n"
	byDefault = `, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}`
	suggested = `, annotations: {servicecatalog.kubernetes.io/is-suggested-plan: "true"}`
	needsSize = ", instanceCreateParameterSchema: {type: object, required: [size]}"
)

// TestAdmissionHasTheLastWord: of a bare type, too.
func TestAdmissionHasTheLastWord(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, plans string
		flags         []string
		verdict, line string
		warning       string
	}{
		"Refused": {
			reason: "the plan's schema wants what a type alone does not say", plans: shop("p", byDefault, needsSize), verdict: Refused,
			line:    "needy in namespace dev → k/p (default of the cluster, by annotation), and an instance that says no more than the type is refused: spec.parameters/size: is required",
			warning: "needy resolved to plan k/p (default)",
		},
		"NotChecked": {
			reason: "the webhook only warns", plans: shop("p", byDefault, needsSize), flags: []string{"--schema-check=off"}, verdict: Decided,
			line: "needy in namespace dev → k/p (default of the cluster, by annotation)", warning: "defaults set zone",
		},
		"NoSuggestions": {
			reason: "a gate that is closed hides suggestions", plans: shop("p", suggested, ""), flags: []string{"--feature-gates=SuggestedPlans=false"}, verdict: Refused,
			line: "needy in namespace dev → refused",
		},
		"NoTypes": {
			reason: "without types a type asks for nothing", plans: shop("p", byDefault, ""), flags: []string{"--feature-gates=ServiceTypes=false"}, verdict: Refused,
			line: "needy in namespace dev → refused",
		},
		"NoParameters": {
			reason: "no default is merged", plans: shop("p", byDefault, needsSize), flags: []string{"--feature-gates=ParameterDefaults=false"}, verdict: Refused,
			line: "is refused: spec.parameters/size: is required",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told, err := newAsker(t, shopClass+tc.plans, tc.flags...).Type(t.Context(), "dev", "needy")
			require.NoError(t, err)
			assert.Equal(t, tc.verdict, told.Now.Verdict, tc.reason)
			assert.Contains(t, told.headline(), tc.line)
			if tc.warning != "" {
				assert.Contains(t, told.Now.Warnings, tc.warning)
			}
			if name == "NoParameters" {
				assert.Empty(t, told.Now.Parameters)
			}
		})
	}
}

// TestARefusalCountsAll: plans that admission only counts come without their schemas,
// and are counted.
func TestARefusalCountsAll(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, meta string
		says         string
		tree         string
	}{
		"NoDefault": {"all are listed", "", "(30 in all)", "30 other candidates claim none of these"},
		"Ambiguous": {"the contenders are", suggested, "30 plans are suggested", "and 20 more: -o json has all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plans := shopClass
			for i := range 30 {
				plans += shop(fmt.Sprintf("p%02d", i), tc.meta, needsSize)
			}
			x := newAsker(t, plans)
			told, err := x.Type(t.Context(), "dev", "needy")
			require.NoError(t, err)
			require.NotNil(t, told.Now.Refusal)
			assert.Contains(t, told.Now.Refusal.Message, tc.says, tc.reason)
			assert.Contains(t, told.Now.Refusal.Message, "- and 20 more")
			assert.Equal(t, 30, len(told.Now.Others)+len(told.Now.Tiers[3].Claims), "JSON has all")
			var tree strings.Builder
			require.NoError(t, drawTrees(&tree, []node{told.tree()}, false))
			assert.Contains(t, tree.String(), tc.tree)
			assert.Less(t, strings.Count(tree.String(), "\n"), 40)

			asked := &v1beta1.ServiceInstance{}
			asked.Namespace, asked.Spec.ServiceType = "dev", "needy"
			chosen, err := x.chooser.choose(t.Context(), asked)
			require.NoError(t, err)
			for _, object := range chosen.matter() {
				if plan, ok := object.(*v1beta1.ClusterServicePlan); ok {
					assert.Nil(t, plan.Spec.InstanceCreateParameterSchema)
				}
			}
			for _, plan := range chosen.slice.plans {
				assert.NotNil(t, plan.Spec.InstanceCreateParameterSchema, "the slice keeps them")
			}
		})
	}
}

// TestPoliciesAboutCosts: what the plan costs is told, and where a policy is about that, a copy costs what its original does.
func TestPoliciesAboutCosts(t *testing.T) {
	t.Parallel()
	const dear = `, externalMetadata: {costs: [{amount: {usd: 250}, unit: MONTHLY}]}`
	const cheap = `, externalMetadata: {costs: [{amount: {usd: 9.50}, unit: MONTHLY}]}`
	const over100 = "{kind: ProvisioningPolicy, metadata: {name: frugal}, spec: {action: Deny, message: ask Ann, subjects: [{costs: {currency: usd, unit: MONTHLY, above: \"100\"}}]}}\n"
	copied := "{kind: ServiceClass, metadata: {name: k, namespace: dev, uid: lk}, spec: {externalName: own, externalID: k, clusterServiceBrokerName: b, description: d, bindable: true}}\n" +
		"{kind: ServicePlan, metadata: {name: mine, namespace: dev, uid: mine" + byDefault + "}, spec: {externalName: mine, externalID: p, serviceType: needy, clusterServiceBrokerName: b, serviceClassRef: {name: k}, description: d, free: true, externalMetadata: {costs: [{amount: {usd: 1}, unit: MONTHLY}]}}}\n"
	for name, tc := range map[string]struct {
		reason, objects string
		verdict, price  string
		says            string
	}{
		"NoPolicy": {reason: "costs are no reason", objects: shop("p", byDefault, dear), verdict: Decided, price: "250 usd / MONTHLY", says: "price: 250 usd / MONTHLY"},
		"Cheap":    {reason: "it may be had", objects: shop("p", byDefault, cheap) + over100, verdict: Decided, price: "9.5 usd / MONTHLY", says: "price: 9.5 usd / MONTHLY"},
		"Dear": {
			reason: "it may not", objects: shop("p", byDefault, dear) + over100, verdict: Refused, price: "250 usd / MONTHLY",
			says: "ProvisioningPolicy frugal denies it in namespace dev (it costs 250 usd / MONTHLY, and the limit is 100): ask Ann",
		},
		"CopyOfDear": {
			reason: "whatever it claims", objects: shop("p", "", dear) + copied + over100, verdict: Refused, price: "250 usd / MONTHLY",
			says: "ProvisioningPolicy frugal denies it in namespace dev (it costs 250 usd / MONTHLY, and the limit is 100): ask Ann",
		},
		"CopyOfCheap": {reason: "as its original", objects: shop("p", "", cheap) + copied + over100, verdict: Decided, price: "9.5 usd / MONTHLY"},
		"NoOriginal": {
			reason: "nothing is known", objects: copied + over100, verdict: Refused,
			says: "(what it costs in usd / MONTHLY is unknown, and the limit is 100)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told, err := newAsker(t, shopClass+tc.objects).Type(t.Context(), "dev", "needy")
			require.NoError(t, err)
			assert.Equal(t, tc.verdict, told.Now.Verdict, "admission agrees: %s", tc.reason)
			assert.Equal(t, tc.price, told.Now.Price, tc.reason)
			var tree strings.Builder
			require.NoError(t, drawTrees(&tree, []node{told.tree()}, false))
			assert.Contains(t, tree.String(), tc.says, tc.reason)
			if tc.verdict == Refused {
				assert.Contains(t, told.Now.Refusal.Message, "and the limit is 100): ask Ann", "by admission, too")
			}
		})
	}
}

// TestTheChosenIsShown: among more plans than a tree shows.
func TestTheChosenIsShown(t *testing.T) {
	t.Parallel()
	tier := Tier{Rule: "selector", State: "decides"}
	for i := range 30 {
		tier.Claims = append(tier.Claims, Candidate{Title: fmt.Sprintf("k/p%02d", i), Fate: "outranked"})
	}
	tier.Claims[29].Fate = "chosen"
	drawn := tier.node(1, "dev")
	require.Len(t, drawn.kids, shown+1)
	assert.Equal(t, "k/p29: chosen", drawn.kids[0].text)
	assert.Equal(t, "k/p00: outranked", drawn.kids[1].text)
	assert.Equal(t, "and 20 more: -o json has all", drawn.kids[shown].text)
}

// TestOneMalformedObject: admission's words for it, and the others all the same.
func TestOneMalformedObject(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "all.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: wrong}, spec: {serviceType: 5, parameters: {password: hunter2}}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, metadata: {name: wrong}, spec: {instanceRef: right}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: right}, spec: {serviceType: needy}}
`), 0o600))
	var report Report
	c := command{files: []string{file}}
	unread, err := c.written(t.Context(), newAsker(t, shopClass+shop("p", byDefault, "")), "dev", &report)
	require.NoError(t, err)
	require.EqualError(t, unread, "cannot read 2 of 3 objects: a field is not of its type")
	require.Len(t, report.Explanations, 3)
	wrong, right, binding := report.Explanations[0], report.Explanations[1], report.Explanations[2]
	assert.Equal(t, "instance dev/wrong (asks for nothing) → refused", wrong.headline())
	assert.Contains(t, wrong.Now.Refusal.Message, `spec.serviceType: Invalid value: "integer"`)
	assert.NotContains(t, wrong.Now.Refusal.Message, "hunter2")
	assert.Equal(t, Decided, right.Now.Verdict)
	assert.Equal(t, "binding dev/wrong (asks for nothing) → refused", binding.headline())
	assert.Contains(t, binding.Now.Refusal.Message, `spec.instanceRef: Invalid value: "string"`)
}

// TestOptionsReadAsSentences: as the other flags' do.
func TestOptionsReadAsSentences(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("explain", pflag.ContinueOnError)
	offline.BindFlags(flags, options.New())
	usages := flags.FlagUsages()
	assert.Contains(t, usages, "--feature-gates GATES")
	assert.Contains(t, usages, "there are BindDefaults, ParameterDefaults, SchemaChecks, ServiceTypes, SuggestedPlans")
	assert.NotContains(t, usages, "AllAlpha")
	flags.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			assert.Regexp(t, "^[A-Z]", flag.Usage, flag.Name)
		}
	})
}
