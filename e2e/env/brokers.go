package env

import (
	"encoding/json"
	"maps"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Brokers are brokers that run in the test, their catalogs, and how they are registered.
type Brokers struct {
	*Objects
	*Names
}

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
func (b *Brokers) Service(plans ...Object) Object {
	return Object{
		"id": b.Name("db-id"), "name": b.Name("db"), "description": "databases",
		"bindable": true, "plan_updateable": true, "plans": plans,
	}
}

// Plan is a plan of a service; its ID is PlanID.
func (b *Brokers) Plan(name string) Object {
	return Object{"id": b.PlanID(name), "name": name, "description": "a " + name + " one"}
}

// PlanID is the ID that a broker gives the plan of a name.
func (b *Brokers) PlanID(name string) string { return b.Name(name + "-id") }

// Catalog is that of a broker.
func (b *Brokers) Catalog(services ...Object) []byte {
	b.Helper()
	catalog, err := json.Marshal(Object{"services": services})
	require.NoError(b, err)
	return catalog
}

// StartBroker starts a broker, and logs its calls if the test fails, without what they
// held.
func (b *Brokers) StartBroker(options osbtest.Options) *osbtest.Broker {
	b.Helper()
	broker := osbtest.Start(b.T, options)
	b.Cleanup(func() {
		if !b.Failed() {
			return
		}
		for _, call := range broker.Calls() {
			b.Logf("call %d at %s: %s of %s/%s: acted %t, answered %d, %s (%s)", call.N, call.Began.Format("05.000"), call.Verb,
				call.InstanceID, call.BindingID, call.Acted, call.Status, call.Outcome, call.Fault)
		}
	})
	return broker
}

// Register makes a broker known to the cluster as Name("broker") and waits until its
// catalog was read.
func (b *Brokers) Register(broker *osbtest.Broker, edits ...func(*api.ClusterServiceBroker)) *api.ClusterServiceBroker {
	b.Helper()
	registered := b.ClusterBroker(broker.URL, edits...)
	b.Create(registered)
	b.Ready(registered)
	return registered
}

// ClusterBroker is the cluster's broker Name("broker") at a URL, not yet created.
func (b *Brokers) ClusterBroker(url string, edits ...func(*api.ClusterServiceBroker)) *api.ClusterServiceBroker {
	broker := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: b.Name("broker")}}
	broker.Spec.URL = url
	for _, edit := range edits {
		edit(broker)
	}
	return broker
}

// RegisterLocally makes a broker known to the namespace as "broker" and waits until its
// catalog was read.
func (b *Brokers) RegisterLocally(broker *osbtest.Broker) *api.ServiceBroker {
	b.Helper()
	registered := &api.ServiceBroker{ObjectMeta: b.Meta("broker")}
	registered.Spec.URL = broker.URL
	b.Create(registered)
	b.Ready(registered)
	return registered
}
