package controllers_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// system is the namespace of the installation.
const system = "defaultplan-system"

// A testEnv is an environment in which several controllers run.
type testEnv struct{ *env.Env }

func newEnv(t *testing.T) *testEnv {
	t.Helper()
	return &testEnv{env.New(t)}
}

// newNamespace makes one whose name is unique.
func (e *testEnv) newNamespace(base string) string {
	e.Helper()
	e.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.Name(base)}})
	return e.Name(base)
}

func (e *testEnv) remove(objects ...client.Object) {
	e.Helper()
	for _, object := range objects {
		e.Delete(object)
	}
	e.Gone(objects...)
}

// controller starts a controller of a name with a ServiceAccount of its own, as
// docs/controller-contract.md says. What it tells brokers tells it from others.
func (e *testEnv) controller(name string, flags ...string) *stack.Controller {
	e.Helper()
	kubeconfig, err := e.KubeconfigFor(e.Context(), accountOf(name))
	require.NoError(e, err)
	c, err := e.StartController(e.Context(), stack.ControllerOptions{Name: e.Name("controller" + name), Kubeconfig: kubeconfig, Args: flagsOf(name, flags...)})
	require.NoError(e, err)
	end(e.T, c)
	return c
}

// flagsOf are those of the controller of a name; the one without is called by none.
func flagsOf(name string, more ...string) []string {
	flags := []string{
		"--secret-interval=1s", stack.CallTimeout(3 * time.Second), "--allow-broker-addresses=127.0.0.0/8",
		"--controller-name=" + name, "--cluster-id=" + toldBy(name),
	}
	return append(flags, more...)
}

// toldBy is the cluster's ID as the controller of a name tells it: it is in the context of
// what is sent.
func toldBy(name string) string { return "cluster-of-" + cmp.Or(name, "all") }

func accountOf(name string) string {
	account := "system:serviceaccount:" + system + ":defaultplan-controller"
	if name == "" {
		return account
	}
	return account + "-" + name
}

// account makes a ServiceAccount for the controller of a name, with the shipped rights in
// all of the cluster, or in some namespaces only.
func (e *testEnv) account(name string, namespaces ...string) {
	e.Helper()
	account := "defaultplan-controller-" + name
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "defaultplan-controller"}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: system, Name: account}}
	e.Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}})
	for _, namespace := range namespaces {
		e.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}, RoleRef: role, Subjects: subjects})
	}
	if len(namespaces) == 0 {
		e.Create(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: account}, RoleRef: role, Subjects: subjects})
	}
}

// mayExpose gives an account the shipped rights to the Services of bindings in namespaces.
func (e *testEnv) mayExpose(name string, namespaces ...string) {
	e.Helper()
	account := "defaultplan-controller-" + name
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "defaultplan-controller-endpoints"}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: system, Name: account}}
	for _, namespace := range namespaces {
		e.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account + "-endpoints"}, RoleRef: role, Subjects: subjects})
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
func (e *testEnv) part(name string) *part {
	e.Helper()
	p := &part{name: name, books: e.StartBroker(osbtest.Options{Catalog: e.catalog(name)})}
	p.broker = e.ClusterBroker(p.books.URL, func(b *api.ClusterServiceBroker) {
		b.Name, b.Spec.ControllerName = e.Name("broker"+name), name
	})
	e.Create(p.broker)
	p.instance = e.Instance(e.Name("db"+name), env.OfPlan(e.Name("mysql"+name), "small"))
	p.binding = e.Binding(e.Name("reader"+name), p.instance.Name)
	return p
}

// catalog offers one class of two plans.
func (e *testEnv) catalog(of string) []byte {
	return fmt.Appendf(nil, `{"services":[{"id":%q,"name":%q,"description":"d","bindable":true,"plan_updateable":true,"plans":[
		{"id":%q,"name":"small","description":"d"},{"id":%q,"name":"large","description":"d"}]}]}`,
		e.Name("class"+of), e.Name("mysql"+of), e.Name("small"+of), e.Name("large"+of))
}

// handled says that all of a part is Ready, and by whose hand.
func (e *testEnv) handled(p *part, by string) {
	e.Helper()
	e.Ready(p.broker, p.instance, p.binding)
	assert.Equal(e, []string{by, by, by}, []string{p.broker.Status.ControllerName, p.instance.Status.ControllerName, p.binding.Status.ControllerName})
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
