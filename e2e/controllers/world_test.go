package controllers_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// system is the namespace of the installation.
const system = "defaultplan-system"

// A world is a namespace, and names that no other test has. Its methods fail the test.
type world struct {
	*testing.T
	*stack.Stack

	namespace, suffix string
	client            client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, Stack: shared, suffix: strings.ToLower(rand.Text()[:8]), client: shared.Client()}
	w.namespace = w.newNamespace("home")
	return w
}

func (w *world) newNamespace(base string) string {
	w.Helper()
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name(base)}})
	return w.name(base)
}

// name makes a name unique.
func (w *world) name(base string) string { return base + "-" + w.suffix }

func (w *world) create(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		require.NoError(w, w.client.Create(w.Context(), object), "create %T %s", object, object.GetName())
	}
}

func (w *world) get(object client.Object) {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object))
}

func (w *world) remove(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		require.NoError(w, w.client.Delete(w.Context(), object))
	}
	w.gone(objects...)
}

// gone waits until objects are there no more.
func (w *world) gone(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		w.eventually(func() (bool, error) {
			err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object)
			if err != nil {
				return true, client.IgnoreNotFound(err)
			}
			return false, fmt.Errorf("%T %s is still there: %+v", object, object.GetName(), conditions(object))
		})
	}
}

func (w *world) eventually(is func() (bool, error)) {
	w.Helper()
	require.NoError(w, stack.Eventually(w.Context(), is))
}

// ready waits until objects are Ready.
func (w *world) ready(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		w.has(object, api.ConditionTrue, "")
	}
}

// has waits until Ready is so, as the object's spec is now; an empty reason is any.
func (w *world) has(object client.Object, status api.ConditionStatus, reason string) api.Condition {
	w.Helper()
	var found api.Condition
	w.eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return true, err
		}
		found, _ = api.FindCondition(conditions(object), api.ConditionReady)
		if found.Status == status && (reason == "" || found.Reason == reason) && found.ObservedGeneration == object.GetGeneration() {
			return true, nil
		}
		text, err := json.Marshal(conditions(object))
		return false, fmt.Errorf("%T %s is not Ready=%s (%s): %s %w", object, object.GetName(), status, reason, text, err)
	})
	return found
}

func conditions(object client.Object) []api.Condition {
	switch o := object.(type) {
	case *api.ServiceInstance:
		return o.Status.Conditions
	case *api.ServiceBinding:
		return o.Status.Conditions
	case *api.ClusterServiceBroker:
		return o.Status.Conditions
	case *api.ServiceBroker:
		return o.Status.Conditions
	}
	return nil
}

// controller starts a controller of a name with a ServiceAccount of its own, as
// docs/controller-contract.md says. What it tells brokers tells it from others.
func (w *world) controller(name string, flags ...string) *stack.Controller {
	w.Helper()
	kubeconfig, err := w.KubeconfigFor(w.Context(), accountOf(name))
	require.NoError(w, err)
	c, err := w.StartController(w.Context(), stack.ControllerOptions{Name: w.name("controller" + name), Kubeconfig: kubeconfig, Args: flagsOf(name, flags...)})
	require.NoError(w, err)
	end(w.T, c)
	return c
}

// flagsOf are those of the controller of a name; the one without is called by none.
func flagsOf(name string, more ...string) []string {
	flags := []string{
		"--secret-interval=1s", "--osb-api-request-timeout=3s", "--allow-broker-addresses=127.0.0.0/8",
		"--controller-name=" + name, "--cluster-id=" + toldBy(name),
	}
	return append(flags, more...)
}

// toldBy is the cluster's ID as the controller of a name tells it: it is in the context of
// what is sent.
func toldBy(name string) string { return "cluster-of-" + orElse(name, "all") }

func accountOf(name string) string {
	account := "system:serviceaccount:" + system + ":defaultplan-controller"
	if name == "" {
		return account
	}
	return account + "-" + name
}

// account makes a ServiceAccount for the controller of a name, with the shipped rights in
// all of the cluster, or in some namespaces only.
func (w *world) account(name string, namespaces ...string) {
	w.Helper()
	account := "defaultplan-controller-" + name
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "defaultplan-controller"}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: system, Name: account}}
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}})
	for _, namespace := range namespaces {
		w.create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}, RoleRef: role, Subjects: subjects})
	}
	if len(namespaces) == 0 {
		w.create(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: account}, RoleRef: role, Subjects: subjects})
	}
}

// A part is what one controller is to handle: a broker of the cluster, an instance and a
// binding there.
type part struct {
	name     string
	books    *osbtest.Broker
	broker   *api.ClusterServiceBroker
	instance *api.ServiceInstance
	binding  *api.ServiceBinding
}

// part registers a broker that names a controller. Nothing is made there yet.
func (w *world) part(name string) *part {
	w.Helper()
	p := &part{name: name, books: osbtest.Start(w.T, osbtest.Options{Catalog: w.catalog(name)})}
	p.broker = &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: w.name("broker" + name)}}
	p.broker.Spec.URL, p.broker.Spec.ControllerName = p.books.URL, name
	w.create(p.broker)
	p.instance = &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name("db" + name)}}
	p.instance.Spec.ClusterServiceClassExternalName, p.instance.Spec.ClusterServicePlanExternalName = w.name("mysql"+name), "small"
	p.binding = &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name("reader" + name)}}
	p.binding.Spec.InstanceRef = &api.InstanceReference{Name: p.instance.Name}
	return p
}

// catalog offers one class of two plans.
func (w *world) catalog(of string) []byte {
	return fmt.Appendf(nil, `{"services":[{"id":%q,"name":%q,"description":"d","bindable":true,"plan_updateable":true,"plans":[
		{"id":%q,"name":"small","description":"d"},{"id":%q,"name":"large","description":"d"}]}]}`,
		w.name("class"+of), w.name("mysql"+of), w.name("small"+of), w.name("large"+of))
}

// handled says that all of a part is Ready, and by whose hand.
func (w *world) handled(p *part, by string) {
	w.Helper()
	w.ready(p.broker, p.instance, p.binding)
	assert.Equal(w, []string{by, by, by}, []string{p.broker.Status.ControllerName, p.instance.Status.ControllerName, p.binding.Status.ControllerName})
}

// told are the names of the controllers that the broker was sent something by.
func (p *part) told() []string {
	var told []string
	for _, call := range p.books.Calls(osbtest.Writes()) {
		sent, _ := call.Body["context"].(map[string]any)
		if by, ok := sent["clusterid"].(string); ok {
			told = append(told, by)
		}
	}
	return told
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
