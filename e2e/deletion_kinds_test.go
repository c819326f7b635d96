package e2e_test

import (
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
func (w *world) relic(r relic, held bool) *unstructured.Unstructured {
	w.Helper()
	of := ruledKind{kind: r.kind, namespaced: !strings.HasPrefix(r.kind, "Cluster") && !strings.HasSuffix(r.kind, "Policy")}
	object := w.unwritten(of, "relic", strings.ReplaceAll(r.spec, "DEEP", nested(70)))
	switch {
	case held:
		object.SetName("held-relic")
		object.SetFinalizers([]string{holdFinalizer})
	case r.kind == "ClusterServiceBroker" || r.kind == "ServiceBroker" || r.kind == "ServiceInstance" || r.kind == "ServiceBinding":
		object.SetFinalizers([]string{api.FinalizerServiceCatalog})
	}
	return object
}

// TestDeletingAlwaysWorks: each kind, whatever is wrong with it, with everything
// denied and everything it refers to gone, with the hooks at work and with the
// webhook killed; and a finalizer can be taken off by hand.
func TestDeletingAlwaysWorks(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *world){
		"HooksAtWork": func(w *world) {
			require.NoError(w, w.InstallHooks(w.Context()))
			w.createEverythingDenied()
			w.requireGuarded()
		},
		"WebhookKilled": func(w *world) {
			require.NoError(w, w.InstallHooks(w.Context()))
			w.createEverythingDenied()
			require.NoError(w, w.StopWebhook(w.Context(), 0, syscall.SIGKILL))
		},
		"WithoutTheKeeper": func(w *world) { w.createEverythingDenied() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, startStack(t, func(o *stack.Options) { o.WebhookArgs = []string{"--keeper=off"} }))
			require.NoError(t, w.UninstallHooks(t.Context()))
			for _, r := range relics {
				w.create(w.relic(r, false), w.relic(r, true))
			}
			prepare(w)
			for _, r := range relics {
				w.deletesRelic(r)
			}
			w.deletesNamespace()
		})
	}
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
		fresh := w.relic(r, false)
		fresh.SetName("fresh")
		err := w.client.Create(w.Context(), fresh, client.DryRunAll)
		if r.kind == "ClusterServicePlan" || r.kind == "ServicePlan" {
			// A schema that cannot be used is the broker's, and only told.
			continue
		}
		require.Error(w, err, "%s: the test is about what is refused", r.kind)
	}
}

func (w *world) deletesRelic(r relic) {
	w.Helper()
	plain, held := w.relic(r, false), w.relic(r, true)
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
