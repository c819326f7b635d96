package e2e_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
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

// relic is the object, not stored; held says that another controller holds it.
func (w *world) relic(r relic, name string, held bool) *unstructured.Unstructured {
	w.Helper()
	of := ruledKind{kind: r.kind, namespaced: !strings.HasPrefix(r.kind, "Cluster") && !strings.HasSuffix(r.kind, "Policy")}
	object := w.unwritten(of, name, strings.ReplaceAll(r.spec, "DEEP", nested(70)))
	switch {
	case held:
		object.SetName("held-" + name)
		object.SetFinalizers([]string{holdFinalizer})
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
	w := newWorldOn(t, startStack(t, func(o *stack.Options) { o.WebhookArgs = []string{"--keeper=off"} }))
	require.NoError(t, w.UninstallHooks(t.Context()))
	phases := []struct {
		name    string
		prepare func(w *world)
	}{
		{"without-hooks", func(*world) {}},
		{"hooks-at-work", func(w *world) {
			require.NoError(w, w.InstallHooks(w.Context()))
			w.requireGuarded()
		}},
		{"webhook-killed", func(w *world) { require.NoError(w, w.StopWebhook(w.Context(), 0, syscall.SIGKILL)) }},
	}
	for _, phase := range phases {
		for _, r := range relics {
			w.create(w.relic(r, phase.name, false), w.relic(r, phase.name, true))
		}
	}
	w.createEverythingDenied()
	for _, phase := range phases {
		t.Run(phase.name, func(t *testing.T) {
			w := w.in(t)
			phase.prepare(w)
			for _, r := range relics {
				w.deletesRelic(r, phase.name)
			}
		})
	}
	w.deletesNamespace()
}

// createEverythingDenied stores policies that deny everything everywhere.
func (w *world) createEverythingDenied() {
	w.Helper()
	w.create(
		w.unwritten(ruledKind{kind: "ProvisioningPolicy"}, "nothing", "{action: Deny, subjects: [{planSelector: {}}]}"),
		w.unwritten(ruledKind{kind: "BindingPolicy"}, "nothing", "{action: Deny, subjects: [{instanceSelector: {}}]}"),
	)
}

// requireGuarded asserts that the hooks would refuse such objects now.
func (w *world) requireGuarded() {
	w.Helper()
	for _, r := range relics {
		fresh := w.relic(r, "fresh", false)
		err := w.client.Create(w.Context(), fresh, client.DryRunAll)
		if r.kind == "ClusterServicePlan" || r.kind == "ServicePlan" {
			// A schema that cannot be used is the broker's, and only told.
			continue
		}
		require.Error(w, err, "%s: the test is about what is refused", r.kind)
	}
}

func (w *world) deletesRelic(r relic, name string) {
	w.Helper()
	plain, held := w.relic(r, name, false), w.relic(r, name, true)
	require.NoError(w, w.client.Delete(w.Context(), plain), r.kind)
	w.gone(plain)

	require.NoError(w, w.client.Delete(w.Context(), held), r.kind)
	w.get(held)
	require.NotNil(w, held.GetDeletionTimestamp(), r.kind)
	require.NoError(w, w.client.Patch(w.Context(), held, rawMerge(`{"metadata":{"annotations":{"a":"b"}}}`)), "%s: what is being deleted may be annotated", r.kind)
	held.SetFinalizers(nil)
	require.NoError(w, w.client.Update(w.Context(), held), "%s: a finalizer taken off by hand, with the whole object", r.kind)
	w.gone(held)
}
