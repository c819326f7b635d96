package deletion_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// A relic is an object that was stored while no hook looked, with content that
// admission would refuse.
type relic struct{ kind, spec string }

// relics are one of each kind, in an order in which each is deleted while others
// still refer to it.
var relics = []relic{
	{"ClusterServiceBroker", "{url: 'https://broker.example', caBundle: aGVsbG8=, catalogRestrictions: {serviceClass: ['color in']}, authInfo: {basic: {secretRef: {namespace: absent, name: absent}}}}"},
	{"ServiceBroker", "{url: 'https://broker.example', caBundle: aGVsbG8=, catalogRestrictions: {servicePlan: ['a=b,color in']}, authInfo: {bearer: {secretRef: {name: absent}}}}"},
	{"ClusterServiceClass", "{externalID: a, serviceType: relic, defaultProvisionParameters: DEEP, defaultSecretTransforms: [{addKeysFrom: {secretRef: {name: absent}}}]}"},
	{"ServiceClass", "{externalID: a, serviceType: relic, clusterServiceBrokerName: absent, defaultSecretTransforms: [{addKeysFrom: {secretRef: {namespace: elsewhere, name: absent}}}]}"},
	{"ClusterServicePlan", "{externalID: a, clusterServiceClassRef: {name: absent}, defaultBindParameters: DEEP, instanceCreateParameterSchema: {type: 5}}"},
	{"ServicePlan", "{externalID: a, serviceClassRef: {name: absent}, clusterServiceBrokerName: absent, serviceBindingCreateParameterSchema: {pattern: '('}}"},
	{"ClusterServiceType", "{defaultPlanRef: {name: absent}}"},
	{"ServiceType", "{defaultPlanRef: {name: absent}}"},
	{"ServiceInstance", "{clusterServiceClassRef: {name: absent}, clusterServicePlanRef: {name: absent}, parameters: DEEP, parametersFrom: [{secretKeyRef: {name: a, key: b}}, {secretKeyRef: {name: a, key: b}}]}"},
	{"ServiceBinding", "{serviceType: relic, serviceName: a, planSelector: {matchLabels: {'a b': c}}, secretTransforms: [{addKeysFrom: {secretRef: {namespace: absent, name: absent}}}]}"},
	{"ProvisioningPolicy", "{action: Deny, subjects: [{planSelector: {matchLabels: {'a b': c}}}]}"},
	{"BindingPolicy", "{action: Deny, subjects: [{instanceSelector: {matchLabels: {'a b': c}}}]}"},
}

// newRelic is the object, not stored; held says that another controller holds it.
func newRelic(e *env.Env, r relic, name string, held bool) *unstructured.Unstructured {
	e.Helper()
	of := env.Kind{Name: r.kind, Namespaced: !strings.HasPrefix(r.kind, "Cluster") && !strings.HasSuffix(r.kind, "Policy")}
	object := e.Unwritten(of, name, strings.ReplaceAll(r.spec, "DEEP", env.Nested(70)))
	switch {
	case held:
		object.SetName("held-" + name)
		object.SetFinalizers([]string{env.HoldFinalizer})
	case slices.Contains([]string{"ClusterServiceBroker", "ServiceBroker", "ServiceInstance", "ServiceBinding"}, r.kind):
		object.SetFinalizers([]string{api.FinalizerServiceCatalog})
	}
	return object
}

// TestDeletingAlwaysWorks: each kind, whatever is wrong with it, with everything
// denied and everything it refers to gone, without hooks, with hooks at work, and
// with the webhook killed; and a finalizer can be taken off by hand.
//
//nolint:tparallel // its phases come one after the other.
func TestDeletingAlwaysWorks(t *testing.T) {
	t.Parallel()
	// No keeper, which would clear the records and touch the undecided.
	e := env.On(t, suite.New(t, stack.Options{Webhooks: 1, WebhookArgs: []string{"--keeper=off"}, Releaser: true}))
	require.NoError(t, e.UninstallHooks(t.Context()))
	phases := []struct {
		name    string
		prepare func(e *env.Env)
	}{
		{"without-hooks", func(*env.Env) {}},
		{"hooks-at-work", func(e *env.Env) {
			require.NoError(e, e.InstallHooks(e.Context()))
			requireGuarded(e)
		}},
		{"webhook-killed", func(e *env.Env) { require.NoError(e, e.StopWebhook(e.Context(), 0, syscall.SIGKILL)) }},
	}
	for _, phase := range phases {
		for _, r := range relics {
			e.Create(newRelic(e, r, phase.name, false), newRelic(e, r, phase.name, true))
		}
	}
	createEverythingDenied(e)
	for _, phase := range phases {
		t.Run(phase.name, func(t *testing.T) {
			e := e.In(t)
			phase.prepare(e)
			for _, r := range relics {
				deletesRelic(e, r, phase.name)
			}
		})
	}
	deletesNamespace(e)
}

// createEverythingDenied stores policies that deny everything everywhere.
func createEverythingDenied(e *env.Env) {
	e.Helper()
	e.Create(
		e.Unwritten(env.Kind{Name: "ProvisioningPolicy"}, "nothing", "{action: Deny, subjects: [{planSelector: {}}]}"),
		e.Unwritten(env.Kind{Name: "BindingPolicy"}, "nothing", "{action: Deny, subjects: [{instanceSelector: {}}]}"),
	)
}

// requireGuarded asserts that the hooks would refuse such objects now.
func requireGuarded(e *env.Env) {
	e.Helper()
	for _, r := range relics {
		fresh := newRelic(e, r, "fresh", false)
		err := e.Client().Create(e.Context(), fresh, client.DryRunAll)
		if r.kind == "ClusterServicePlan" || r.kind == "ServicePlan" {
			// A schema that cannot be used is the broker's, and only told.
			continue
		}
		require.Error(e, err, "%s: the test is about what is refused", r.kind)
	}
}

func deletesRelic(e *env.Env, r relic, name string) {
	e.Helper()
	plain, held := newRelic(e, r, name, false), newRelic(e, r, name, true)
	require.NoError(e, e.Client().Delete(e.Context(), plain), r.kind)
	untilGone(e, plain)

	require.NoError(e, e.Client().Delete(e.Context(), held), r.kind)
	e.Get(held)
	require.NotNil(e, held.GetDeletionTimestamp(), r.kind)
	require.NoError(e, e.Client().Patch(e.Context(), held, env.MergePatch(`{"metadata":{"annotations":{"a":"b"}}}`)), "%s: what is being deleted may be annotated", r.kind)
	held.SetFinalizers(nil)
	require.NoError(e, e.Client().Update(e.Context(), held), "%s: a finalizer taken off by hand, with the whole object", r.kind)
	untilGone(e, held)
}
