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
	"github.com/defaultplan/defaultplan/e2e/env"
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
func (e *testEnv) tenancy(namespace string) *tenancy {
	e.Helper()
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: e.Name(name)}
	}
	address := func(osbtest.Binding) []map[string]any {
		return []map[string]any{{"host": "10.1.2.3", "ports": []string{"3306"}}}
	}
	p := &tenancy{books: e.StartBroker(osbtest.Options{Catalog: e.catalog(namespace), Username: "u", Password: "p", Endpoints: address})}
	secret := &corev1.Secret{ObjectMeta: meta("auth"), StringData: map[string]string{"username": "u", "password": "p"}}
	p.broker = &api.ServiceBroker{ObjectMeta: meta("broker")}
	p.broker.Spec.URL = p.books.URL
	p.broker.Spec.AuthInfo = &api.ServiceBrokerAuthInfo{Basic: &api.BasicAuthConfig{SecretRef: &api.LocalObjectReference{Name: secret.Name}}}
	p.instance = &api.ServiceInstance{ObjectMeta: meta("db")}
	p.instance.Spec.ServiceClassExternalName, p.instance.Spec.ServicePlanExternalName = e.Name("mysql"+namespace), "small"
	p.binding = &api.ServiceBinding{ObjectMeta: meta("reader")}
	p.binding.Spec.InstanceRef = &api.InstanceReference{Name: p.instance.Name}
	e.Create(secret, p.broker)
	return p
}

// With rights in two namespaces and nowhere else, a controller does there all that there is
// to do: it reads a broker's catalog with the credentials of its Secret, provisions, binds,
// makes instances of bindings' own, writes Secrets, ConfigMaps, Services and EndpointSlices,
// reviews users' rights, rotates, tells events, and removes it all. Nothing that it asked for was
// forbidden to it, and what is elsewhere it left alone.
func TestNamespacesOnly(t *testing.T) {
	e := newEnv(t)
	tenants, a, b, c := e.Name("tenants"), e.newNamespace("a"), e.newNamespace("b"), e.newNamespace("c")
	e.account(tenants, a, b)
	e.mayExpose(tenants, a, b)
	user := accountOf(tenants)
	restricted := e.restricted(tenants, []string{a, b}, "--ignore-quotas", "--endpoints")
	var brokers []client.Object
	for _, namespace := range []string{a, b} {
		p := e.tenancy(namespace)
		brokers = append(brokers, p.broker)
		e.Ready(p.broker)
		e.Create(p.instance, p.binding)
		e.Ready(p.instance, p.binding)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.binding.Name}}
		e.Get(secret)
		assert.Contains(t, secret.Data, "password")
		provisions := p.books.Calls(osbtest.Of(osbtest.Provision))
		require.Len(t, provisions, 1)
		assert.Equal(t, namespace, provisions[0].Body["context"].(map[string]any)["namespace"])
		assert.NotEmpty(t, provisions[0].Body["space_guid"], "the namespace's UID, which a right within it lets be read")
		e.Eventually(func() (bool, error) {
			var events corev1.EventList
			err := e.Client().List(e.Context(), &events, client.InNamespace(namespace), client.MatchingFields{"involvedObject.name": p.binding.Name})
			return len(events.Items) > 0, err
		})
		e.exposed(p.binding)
		e.rotates(p.binding)
		e.claims(p)
		e.remove(p.binding, p.instance)
		assert.Empty(t, p.books.Instances())
		e.Delete(p.broker)
		p.books.AssertDuties(t)
	}

	elsewhere := e.beyond(user, a, c)
	e.Gone(brokers...)
	e.Get(elsewhere.broker)
	assert.Empty(t, env.ConditionsOf(elsewhere.broker), "it is in no namespace of its")
	assert.Empty(t, elsewhere.books.Calls())
	for _, r := range e.requestsOf(user) {
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
func (e *testEnv) exposed(b *api.ServiceBinding) {
	e.Helper()
	e.HasCondition(b, api.ConditionEndpoints, api.ConditionTrue, "")
	var slices discoveryv1.EndpointSliceList
	require.NoError(e, e.Client().List(e.Context(), &slices, client.InNamespace(b.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: b.Status.Service}))
	require.Len(e, slices.Items, 1)
	assert.Equal(e, []string{"10.1.2.3"}, slices.Items[0].Endpoints[0].Addresses)
}

// rotates has the credentials of a binding replaced, and the former ones removed.
func (e *testEnv) rotates(b *api.ServiceBinding) {
	e.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name}}
	e.Get(secret)
	before := secret.Data
	e.Change(b, func() { b.Spec.Rotation = &api.Rotation{Requests: 1, Overlap: &metav1.Duration{}} })
	e.Eventually(func() (bool, error) {
		e.Get(b)
		if c := b.Status.Credentials; c != nil && c.Requests == 1 && b.Status.Rotation == nil {
			return true, nil
		}
		return false, fmt.Errorf("it is not rotated: %+v", b.Status)
	})
	e.Get(secret)
	assert.NotEqual(e, before["password"], secret.Data["password"])
}

// claims makes a binding with an instance of its own, of which one credential is published,
// and deletes it: then nothing is left.
func (e *testEnv) claims(p *tenancy) {
	e.Helper()
	claim := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: p.binding.Namespace, Name: e.Name("claim")}}
	claim.Spec.PlanReference = p.instance.Spec.PlanReference
	claim.Spec.SecretTransforms = []api.SecretTransform{{PublishKey: &api.PublishKeyTransform{Key: "host"}}}
	e.Create(claim)
	e.Ready(claim)
	assert.Len(e, p.books.Instances(), 2)
	published := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: claim.Name}}
	e.Get(published)
	assert.Contains(e, published.Data, "host")
	own := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: claim.Status.InstanceRef.Name}}
	e.Get(own)
	e.remove(claim)
	e.Gone(own, published)
	assert.Len(e, p.books.Instances(), 1)
}

// restricted starts a controller of some namespaces, which without further flags must not
// start: it may not read policies, and their limits would not hold.
func (e *testEnv) restricted(account string, namespaces []string, more ...string) *stack.Controller {
	e.Helper()
	kubeconfig, err := e.KubeconfigFor(e.Context(), accountOf(account))
	require.NoError(e, err)
	flags := append(flagsOf(""), "--namespaces="+strings.Join(namespaces, ","))
	if len(more) > 0 {
		_, err = e.StartController(e.Context(), stack.ControllerOptions{Name: e.Name("refused"), Kubeconfig: kubeconfig, Args: flags})
		require.Error(e, err, "limits would not hold")
	}
	flags = append(flags, more...)
	c, err := e.StartController(e.Context(), stack.ControllerOptions{Name: e.Name("restricted"), Kubeconfig: kubeconfig, Args: flags})
	require.NoError(e, err)
	end(e.T, c)
	return c
}

// beyond says that what needs a class of the cluster is told so in its condition. It
// returns what is in a namespace that the controller does not look into.
func (e *testEnv) beyond(user, namespace, elsewhere string) *tenancy {
	e.Helper()
	whole := e.controller("")
	p := e.part("")
	e.Ready(p.broker)
	require.NoError(e, whole.Stop(e.Context(), syscall.SIGTERM))
	other := e.tenancy(elsewhere)
	p.instance.Namespace = namespace
	e.Create(p.instance)
	found := e.HasCondition(p.instance, api.ConditionReady, api.ConditionUnknown, "BeyondNamespaces")
	assert.Contains(e, found.Message, "the controller does not look at ClusterServicePlan")
	assert.Contains(e, found.Message, "--namespaces")
	assert.NotEmpty(e, e.writesOf(user))
	assert.Empty(e, p.books.Calls(osbtest.Writes()))
	return other
}
