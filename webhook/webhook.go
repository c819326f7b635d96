package webhook

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/binding"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/instance"
	"github.com/defaultplan/defaultplan/webhook/offering"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// The paths that the webhook configurations name.
const (
	// MutateInstances is the mutating phase for ServiceInstances.
	MutateInstances = "/mutate/serviceinstances"
	// ValidateInstances is the validating phase for ServiceInstances.
	ValidateInstances = "/validate/serviceinstances"
	// MutateBindings is the mutating phase for ServiceBindings.
	MutateBindings = "/mutate/servicebindings"
	// ValidateBindings is the validating phase for ServiceBindings.
	ValidateBindings = "/validate/servicebindings"
)

// Readers are admission's views of the cluster.
type Readers struct {
	// Cached is the cache. Its fields are indexed by Index, its objects slimmed
	// by catalog.Slim, and it must have synced before the first request.
	Cached client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Current says whether the cache was kept up to date lately, as Current of package
	// watchfreshness does; without it, choices by type are made by the API server's answers.
	Current func() bool
	// Policies follows the policies: see policies.RuleSet.Follow.
	Policies *policies.RuleSet
	// Access creates SubjectAccessReviews.
	Access access.Reviewer
}

// Register serves the admission of every kind at server.
func Register(server review.Registrar, readers Readers, options *options.Options) {
	shared := share(readers, options, clock.RealClock{})
	serveInstances(server, shared)
	serveBindings(server, shared, clock.RealClock{})
	serveOfferings(server, shared)
	serveServiceTypes(server, shared)
	servePolicies(server, shared)
}

// share makes what the admission of all kinds has in common.
func share(readers Readers, options *options.Options, now clock.PassiveClock) *decision.Tools {
	found := catalog.New(readers.Cached, readers.Live, readers.Current, now)
	return decision.NewTools(found, policies.New(readers.Cached, readers.Live, readers.Policies), access.New(readers.Access), options)
}

func serveInstances(server review.Registrar, shared *decision.Tools) {
	handler := &instance.Handler{Tools: shared}
	server.Register(MutateInstances, review.Serve(review.Mutating, "ServiceInstance", handler.Mutate))
	server.Register(ValidateInstances, review.Serve(review.Validating, "ServiceInstance", handler.Validate))
}

func serveBindings(server review.Registrar, shared *decision.Tools, now clock.PassiveClock) {
	handler := binding.NewHandler(shared, now)
	server.Register(MutateBindings, review.Serve(review.Mutating, "ServiceBinding", handler.Mutate))
	server.Register(ValidateBindings, review.Serve(review.Validating, "ServiceBinding", handler.Validate))
}

// serveOfferings serves brokers, and the classes and plans that they offer.
func serveOfferings(server review.Registrar, shared *decision.Tools) {
	offered, registered := offering.NewOfferings(shared), offering.NewBrokers(shared)
	for resource, kind := range map[string]string{
		"clusterserviceclasses": "ClusterServiceClass", "serviceclasses": "ServiceClass",
		"clusterserviceplans": "ClusterServicePlan", "serviceplans": "ServicePlan",
	} {
		server.Register("/mutate/"+resource, review.Serve(review.Mutating, kind, offered.Mutate))
		server.Register("/validate/"+resource, review.Serve(review.Validating, kind, offered.Validate))
	}
	for resource, kind := range map[string]string{"clusterservicebrokers": "ClusterServiceBroker", "servicebrokers": "ServiceBroker"} {
		server.Register("/mutate/"+resource, review.Serve(review.Mutating, kind, registered.Mutate))
		server.Register("/validate/"+resource, review.Serve(review.Validating, kind, registered.Validate))
	}
}

func serveServiceTypes(server review.Registrar, shared *decision.Tools) {
	handler := offering.NewTypes(shared)
	for resource, kind := range map[string]string{"clusterservicetypes": "ClusterServiceType", "servicetypes": "ServiceType"} {
		server.Register("/validate/"+resource, review.Serve(review.Validating, kind, handler.Validate))
	}
}

func servePolicies(server review.Registrar, shared *decision.Tools) {
	handler := policies.NewValidator(shared.Resolver.Catalog)
	for resource, kind := range map[string]string{"provisioningpolicies": policy.KindProvisioning, "bindingpolicies": policy.KindBinding} {
		server.Register("/validate/"+resource, review.Serve(review.Validating, kind, handler.Validate))
	}
}

// Watched lists the kinds that admission reads from its cache.
func Watched() []client.Object {
	return []client.Object{
		&v1beta1.ClusterServiceClass{}, &v1beta1.ClusterServicePlan{}, &v1beta1.ClusterServiceType{},
		&v1beta1.ServiceClass{}, &v1beta1.ServicePlan{}, &v1beta1.ServiceType{},
		&v1beta1.ServiceBinding{},
		&v1beta1.ProvisioningPolicy{}, &v1beta1.BindingPolicy{}, &corev1.Namespace{},
	}
}

// Index adds the indexes that admission needs to a cache, before it starts.
func Index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := catalog.AddIndexes(ctx, indexer); err != nil {
		return fmt.Errorf("cannot index the catalog: %w", err)
	}
	if err := binding.AddIndexes(ctx, indexer); err != nil {
		return fmt.Errorf("cannot index the bindings: %w", err)
	}
	return nil
}
