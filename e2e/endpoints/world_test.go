package endpoints_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// The broker of these scenarios gives a binding the credentials and endpoints that its
// parameters say.
const (
	wishedCredentials = "credentials"
	wishedEndpoints   = "endpoints"
)

type object = map[string]any

// A world is a namespace with a broker and the instance mydb, which is Ready. Its methods
// fail the test.
type world struct {
	stack.Objects

	namespace, suffix string
	client            client.Client
	broker            *osbtest.Broker

	mu sync.Mutex
	// instead are the endpoints of all bindings, once they are set.
	instead []object
}

// newWorld makes one whose broker is the cluster's.
func newWorld(t *testing.T, edits ...func(*api.ClusterServiceBroker)) *world {
	t.Helper()
	w := prepared(t)
	registered := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: w.name("broker")}}
	registered.Spec.URL = w.broker.URL
	for _, edit := range edits {
		edit(registered)
	}
	w.Create(registered)
	w.Says(registered, api.ConditionReady, api.ConditionTrue, "")
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "mydb"}}
	i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = w.name("db"), "small"
	w.Create(i)
	w.Says(i, api.ConditionReady, api.ConditionTrue, "")
	return w
}

// newNamespacedWorld makes one whose broker is the namespace's.
func newNamespacedWorld(t *testing.T) *world {
	t.Helper()
	w := prepared(t)
	registered := &api.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "broker"}}
	registered.Spec.URL = w.broker.URL
	w.Create(registered)
	w.Says(registered, api.ConditionReady, api.ConditionTrue, "")
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "mydb"}}
	i.Spec.ServiceClassExternalName, i.Spec.ServicePlanExternalName = w.name("db"), "small"
	w.Create(i)
	w.Says(i, api.ConditionReady, api.ConditionTrue, "")
	return w
}

func prepared(t *testing.T) *world {
	t.Helper()
	w := &world{Objects: stack.Objects{T: t, Stack: shared}, suffix: strings.ToLower(rand.Text()[:8]), client: shared.Client()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "endpoints-"}}
	w.Create(namespace)
	w.namespace = namespace.Name
	catalog := fmt.Sprintf(`{"services":[{"id":"%[1]s-id","name":%[1]q,"description":"d","bindable":true,"bindings_retrievable":true,"tags":["ServiceType=%[1]s"],
		"plans":[{"id":"%[1]s-small","name":"small","description":"s","metadata":{"defaultSecretTransforms":[{"publishKey":{"key":"region"}}]}}]}]}`, w.name("db"))
	w.broker = osbtest.Start(t, osbtest.Options{Catalog: []byte(catalog), Crashes: true, Credentials: func(b osbtest.Binding) map[string]any {
		wished, _ := b.Parameters[wishedCredentials].(map[string]any)
		if wished == nil {
			wished = object{"password": "hunter2"}
		}
		return wished
	}, Endpoints: w.endpoints})
	t.Cleanup(func() { w.broker.AssertDuties(t) })
	return w
}

// endpoints are those that the broker gives a binding.
func (w *world) endpoints(b osbtest.Binding) []map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.instead != nil {
		return w.instead
	}
	list, _ := b.Parameters[wishedEndpoints].([]any)
	var all []object
	for _, e := range list {
		if one, ok := e.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}

// moves has the broker give other endpoints from now on.
func (w *world) moves(endpoints ...object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.instead = endpoints
}

func endpoint(host string, ports ...string) object { return object{"host": host, "ports": ports} }

func (w *world) name(base string) string { return base + "-" + w.suffix }

// binding is one to mydb that wishes for credentials and endpoints, not yet created.
func (w *world) binding(name string, credentials object, endpoints ...object) *api.ServiceBinding {
	w.Helper()
	b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	b.Spec.InstanceRef = &api.InstanceReference{Name: "mydb"}
	wishes := object{}
	if credentials != nil {
		wishes[wishedCredentials] = credentials
	}
	if endpoints != nil {
		wishes[wishedEndpoints] = endpoints
	}
	raw, err := json.Marshal(wishes)
	require.NoError(w, err)
	b.Spec.Parameters = &runtime.RawExtension{Raw: raw}
	return b
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) service(name string) *corev1.Service {
	return &corev1.Service{ObjectMeta: w.meta(name)}
}

func (w *world) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: w.meta(name)}
}

func (w *world) secret(name string) *corev1.Secret { return &corev1.Secret{ObjectMeta: w.meta(name)} }

// leads are the addresses that a Service leads to.
func (w *world) leads(service string) []string {
	w.Helper()
	var list discoveryv1.EndpointSliceList
	require.NoError(w, w.client.List(w.Context(), &list, client.InNamespace(w.namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service}))
	var all []string
	for _, slice := range list.Items {
		for _, e := range slice.Endpoints {
			all = append(all, e.Addresses...)
		}
	}
	return all
}

// as is a client with the rights of a user.
func (w *world) as(user string) client.Client {
	w.Helper()
	theirs, err := client.New(w.RESTConfigFor(user), client.Options{Scheme: w.client.Scheme(), Mapper: w.client.RESTMapper()})
	require.NoError(w, err)
	return theirs
}

// grant gives a user rights in the namespace.
func (w *world) grant(user, name string, rules ...rbacv1.PolicyRule) {
	w.Helper()
	w.Create(&rbacv1.Role{ObjectMeta: w.meta(name), Rules: rules}, &rbacv1.RoleBinding{
		ObjectMeta: w.meta(name), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
}
