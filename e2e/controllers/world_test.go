package controllers_test

import (
	"crypto/rand"
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
	stack.Objects

	namespace, suffix string
	client            client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Objects: stack.Objects{T: t, Stack: shared}, suffix: strings.ToLower(rand.Text()[:8]), client: shared.Client()}
	w.namespace = w.newNamespace("home")
	return w
}

func (w *world) newNamespace(base string) string {
	w.Helper()
	w.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name(base)}})
	return w.name(base)
}

// name makes a name unique.
func (w *world) name(base string) string { return base + "-" + w.suffix }

func (w *world) remove(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		require.NoError(w, w.client.Delete(w.Context(), object))
	}
	w.Gone(objects...)
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
	w.Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}})
	for _, namespace := range namespaces {
		w.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}, RoleRef: role, Subjects: subjects})
	}
	if len(namespaces) == 0 {
		w.Create(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: account}, RoleRef: role, Subjects: subjects})
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
	w.Create(p.broker)
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
	w.Ready(p.broker, p.instance, p.binding)
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
