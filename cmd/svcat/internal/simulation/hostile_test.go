package simulation

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// What cannot be simulated says what is wrong, which is allowed, and quotes no secret.
func TestErrors(t *testing.T) {
	t.Parallel()
	catalog := catalogChange
	cases := map[string]struct {
		reason string
		change Change
		words  string
	}{
		"Nothing":       {reason: "A change is one.", words: "a change has 0 of the fields Default, Apply, Delete and Catalog; set one"},
		"Class":         {reason: "The classes are named.", change: Change{Default: &Default{Class: "none", Plan: "a"}}, words: `class "none" is not in the cluster; there are: mysql`},
		"Plan":          {reason: "The plans are named.", change: Change{Default: &Default{Class: "mysql", Plan: "none"}}, words: `plan "none" is not in class mysql; there are: large, small`},
		"Scope":         {reason: "A namespace has its own.", change: Change{Default: &Default{Namespace: "dev", Class: "mysql", Plan: "small"}}, words: `class "mysql" is not in namespace "dev"; there are: none`},
		"DeleteNone":    {reason: "What is not there is not deleted.", change: Change{Delete: &Object{Kind: "ServiceInstance", Namespace: "dev", Name: "x"}}, words: `cannot delete ServiceInstance "x": there is none of that name in namespace "dev"`},
		"DeleteForeign": {reason: "Nor what is of another group.", change: Change{Delete: &Object{Kind: "Secret", Namespace: "dev", Name: "x"}}, words: `it is of no kind of servicecatalog.k8s.io`},
		"ApplyForeign":  {reason: "Nor applied.", change: applied(t, `{apiVersion: v1, kind: Secret, metadata: {name: x, namespace: dev}, stringData: {a: s3cret-value}}`)[0], words: `it is of no kind of servicecatalog.k8s.io`},
		"Broker":        {reason: "A catalog is a broker's.", change: Change{Catalog: &Catalog{Broker: "none", Answer: []byte(`{"services":[]}`)}}, words: `broker "none", which is not in the cluster`},
		"NotJSON":       {reason: "It is JSON.", change: catalog(`s3cret-value`), words: `the catalog of broker "shop" is not JSON; give what the broker answers to GET /v2/catalog`},
		"NoServices":    {reason: "With services.", change: catalog(`{}`), words: `services is not there`},
		"ManyServices":  {reason: "Not too many.", change: catalog(`{"services":[` + strings.TrimSuffix(strings.Repeat("{},", osb.DefaultMaxPlans+1), ",") + `]}`), words: "has more than"},
		"Large":         {reason: "Nor too large.", change: catalog(`{"services":[],"x":"` + strings.Repeat("x", largest) + `"}`), words: "bytes; at most"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := offered(t, options.New(), listing(listed("small"), listed("large")))
			_, err := Run(t.Context(), state, []Change{tc.change})
			require.ErrorContains(t, err, tc.words, tc.reason)
			assert.NotContains(t, err.Error(), secret)
			assert.Less(t, len(err.Error()), 1000)
		})
	}
}

const largest = 32 << 20

// An object of a mebibyte is simulated as any other, and a policy that nothing can satisfy
// and one that contradicts it come to rest.
func TestLargeAndContradictory(t *testing.T) {
	t.Parallel()
	state := offered(t, waiting(), listing(listed("small", suggested), listed("large")))
	huge := documents(t, `{kind: ServiceInstance, metadata: {name: huge, namespace: dev}, spec: {serviceType: mysql, parameters: {size: x}}}`)[0]
	huge.Object["spec"].(map[string]any)["parameters"] = map[string]any{"text": string(bytes.Repeat([]byte(secret+" "), 1<<20/13))}
	changes := append([]Change{{Apply: huge}}, applied(t, `
{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{className: mysql}]}}
---
{kind: ProvisioningPolicy, metadata: {name: q}, spec: {action: Allow, maxInstances: 0, subjects: [{className: mysql}]}}
---
{kind: BindingPolicy, metadata: {name: r}, spec: {action: Deny, subjects: [{className: mysql}]}}
---
{kind: ServiceInstance, metadata: {name: a, namespace: dev}, spec: {serviceType: mysql}}
---
{kind: ServiceBinding, metadata: {name: b, namespace: dev}, spec: {instanceRef: {name: a}}}
---
{kind: ServiceBinding, metadata: {name: c, namespace: dev}, spec: {serviceType: mysql}}
`)...)
	report := simulate(t, state, changes...)
	assert.True(t, report.Changes())
	for _, refusal := range report.Refusals {
		assert.NotContains(t, refusal.Message, secret)
	}
}

// A simulation that is interrupted ends, whatever it simulates.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	state := offered(t, options.New(), listing(listed("small")))
	for _, change := range []Change{
		catalogChange(listing(listed("large"))), {Default: &Default{Class: "mysql", Plan: "small"}}, {Delete: &Object{Kind: "ClusterServicePlan", Name: "small"}},
		applied(t, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{className: mysql}]}}`)[0],
	} {
		_, err := Run(ctx, state, []Change{change})
		require.ErrorIs(t, err, context.Canceled, "%+v", change.object())
	}
	state.JSON = [][]byte{[]byte("{}")}
	_, err := Run(ctx, state, nil)
	require.ErrorIs(t, err, context.Canceled, "reading a state takes time, too")
	assert.NotNil(t, state.JSON[0], "it is not read")
}

// What the state lacks, and what depends on others, is told.
func TestNotKnown(t *testing.T) {
	t.Parallel()
	state := offered(t, options.New(), listing(listed("small", suggested)), instanceA)
	state.Unknown, state.ParametersUnknown = []string{"no right to list Namespaces"}, true
	report := simulate(t, state)
	assert.Equal(t, []string{"no right to list Namespaces"}, report.NotKnown)
	report = simulate(t, state, append(applied(t, `{kind: ClusterServiceBroker, metadata: {name: other}, spec: {url: "https://other.example.com"}}`),
		catalogChange(listing(listed("small", suggested, required))), Change{Delete: &Object{Kind: "ServiceInstance", Namespace: "dev", Name: "a"}})...)
	assert.Equal(t, []string{
		"no right to list Namespaces",
		"whether brokers refuse what they are asked: each is taken to do it",
		"the rights of users: each counts as allowed to do everything",
		"what other webhooks and policies of the cluster refuse",
		"which parameters and secret transforms new instances and bindings get by default, and what becomes of new ones that name a plan, a class or labels: only types are asked",
		`what broker "other" lists: simulate its catalog, too`,
		"whether schemas of plans take parameters: none is asked, because the state comes without them",
	}, report.NotKnown)
	assert.Empty(t, report.Refusals)
}

// What stands still may go on because of a change, or not.
func TestNotReadyIsNotKnown(t *testing.T) {
	t.Parallel()
	const text = "what becomes of instances and bindings that are not Ready for another reason than a slot (1): each stays as it is"
	for name, tc := range map[string]struct {
		reason, is, why string
		told            assert.ComparisonAssertionFunc
	}{
		"Stands": {"It may be updated then.", "False", "PlanNotUpdatable", assert.Contains},
		"Slot":   {"It is simulated.", "Unknown", "WaitingForSlot", assert.NotContains},
		"Ready":  {"It is done.", "True", "Provisioned", assert.NotContains},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := offered(t, options.New(), listing(listed("small", suggested)), instanceA)
			readyIs(t, state, kindInstance, "a", tc.is, tc.why)
			tc.told(t, simulate(t, state, catalogChange(listing(listed("small", suggested), listed("large")))).NotKnown, text, tc.reason)
		})
	}
}

// What was left out, and what has no effect, is told.
func TestNotes(t *testing.T) {
	t.Parallel()
	state := offered(t, options.New(), listing(listed("small")))
	state.JSON = [][]byte{[]byte(`{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ProvisioningPolicy","metadata":{"name":"p","resourceVersion":"1"},` +
		`"spec":{"action":"Deny","subjects":[{"planSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}]}}`)}
	notes := strings.Join(simulate(t, state, catalogChange(strings.Replace(listing(listed("small")), "[", `[{"id":"x","name":"x","description":"d","plans":[]},`, 1))).Notes, "\n")
	assert.Contains(t, notes, `of the catalog of broker "shop": service "x": it has no plans`)
	assert.Contains(t, notes, `a policy has no effect: `)
	state = offered(t, options.New(), listing(listed("a"), listed("b"), listed("c"), listed("d")))
	assert.Contains(t, strings.Join(simulate(t, state, catalogChange(listing(listed("a")))).Notes, "\n"), `the catalog of broker "shop" lacks 3 of the 5 classes and plans that it listed`)
	assert.Empty(t, simulate(t, state, catalogChange(listing(listed("a"), listed("b"), listed("c")))).Notes)
}

// A broker that is deleted takes with it what nothing uses, and stays for what is used.
func TestBrokerDeleted(t *testing.T) {
	t.Parallel()
	change := Change{Delete: &Object{Kind: "ClusterServiceBroker", Name: "shop"}}
	with := func(texts ...string) State {
		state := offered(t, options.New(), listing(listed("small", suggested)), texts...)
		for _, object := range state.Objects {
			if object.GetKind() == "ClusterServiceBroker" {
				object.SetFinalizers([]string{v1beta1.FinalizerServiceCatalog})
			}
		}
		return state
	}
	unused := simulate(t, with(), change)
	assert.NotContains(t, strings.Join(unused.NotKnown, "\n"), "let go", "the broker is gone")
	require.Len(t, unused.Types, 2)
	assert.Contains(t, unused.Types[0].Then.Refusal, "no plan is of that type")
	used := simulate(t, with(instanceA), change)
	assert.Contains(t, strings.Join(used.NotKnown, "\n"), "let go", "it is being deleted")
	require.Len(t, used.Types, 2)
	require.Len(t, used.Instances, 1)
	assert.Equal(t, Effect{Namespace: "dev", Name: "a", What: PlanGone, Now: "mysql/small", Message: "it is removed from its broker's catalog"}, used.Instances[0])
	last := simulate(t, with(instanceA), change, Change{Delete: &Object{Kind: kindInstance, Namespace: "dev", Name: "a"}})
	assert.NotContains(t, strings.Join(last.NotKnown, "\n"), "let go", "it goes with its last instance")
}

// A broker stays for an instance that it was sent, also where the class and plan of it are gone: users
// delete those that they made.
func TestBrokerOfALostPlanDeleted(t *testing.T) {
	t.Parallel()
	const made = `{kind: ServiceClass, metadata: {name: mine, namespace: dev}, spec: {clusterServiceBrokerName: shop, externalName: mine, externalID: db, bindable: true, description: d}}
---
{kind: ServicePlan, metadata: {name: mine, namespace: dev}, spec: {clusterServiceBrokerName: shop, externalName: mine, externalID: small, description: d, serviceClassRef: {name: mine}}}
---
{kind: ServiceInstance, metadata: {name: a, namespace: dev}, spec: {serviceClassExternalName: mine, servicePlanExternalName: mine}}`
	for name, tc := range map[string]struct {
		reason, properties, broker string
		stays                      bool
	}{
		"Provisioned":  {"it is at the broker", "externalProperties", "shop", true},
		"Provisioning": {"it may be", "inProgressProperties", "shop", true},
		"OfAnother":    {"it is at another broker", "externalProperties", "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := offered(t, options.New(), listing(listed("small", suggested)), made)
			state.Objects = slices.DeleteFunc(state.Objects, func(o *unstructured.Unstructured) bool { return o.GetName() == "mine" })
			for _, object := range state.Objects {
				if object.GetKind() == "ClusterServiceBroker" {
					object.SetFinalizers([]string{v1beta1.FinalizerServiceCatalog})
				}
			}
			status(t, state, kindInstance, "a", map[string]any{tc.properties: map[string]any{"clusterServiceBrokerName": tc.broker}})
			report := simulate(t, state, Change{Delete: &Object{Kind: "ClusterServiceBroker", Name: "shop"}})
			require.False(t, report.Refused(), "%v", report.Refusals)
			assert.Equal(t, tc.stays, strings.Contains(strings.Join(report.NotKnown, "\n"), "let go"), tc.reason)
		})
	}
}

// A catalog that shrank is read twice in a cluster: whether it shrinks is not known.
func TestShrunkCatalogIsNotKnown(t *testing.T) {
	t.Parallel()
	state := offered(t, options.New(), listing(listed("small", suggested), listed("large"), listed("huge"), listed("tiny")))
	report := simulate(t, state, catalogChange(listing(listed("small", suggested))))
	const want = `whether broker "shop" lists so little again: its catalog lacks 3 of 5 classes and plans, so the controller reads it twice before it removes any, and what is said here holds if it lacks them both times`
	assert.Contains(t, report.NotKnown, want)
	report = simulate(t, state, catalogChange(listing(listed("small", suggested), listed("large"))))
	assert.NotContains(t, strings.Join(report.NotKnown, "\n"), "lists so little")
}

// Policies that select namespaces by labels are not judged silently where the labels are not known.
func TestLabelsOfNamespacesNotKnown(t *testing.T) {
	t.Parallel()
	state := offered(t, options.New(), listing(listed("small", suggested), listed("large")), instanceA)
	state.Objects = slices.DeleteFunc(state.Objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Namespace" })
	policy := func(kind, name, namespaces string) string {
		return fmt.Sprintf(`{kind: %s, metadata: {name: %s}, spec: {action: Deny, namespaces: %s, subjects: [{className: mysql}]}}`, kind, name, namespaces)
	}
	for name, tc := range map[string]struct{ policy, want string }{
		"ByLabel":   {policy("ProvisioningPolicy", "p", `{selector: {matchLabels: {stage: dev}}}`), `whether ProvisioningPolicy "p" holds in namespaces dev: it selects by labels, and the state does not have those of these namespaces; it is simulated as if they had none`},
		"Bindings":  {policy("BindingPolicy", "q", `{selector: {matchLabels: {stage: dev}}}`), `whether BindingPolicy "q" holds in namespaces dev: it selects by labels, and the state does not have those of these namespaces; it is simulated as if they had none`},
		"Named":     {policy("ProvisioningPolicy", "p", `{names: [dev], selector: {matchLabels: {stage: dev}}}`), ""},
		"ByName":    {policy("ProvisioningPolicy", "p", `{selector: {matchLabels: {kubernetes.io/metadata.name: dev}}}`), ""},
		"AllLabels": {policy("ProvisioningPolicy", "p", `{selector: {}}`), ""},
	} {
		said := strings.Join(simulate(t, state, applied(t, tc.policy)...).NotKnown, "\n")
		if tc.want == "" {
			assert.NotContains(t, said, "selects by labels", name)
			continue
		}
		assert.Contains(t, said, tc.want, name)
	}
}
