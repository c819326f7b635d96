package webhook

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
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

// A Registrar serves handlers at paths; the webhook server of controller-runtime
// is one.
type Registrar interface {
	Register(path string, handler http.Handler)
}

// Readers are admission's views of the cluster.
type Readers struct {
	// Cached is the cache. Its fields are indexed by Index, its objects slimmed
	// by Slim, and it must have synced before the first request.
	Cached client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Policies follows the policies: see RuleSet.Follow.
	Policies *RuleSet
	// Access creates SubjectAccessReviews.
	Access AccessReviewer
}

// An AccessReviewer creates SubjectAccessReviews at the API server, as the
// client of a manager does: the API server answers them without storing them.
type AccessReviewer interface {
	Create(ctx context.Context, review client.Object, options ...client.CreateOption) error
}

// Register serves the admission of every kind at server.
func Register(server Registrar, readers Readers, options *Options) {
	shared := newCommons(readers, options, clock.RealClock{})
	serveInstances(server, &instances{shared})
	serveBindings(server, &bindings{shared})
	serveBrokers(server, &brokers{shared.access})
	serveOfferings(server, &offerings{shared, newOneDefault(readers, options)})
	serveServiceTypes(server, readers, options)
	servePolicies(server, readers)
}

func newInstances(readers Readers, options *Options, now clock.PassiveClock) *instances {
	return &instances{newCommons(readers, options, now)}
}

func serveInstances(server Registrar, handler *instances) {
	server.Register(MutateInstances, review.Serve(review.Mutating, "ServiceInstance", handler.mutate))
	server.Register(ValidateInstances, review.Serve(review.Validating, "ServiceInstance", handler.validate))
}

func serveBindings(server Registrar, handler *bindings) {
	server.Register(MutateBindings, review.Serve(review.Mutating, kindBinding, handler.mutate))
	server.Register(ValidateBindings, review.Serve(review.Validating, kindBinding, handler.validate))
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
	if err := addIndexes(ctx, indexer); err != nil {
		return fmt.Errorf("cannot index the catalog: %w", err)
	}
	return nil
}
