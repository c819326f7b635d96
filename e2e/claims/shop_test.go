package claims_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A shop is an environment with a broker of its own, which offers one class of databases
// of one plan: its type, too, can be asked for by name.
type shop struct {
	*env.Env

	broker     *osbtest.Broker
	registered *api.ClusterServiceBroker
}

// newShop registers a broker whose credentials can be fetched.
func newShop(t *testing.T, edits ...func(*osbtest.Options)) *shop {
	t.Helper()
	return newShopOn(env.New(t), true, edits...)
}

func newShopOn(e *env.Env, fetchable bool, edits ...func(*osbtest.Options)) *shop {
	e.Helper()
	plan := e.Plan("small").With("metadata", env.Object{
		"defaultProvisionParameters": env.Object{"size": 1}, "defaultBindParameters": env.Object{"role": "reader"},
	})
	service := e.Service(plan).With("bindings_retrievable", fetchable).With("tags", []string{"ServiceType=" + e.Name("db")})
	options := osbtest.Options{Catalog: e.Catalog(service)}
	for _, edit := range edits {
		edit(&options)
	}
	s := &shop{Env: e, broker: e.StartBroker(options)}
	s.registered = s.Register(s.broker)
	return s
}

// claim is a binding that gets an instance of the class for itself, not yet created.
func (s *shop) claim(edits ...func(*api.ServiceBinding)) *api.ServiceBinding {
	b := s.Binding("orders", "")
	b.Spec.ClusterServiceClassExternalName = s.Name("db")
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
	s.Gone(s.Secret(b.Name))
	assert.Empty(s, s.broker.Bindings())
	assert.Empty(s, s.broker.Instances())
	s.nothingMadeTwice()
	s.broker.AssertDuties(s, except...)
}

// nothingMadeTwice says that no ID was made more than once, but those that a clean-up freed.
func (s *shop) nothingMadeTwice() {
	s.Helper()
	for id, history := range s.broker.Histories() {
		assert.LessOrEqual(s, history.Made, history.Freed+1, "ID %s", id)
	}
}

// ends deletes a claim, of which nothing is left.
func (s *shop) ends(b *api.ServiceBinding, except ...string) {
	s.Helper()
	s.Delete(b)
	s.nothingIsLeft(b, except...)
}
