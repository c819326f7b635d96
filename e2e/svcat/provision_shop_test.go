package svcat_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A shop is an env with the demo's broker azure, registered by svcat. What is
// cluster-scoped has names of its own: azure-mysql is azure-mysql-SUFFIX.
type shop struct {
	*testEnv

	broker *osbtest.Broker
}

// uuid is an ID of the demo's catalog.
var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// newShop registers the broker. At the end of the test its duties must have been
// kept.
func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{testEnv: newEnv(t)}
	s.broker = s.demo()
	s.Svcat("register", s.Name("azure"), "--url", s.broker.URL, "--scope", "cluster", "--wait")
	return s
}

// demo starts the demo's broker with names and IDs that no other test has.
func (e *testEnv) demo() *osbtest.Broker {
	e.Helper()
	options := osbtest.Demo(osbtest.Azure)
	text := uuid.ReplaceAllStringFunc(string(options.Catalog), e.id)
	for _, name := range []string{`"azure-mysql`, `"azure-redis`, `"azure-storage`, `ServiceType=mysql`, `ServiceType=redis`, `ServiceType=blobs`} {
		text = strings.ReplaceAll(text, name+`"`, name+"-"+e.Suffix+`"`)
	}
	options.Catalog = []byte(text)
	paced := map[string]map[osbtest.Verb]int{}
	for plan, pace := range options.Pace {
		paced[e.id(plan)] = pace
	}
	options.Pace = paced
	broker := osbtest.Start(e.T, options)
	e.Cleanup(func() { broker.AssertDuties(e.T) })
	return broker
}

// id is as name, for an ID that is the name of an object too: names escape a z.
func (e *testEnv) id(base string) string {
	return base + "-" + strings.ReplaceAll(e.Suffix, "z", "8")
}

// instance is one of the namespace, as it is stored.
func (e *testEnv) instance(name string) *api.ServiceInstance {
	e.Helper()
	instance := e.Instance(name)
	e.Get(instance)
	return instance
}

// binding is as instance.
func (e *testEnv) binding(name string) *api.ServiceBinding {
	e.Helper()
	binding := e.Binding(name, "")
	e.Get(binding)
	return binding
}

// database orders a mysql that is there at once, and waits for it.
func (s *shop) database(name string) *api.ServiceInstance {
	s.Helper()
	s.Svcat("provision", name, "--type", s.Name("mysql"), "--wait")
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
func (e *testEnv) told(args ...string) string {
	e.Helper()
	got := e.run("", append([]string{"-n", e.Namespace}, args...)...)
	require.Zero(e, got.code, "svcat %v: %s%s", args, got.out, got.err)
	return got.out
}

// lower is a test's name as a name of an object.
func lower(name string) string { return strings.ToLower(name) }
