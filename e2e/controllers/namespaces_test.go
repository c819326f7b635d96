package controllers_test

import (
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
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
	p := &tenancy{books: osbtest.Start(w.T, osbtest.Options{Catalog: w.catalog(namespace), Username: "u", Password: "p"})}
	secret := &corev1.Secret{ObjectMeta: meta("auth"), StringData: map[string]string{"username": "u", "password": "p"}}
	p.broker = &api.ServiceBroker{ObjectMeta: meta("broker")}
	p.broker.Spec.URL = p.books.URL
	p.broker.Spec.AuthInfo = &api.ServiceBrokerAuthInfo{Basic: &api.BasicAuthConfig{SecretRef: &api.LocalObjectReference{Name: secret.Name}}}
	p.instance = &api.ServiceInstance{ObjectMeta: meta("db")}
	p.instance.Spec.ServiceClassExternalName, p.instance.Spec.ServicePlanExternalName = w.name("mysql"+namespace), "small"
	p.binding = &api.ServiceBinding{ObjectMeta: meta("reader")}
	p.binding.Spec.InstanceRef = &api.InstanceReference{Name: p.instance.Name}
	w.create(secret, p.broker)
	return p
}

// With rights in two namespaces and nowhere else, a controller does there all that there is
// to do: it reads a broker's catalog with the credentials of its Secret, provisions, binds,
// writes the Secret, tells events, and removes it all. Nothing that it asked for was
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
		w.ready(p.broker)
		w.create(p.instance, p.binding)
		w.ready(p.instance, p.binding)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.binding.Name}}
		w.get(secret)
		assert.Contains(t, secret.Data, "password")
		provisions := p.books.Calls(osbtest.Of(osbtest.Provision))
		require.Len(t, provisions, 1)
		assert.Equal(t, namespace, provisions[0].Body["context"].(map[string]any)["namespace"])
		assert.NotEmpty(t, provisions[0].Body["space_guid"], "the namespace's UID, which a right within it lets be read")
		w.eventually(func() (bool, error) {
			var events corev1.EventList
			err := w.client.List(w.Context(), &events, client.InNamespace(namespace), client.MatchingFields{"involvedObject.name": p.binding.Name})
			return len(events.Items) > 0, err
		})
		w.remove(p.binding, p.instance)
		require.NoError(t, w.client.Delete(t.Context(), p.broker))
		p.books.AssertDuties(t)
	}

	elsewhere := w.beyond(user, a, c)
	w.gone(brokers...)
	w.get(elsewhere.broker)
	assert.Empty(t, conditions(elsewhere.broker), "it is in no namespace of its")
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
	w.ready(p.broker)
	require.NoError(w, whole.Stop(w.Context(), syscall.SIGTERM))
	other := w.tenancy(elsewhere)
	p.instance.Namespace = namespace
	w.create(p.instance)
	found := w.has(p.instance, api.ConditionUnknown, "BeyondNamespaces")
	assert.Contains(w, found.Message, "the controller does not look at ClusterServicePlan")
	assert.Contains(w, found.Message, "--namespaces")
	assert.NotEmpty(w, w.writesOf(user))
	assert.Empty(w, p.books.Calls(osbtest.Writes()))
	return other
}
