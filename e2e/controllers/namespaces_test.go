package controllers_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A tenancy is a broker of a namespace, with its Secret, an instance and a binding there.
type tenancy struct {
	books    *osbtest.Broker
	broker   *api.ServiceBroker
	instance *api.ServiceInstance
	binding  *api.ServiceBinding
}

// tenancy registers a broker in a namespace.
func (w *world) tenancy(namespace string) *tenancy {
	w.Helper()
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: w.name(name)}
	}
	address := func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "10.1.2.3", "ports": []string{"3306"}}}
	}
	p := &tenancy{books: osbtest.Start(w.T, osbtest.Options{Catalog: w.catalog(namespace), Username: "u", Password: "p", Endpoints: address})}
	secret := &corev1.Secret{ObjectMeta: meta("auth"), StringData: map[string]string{"username": "u", "password": "p"}}
	p.broker = &api.ServiceBroker{ObjectMeta: meta("broker")}
	p.broker.Spec.URL = p.books.URL
	p.broker.Spec.AuthInfo = &api.ServiceBrokerAuthInfo{Basic: &api.BasicAuthConfig{SecretRef: &api.LocalObjectReference{Name: secret.Name}}}
	p.instance = &api.ServiceInstance{ObjectMeta: meta("db")}
	p.instance.Spec.ServiceClassExternalName, p.instance.Spec.ServicePlanExternalName = w.name("mysql"+namespace), "small"
	p.binding = &api.ServiceBinding{ObjectMeta: meta("reader")}
	p.binding.Spec.InstanceRef = &api.InstanceReference{Name: p.instance.Name}
	w.Create(secret, p.broker)
	return p
}

// With rights in two namespaces and nowhere else, a controller does there all that there is
// to do: it reads a broker's catalog with the credentials of its Secret, provisions, binds,
// makes instances of bindings' own, writes Secrets, ConfigMaps, Services and EndpointSlices,
// reviews users' rights, rotates, tells events, and removes it all. Nothing that it asked for was
// forbidden to it, and what is elsewhere it left alone.
func TestNamespacesOnly(t *testing.T) {
	w := newWorld(t)
	tenants, a, b, c := w.name("tenants"), w.newNamespace("a"), w.newNamespace("b"), w.newNamespace("c")
	w.account(tenants, a, b)
	user := accountOf(tenants)
	restricted := w.restricted(tenants, []string{a, b}, "--ignore-quotas")
	var brokers []client.Object
	for _, namespace := range []string{a, b} {
		p := w.tenancy(namespace)
		brokers = append(brokers, p.broker)
		w.Ready(p.broker)
		w.Create(p.instance, p.binding)
		w.Ready(p.instance, p.binding)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.binding.Name}}
		w.Get(secret)
		assert.Contains(t, secret.Data, "password")
		provisions := p.books.Calls(osbtest.Of(osbtest.Provision))
		require.Len(t, provisions, 1)
		assert.Equal(t, namespace, provisions[0].Body["context"].(map[string]any)["namespace"])
		assert.NotEmpty(t, provisions[0].Body["space_guid"], "the namespace's UID, which a right within it lets be read")
		w.Eventually(func() (bool, error) {
			var events corev1.EventList
			err := w.client.List(w.Context(), &events, client.InNamespace(namespace), client.MatchingFields{"involvedObject.name": p.binding.Name})
			return len(events.Items) > 0, err
		})
		w.exposed(p.binding)
		w.rotates(p.binding)
		w.claims(p)
		w.remove(p.binding, p.instance)
		assert.Empty(t, p.books.Instances())
		require.NoError(t, w.client.Delete(t.Context(), p.broker))
		p.books.AssertDuties(t)
	}

	elsewhere := w.beyond(user, a, c)
	w.Gone(brokers...)
	w.Get(elsewhere.broker)
	assert.Empty(t, stack.ConditionsOf(elsewhere.broker), "it is in no namespace of its")
	assert.Empty(t, elsewhere.books.Calls())
	for _, r := range w.requestsOf(user) {
		if r.ObjectRef.Resource == "provisioningpolicies" {
			continue // of the start that was refused
		}
		assert.NotEqual(t, http.StatusForbidden, r.ResponseStatus.Code, "%+v", r)
		assert.Contains(t, []string{a, b}, r.ObjectRef.Namespace, "%+v", r)
	}
	log, err := os.ReadFile(restricted.Log())
	require.NoError(t, err)
	assert.NotContains(t, string(log), "forbidden")
	assert.Contains(t, string(log), "only these namespaces are looked into")
}

// exposed says that a Service leads to the broker's address: that of a namespace's broker
// takes a review of the user's right.
func (w *world) exposed(b *api.ServiceBinding) {
	w.Helper()
	require.NotEmpty(w, b.Status.Service, "%+v", b.Status.Conditions)
	var slices discoveryv1.EndpointSliceList
	require.NoError(w, w.client.List(w.Context(), &slices, client.InNamespace(b.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: b.Status.Service}))
	require.Len(w, slices.Items, 1)
	assert.Equal(w, []string{"10.1.2.3"}, slices.Items[0].Endpoints[0].Addresses)
}

// rotates has the credentials of a binding replaced, and the former ones removed.
func (w *world) rotates(b *api.ServiceBinding) {
	w.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name}}
	w.Get(secret)
	before := secret.Data
	w.Change(b, func() { b.Spec.Rotation = &api.Rotation{Requests: 1, Overlap: &metav1.Duration{}} })
	w.Eventually(func() (bool, error) {
		w.Get(b)
		if c := b.Status.Credentials; c != nil && c.Requests == 1 && b.Status.Rotation == nil {
			return true, nil
		}
		return false, fmt.Errorf("it is not rotated: %+v", b.Status)
	})
	w.Get(secret)
	assert.NotEqual(w, before["password"], secret.Data["password"])
}

// claims makes a binding with an instance of its own, of which one credential is published,
// and deletes it: then nothing is left.
func (w *world) claims(p *tenancy) {
	w.Helper()
	claim := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: p.binding.Namespace, Name: w.name("claim")}}
	claim.Spec.PlanReference = p.instance.Spec.PlanReference
	claim.Spec.SecretTransforms = []api.SecretTransform{{PublishKey: &api.PublishKeyTransform{Key: "host"}}}
	w.Create(claim)
	w.Ready(claim)
	assert.Len(w, p.books.Instances(), 2)
	published := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: claim.Name}}
	w.Get(published)
	assert.Contains(w, published.Data, "host")
	own := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: claim.Status.InstanceRef.Name}}
	w.Get(own)
	w.remove(claim)
	w.Gone(own, published)
	assert.Len(w, p.books.Instances(), 1)
}

// restricted starts a controller of some namespaces, which without further flags must not
// start: it may not read policies, and their limits would not hold.
func (w *world) restricted(account string, namespaces []string, more ...string) *stack.Controller {
	w.Helper()
	kubeconfig, err := w.KubeconfigFor(w.Context(), accountOf(account))
	require.NoError(w, err)
	flags := append(flagsOf(""), "--namespaces="+strings.Join(namespaces, ","))
	if len(more) > 0 {
		_, err = w.StartController(w.Context(), stack.ControllerOptions{Name: w.name("refused"), Kubeconfig: kubeconfig, Args: flags})
		require.Error(w, err, "limits would not hold")
	}
	flags = append(flags, more...)
	c, err := w.StartController(w.Context(), stack.ControllerOptions{Name: w.name("restricted"), Kubeconfig: kubeconfig, Args: flags})
	require.NoError(w, err)
	end(w.T, c)
	return c
}

// beyond says that what needs a class of the cluster is told so in its condition. It
// returns what is in a namespace that the controller does not look into.
func (w *world) beyond(user, namespace, elsewhere string) *tenancy {
	w.Helper()
	whole := w.controller("")
	p := w.part("")
	w.Ready(p.broker)
	require.NoError(w, whole.Stop(w.Context(), syscall.SIGTERM))
	other := w.tenancy(elsewhere)
	p.instance.Namespace = namespace
	w.Create(p.instance)
	found := w.HasCondition(p.instance, api.ConditionReady, api.ConditionUnknown, "BeyondNamespaces")
	assert.Contains(w, found.Message, "the controller does not look at ClusterServicePlan")
	assert.Contains(w, found.Message, "--namespaces")
	assert.NotEmpty(w, w.writesOf(user))
	assert.Empty(w, p.books.Calls(osbtest.Writes()))
	return other
}
