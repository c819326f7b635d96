package watches

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// A Set adds the watches that instances and bindings share to their controllers.
type Set struct {
	// Reader reads from the cache.
	Reader client.Reader
	Scope  scope.Scope
}

// Offerings adds the classes and plans of both scopes: objects that are
// not Ready may wait for a change of them.
func (s *Set) Offerings(b *builder.Builder, waiting handler.EventHandler) *builder.Builder {
	kinds := []client.Object{&v1beta1.ServiceClass{}, &v1beta1.ServicePlan{}}
	if !s.Scope.Restricted() {
		kinds = append(kinds, &v1beta1.ClusterServiceClass{}, &v1beta1.ClusterServicePlan{})
	}
	for _, kind := range kinds {
		b = b.Watches(kind, waiting, builder.WithPredicates(changesOffering()))
	}
	return b
}

// Policies adds the policies that grant slots, and those that deny.
func (s *Set) Policies(b *builder.Builder, kind quota.Kind) *builder.Builder {
	if s.Scope.IgnoreQuotas {
		return b
	}
	reader, changed := s.Reader, builder.WithPredicates(predicate.GenerationChangedPredicate{})
	b = b.Watches(&v1beta1.ProvisioningPolicy{}, bySlots(reader, kind)).
		Watches(&v1beta1.ProvisioningPolicy{}, byRules(reader, kind), changed)
	if kind == quota.Bindings {
		b = b.Watches(&v1beta1.BindingPolicy{}, byRules(reader, kind), changed)
	}
	return b
}

// Namespaces adds what may change whether an instance is shared with the bindings of
// a namespace: its labels. A controller of some namespaces may watch none, and reads
// them again in time.
func (s *Set) Namespaces(bindings *builder.Builder) *builder.Builder {
	if s.Scope.Restricted() {
		return bindings
	}
	return bindings.Watches(&corev1.Namespace{}, byNamespace(s.Reader), builder.WithPredicates(predicate.LabelChangedPredicate{}))
}
