package env

import (
	"encoding/json"
	"maps"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An Object is one of JSON, such as a service of a catalog.
type Object map[string]any

// With is the object with another value of a key.
func (o Object) With(key string, value any) Object {
	other := maps.Clone(o)
	other[key] = value
	return other
}

// Service is the service of a catalog that most tests offer: the bindable class
// Name("db"), whose instances can change their plan.
func (e *Env) Service(plans ...Object) Object {
	return Object{
		"id": e.Name("db-id"), "name": e.Name("db"), "description": "databases",
		"bindable": true, "plan_updateable": true, "plans": plans,
	}
}

// Plan is a plan of a service; its ID is PlanID.
func (e *Env) Plan(name string) Object {
	return Object{"id": e.PlanID(name), "name": name, "description": "a " + name + " one"}
}

// PlanID is the ID that a broker gives the plan of a name.
func (e *Env) PlanID(name string) string { return e.Name(name + "-id") }

// Catalog is that of a broker.
func (e *Env) Catalog(services ...Object) []byte {
	e.Helper()
	catalog, err := json.Marshal(Object{"services": services})
	require.NoError(e, err)
	return catalog
}

// StartBroker starts a broker, and logs its calls if the test fails, without what they
// held.
func (e *Env) StartBroker(options osbtest.Options) *osbtest.Broker {
	e.Helper()
	broker := osbtest.Start(e.T, options)
	e.Cleanup(func() {
		if !e.Failed() {
			return
		}
		for _, call := range broker.Calls() {
			e.Logf("call %d at %s: %s of %s/%s: acted %t, answered %d, %s (%s)", call.N, call.Began.Format("05.000"), call.Verb,
				call.InstanceID, call.BindingID, call.Acted, call.Status, call.Outcome, call.Fault)
		}
	})
	return broker
}

// Register makes a broker known to the cluster as Name("broker") and waits until its
// catalog was read.
func (e *Env) Register(broker *osbtest.Broker, edits ...func(*api.ClusterServiceBroker)) *api.ClusterServiceBroker {
	e.Helper()
	registered := e.ClusterBroker(broker.URL, edits...)
	e.Create(registered)
	e.Ready(registered)
	return registered
}

// ClusterBroker is the cluster's broker Name("broker") at a URL, not yet created.
func (e *Env) ClusterBroker(url string, edits ...func(*api.ClusterServiceBroker)) *api.ClusterServiceBroker {
	broker := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: e.Name("broker")}}
	broker.Spec.URL = url
	for _, edit := range edits {
		edit(broker)
	}
	return broker
}

// RegisterLocally makes a broker known to the namespace as "broker" and waits until its
// catalog was read.
func (e *Env) RegisterLocally(broker *osbtest.Broker) *api.ServiceBroker {
	e.Helper()
	registered := &api.ServiceBroker{ObjectMeta: e.Meta("broker")}
	registered.Spec.URL = broker.URL
	e.Create(registered)
	e.Ready(registered)
	return registered
}
