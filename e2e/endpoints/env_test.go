package endpoints_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// The broker of these scenarios gives a binding the credentials and endpoints that its
// parameters say.
const (
	wantedCredentials = "credentials"
	wantedEndpoints   = "endpoints"
)

type object = map[string]any

// A testEnv is an environment with a broker and the instance mydb, which is Ready.
type testEnv struct {
	*env.Env

	broker *osbtest.Broker

	mu sync.Mutex
	// instead are the endpoints of all bindings, once they are set.
	instead []object
}

// newEnv makes one whose broker is the cluster's.
func newEnv(t *testing.T, edits ...func(*api.ClusterServiceBroker)) *testEnv {
	t.Helper()
	e := startBroker(t)
	e.Register(e.broker, edits...)
	e.Ready(e.CreateInstance("mydb", env.OfPlan(e.Name("db"), "small")))
	return e
}

// newLocalEnv makes one whose broker is the namespace's.
func newLocalEnv(t *testing.T) *testEnv {
	t.Helper()
	e := startBroker(t)
	e.RegisterLocally(e.broker)
	e.Ready(e.CreateInstance("mydb", env.OfLocalPlan(e.Name("db"), "small")))
	return e
}

func startBroker(t *testing.T) *testEnv {
	t.Helper()
	e := &testEnv{Env: env.New(t)}
	plan := e.Plan("small").With("metadata", env.Object{"defaultSecretTransforms": []env.Object{{"publishKey": env.Object{"key": "region"}}}})
	service := e.Service(plan).With("bindings_retrievable", true).With("tags", []string{"ServiceType=" + e.Name("db")})
	e.broker = e.StartBroker(osbtest.Options{Catalog: e.Catalog(service), Crashes: true, Credentials: func(b osbtest.Binding) map[string]any {
		wanted, _ := b.Parameters[wantedCredentials].(map[string]any)
		if wanted == nil {
			wanted = object{"password": "hunter2"}
		}
		return wanted
	}, Endpoints: e.endpoints})
	t.Cleanup(func() { e.broker.AssertDuties(t) })
	return e
}

// endpoints are those that the broker gives a binding.
func (e *testEnv) endpoints(b osbtest.Binding) []map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.instead != nil {
		return e.instead
	}
	list, _ := b.Parameters[wantedEndpoints].([]any)
	var all []object
	for _, item := range list {
		if one, ok := item.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}

// moves has the broker give other endpoints from now on.
func (e *testEnv) moves(endpoints ...object) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.instead = endpoints
}

func endpoint(host string, ports ...string) object { return object{"host": host, "ports": ports} }

// binding is one to mydb that asks for credentials and endpoints, not yet created.
func (e *testEnv) binding(name string, credentials object, endpoints ...object) *api.ServiceBinding {
	e.Helper()
	b := e.Binding(name, "mydb")
	wanted := object{}
	if credentials != nil {
		wanted[wantedCredentials] = credentials
	}
	if endpoints != nil {
		wanted[wantedEndpoints] = endpoints
	}
	raw, err := json.Marshal(wanted)
	require.NoError(e, err)
	b.Spec.Parameters = env.RawJSON(string(raw))
	return b
}

func (e *testEnv) service(name string) *corev1.Service {
	return &corev1.Service{ObjectMeta: e.Meta(name)}
}

func (e *testEnv) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: e.Meta(name)}
}

// leads are the addresses that a Service leads to.
func (e *testEnv) leads(service string) []string {
	e.Helper()
	var list discoveryv1.EndpointSliceList
	require.NoError(e, e.Client().List(e.Context(), &list, client.InNamespace(e.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service}))
	var all []string
	for _, slice := range list.Items {
		for _, endpoint := range slice.Endpoints {
			all = append(all, endpoint.Addresses...)
		}
	}
	return all
}

// withdrawn waits until the Service of a binding that is gone is gone, too: the controller
// removes it, or the garbage collector, which also removes what was written too late. The
// ConfigMap and the Secret went before the binding.
func (e *testEnv) withdrawn(b *api.ServiceBinding) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		absent, leads := e.Absent(e.service(b.Name)), e.leads(b.Name)
		if absent && len(leads) == 0 {
			return true, nil
		}
		return false, fmt.Errorf("%s: its Service is absent: %t; it leads to %v", b.Name, absent, leads)
	})
	for _, o := range []client.Object{e.configMap(b.Name), e.Secret(b.Name)} {
		assert.True(e, e.Absent(o), "%s: %T", b.Name, o)
	}
}
