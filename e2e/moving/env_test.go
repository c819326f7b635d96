package moving_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Secrets that no file, output or event may show.
const (
	canary = "canary-of-"
	// username and password are asked for by the cluster's broker.
	username, password = "catalog", canary + "the-broker"
)

// A house is what is to be moved: a namespace of the same name on both sides, and the brokers
// that have what its objects on the old side say.
type house struct {
	// Env is the new side.
	*env.Env
	old *env.Env
	// cluster is the broker of the cluster, which asks for a password, and inhouse that of the
	// namespace.
	cluster, inhouse *osbtest.Broker

	instances []instance
	bindings  []binding
	// before has the calls by which the old side changed something.
	before []string
	// dir is for files of the test.
	dir string
}

// newHouse has instances and bindings on the old side, and at their brokers.
func newHouse(t *testing.T, instances []instance, bindings []binding) *house {
	t.Helper()
	e := env.New(t)
	return furnished(e, e.Namespace, instances, bindings)
}

// furnished has them in a namespace of another name on the old side.
func furnished(e *env.Env, namespace string, instances []instance, bindings []binding) *house {
	e.Helper()
	h := between(e, e.OnStack(oldSide).InNamespace(namespace), instances, bindings)
	h.furnish()
	h.before = h.written()
	return h
}

// between is a house whose brokers run, and of whose objects none is there yet.
func between(e, old *env.Env, instances []instance, bindings []binding) *house {
	e.Helper()
	h := &house{Env: e, old: old, instances: instances, bindings: bindings, dir: e.TempDir()}
	old.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: old.Namespace}})
	h.cluster = h.StartBroker(osbtest.Options{Catalog: h.catalog("open", "shut"), Username: username, Password: password, Credentials: credentialsOf})
	h.inhouse = h.StartBroker(osbtest.Options{Catalog: h.catalog("local"), Credentials: credentialsOf})
	h.Cleanup(func() {
		h.cluster.AssertDuties(h, "M10") // what is in doubt on the old side stays so
		h.inhouse.AssertDuties(h)
	})
	return h
}

// credentialsOf are those of a binding: none is like another's.
func credentialsOf(b osbtest.Binding) map[string]any {
	return map[string]any{"username": "user-of-" + b.ID, "password": canary + b.ID, "port": 5432.0}
}

// catalog offers classes, of which only that called shut cannot be asked for what it has.
func (h *house) catalog(classes ...string) []byte {
	h.Helper()
	var services []env.Object
	for _, class := range classes {
		var plans []env.Object
		for _, plan := range []string{"small", "large"} {
			plans = append(plans, env.Object{"id": h.Name(class + "-" + plan), "name": plan, "description": plan})
		}
		services = append(services, env.Object{
			"id": h.Name(class), "name": h.Name(class), "description": class, "bindable": true, "plan_updateable": true, "plans": plans,
			"instances_retrievable": class != "shut", "bindings_retrievable": class != "shut",
		})
	}
	return h.Catalog(services...)
}

// written are the calls by which a broker was to make, change or remove something.
func (h *house) written() (calls []string) {
	for _, broker := range []*osbtest.Broker{h.cluster, h.inhouse} {
		for _, call := range broker.Calls(osbtest.Writes()) {
			calls = append(calls, strings.TrimSpace(string(call.Verb)+" "+call.InstanceID+" "+call.BindingID))
		}
	}
	return calls
}

// untouched asserts that no broker was asked to make, change or remove anything since the move
// began.
func (h *house) untouched() {
	h.Helper()
	assert.Equal(h, h.before, h.written(), "the move changes nothing at a broker")
	for _, broker := range []*osbtest.Broker{h.cluster, h.inhouse} {
		for id, history := range broker.Histories() {
			assert.LessOrEqual(h, history.Made, 1, id)
			assert.Zero(h, history.Removed, id)
		}
	}
}

// file is the path of one of the test.
func (h *house) file(name string) string { return filepath.Join(h.dir, name) }

// A side is the environment on one of the two control planes, and a command to be run there.
func (h *house) run(side *env.Env, args ...string) env.Result {
	h.Helper()
	got := side.Exec(env.Command{Binary: "svcat", Args: slices.Concat([]string{"-n", side.Namespace}, args)})
	assert.NotContains(h, got.Stdout+got.Stderr, canary, "svcat %v shows a secret", args)
	return got
}

// runs is run for what must exit with 0; it returns what was printed, standard output first.
func (h *house) runs(side *env.Env, args ...string) string {
	h.Helper()
	got := h.run(side, args...)
	require.Zero(h, got.Code, "svcat %v: %s%s", args, got.Stdout, got.Stderr)
	return got.Stdout + env.WithoutWaiting(got.Stderr)
}
