package svcat_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A shop is a world with the demo's broker azure, registered by svcat. What is
// cluster-scoped has names of its own: azure-mysql is azure-mysql-SUFFIX.
type shop struct {
	*world

	broker *osbtest.Broker
}

// uuid is an ID of the demo's catalog.
var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// newShop registers the broker. At the end of the test its duties must have been
// kept.
func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{world: newWorld(t)}
	s.broker = s.demo()
	s.svcat("register", s.name("azure"), "--url", s.broker.URL, "--scope", "cluster", "--wait")
	return s
}

// demo starts the demo's broker with names and IDs that no other test has.
func (w *world) demo() *osbtest.Broker {
	w.Helper()
	options := osbtest.Demo(osbtest.Azure)
	text := uuid.ReplaceAllStringFunc(string(options.Catalog), w.id)
	for _, name := range []string{`"azure-mysql`, `"azure-redis`, `"azure-storage`, `ServiceType=mysql`, `ServiceType=redis`, `ServiceType=blobs`} {
		text = strings.ReplaceAll(text, name+`"`, name+"-"+w.suffix+`"`)
	}
	options.Catalog = []byte(text)
	paced := map[string]map[osbtest.Verb]int{}
	for plan, pace := range options.Pace {
		paced[w.id(plan)] = pace
	}
	options.Pace = paced
	broker := osbtest.Start(w.T, options)
	w.Cleanup(func() { broker.AssertDuties(w.T) })
	return broker
}

// id is as name, for an ID that is the name of an object too: names escape a z.
func (w *world) id(base string) string {
	return base + "-" + strings.ReplaceAll(w.suffix, "z", "8")
}

// instance is one of the world, read anew.
func (w *world) instance(name string) *api.ServiceInstance {
	w.Helper()
	instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	w.get(instance)
	return instance
}

// binding is as instance.
func (w *world) binding(name string) *api.ServiceBinding {
	w.Helper()
	binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	w.get(binding)
	return binding
}

// database orders a mysql that is there at once, and waits for it.
func (s *shop) database(name string) *api.ServiceInstance {
	s.Helper()
	s.svcat("provision", name, "--type", s.name("mysql"), "--wait")
	return s.instance(name)
}

// decoded is a JSON object.
func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var object map[string]any
	require.NoError(t, json.Unmarshal(text, &object))
	return object
}

// told is as svcat, and returns what was printed to standard output.
func (w *world) told(args ...string) string {
	w.Helper()
	got := w.run("", append([]string{"-n", w.namespace}, args...)...)
	require.Zero(w, got.code, "svcat %v: %s%s", args, got.out, got.err)
	return got.out
}

// lower is a test's name as a name of an object.
func lower(name string) string { return strings.ToLower(name) }
