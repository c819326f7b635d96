package claims_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A shop is a world with a broker of its own, that offers one class of databases of one
// plan: its type, too, can be asked for by name.
type shop struct {
	*world

	broker     *osbtest.Broker
	registered *api.ClusterServiceBroker
}

// catalogOf has one class with names and IDs that no other broker has. Its credentials can
// be fetched, or not.
func catalogOf(suffix string, fetchable bool) []byte {
	return fmt.Appendf(nil, `{"services": [{"id": "db-id-%[1]s", "name": "db-%[1]s", "description": "databases", "bindable": true, "plan_updateable": true,
		"bindings_retrievable": %[2]t, "tags": ["ServiceType=db-%[1]s"], "plans": [{"id": "small-id-%[1]s", "name": "small", "description": "a small one",
		"metadata": {"defaultProvisionParameters": {"size": 1}, "defaultBindParameters": {"role": "reader"}}}]}]}`, suffix, fetchable)
}

// newShop registers a broker. At the end of the test its duties must have been kept.
func newShop(t *testing.T, edits ...func(*osbtest.Options)) *shop {
	t.Helper()
	return newShopOn(t, newWorld(t), true, edits...)
}

func newShopOn(t *testing.T, w *world, fetchable bool, edits ...func(*osbtest.Options)) *shop {
	t.Helper()
	options := osbtest.Options{Catalog: catalogOf(w.suffix, fetchable)}
	for _, edit := range edits {
		edit(&options)
	}
	s := &shop{world: w, broker: osbtest.Start(t, options)}
	t.Cleanup(s.tell)
	s.registered = &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: w.name("broker")}}
	s.registered.Spec.URL = s.broker.URL
	w.Create(s.registered)
	w.Ready(s.registered)
	return s
}

// tell logs the calls of a test that failed, without what they held.
func (s *shop) tell() {
	if !s.Failed() {
		return
	}
	for _, call := range s.broker.Calls() {
		s.Logf("call %d at %s: %s of %s/%s: acted %t, answered %d, %s (%s)", call.N, call.Began.Format("05.000"), call.Verb,
			call.InstanceID, call.BindingID, call.Acted, call.Status, call.Outcome, call.Fault)
	}
}

// claim is a binding that gets an instance of the class for itself, not yet created.
func (s *shop) claim(edits ...func(*api.ServiceBinding)) *api.ServiceBinding {
	b := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "orders"}}
	b.Spec.ClusterServiceClassExternalName = s.name("db")
	for _, edit := range edits {
		edit(b)
	}
	return b
}

// claimed is a claim that is Ready.
func (s *shop) claimed(edits ...func(*api.ServiceBinding)) *api.ServiceBinding {
	s.Helper()
	b := s.claim(edits...)
	s.Create(b)
	s.Ready(b)
	return b
}

// own is the instance that a binding has for itself, as it is named.
func (s *shop) own(b *api.ServiceBinding) *api.ServiceInstance {
	key := b.InstanceKey()
	return &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
}

// only is the one instance and the one binding that the broker has.
func (s *shop) only() (instance osbtest.Instance, binding osbtest.Binding) {
	s.Helper()
	instances, bindings := s.broker.Instances(), s.broker.Bindings()
	require.Len(s, instances, 1)
	require.Len(s, bindings, 1)
	for _, instance = range instances {
	}
	for _, binding = range bindings {
	}
	return instance, binding
}

// nothingIsLeft waits until a claim, its instance and its Secret are gone, and says that
// the broker has nothing of them any more, and was treated as it should be.
func (s *shop) nothingIsLeft(b *api.ServiceBinding, except ...string) {
	s.Helper()
	s.Gone(b)
	assert.True(s, s.Absent(s.own(b)), "the instance goes before its binding")
	s.Gone(s.secret(b.Name))
	assert.Empty(s, s.broker.Bindings())
	assert.Empty(s, s.broker.Instances())
	s.nothingMadeTwice()
	s.broker.AssertDuties(s, except...)
}

// nothingMadeTwice says that no ID was made more than once.
func (s *shop) nothingMadeTwice() {
	s.Helper()
	for id, history := range s.broker.Histories() {
		assert.LessOrEqual(s, history.Made, 1, "ID %s", id)
	}
}

// ends deletes a claim, of which nothing is left.
func (s *shop) ends(b *api.ServiceBinding, except ...string) {
	s.Helper()
	s.Delete(b)
	s.nothingIsLeft(b, except...)
}
