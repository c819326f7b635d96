// Package offline admits objects without a cluster: it holds objects in memory,
// and a write to them goes the API server's way (prune, default, the mutating phase,
// the definition's schema and rules, the validating phase), by the definitions and
// hooks as they are shipped and the very handlers that the webhook serves. So it
// gives what a cluster with these objects would, from files alone, for charts' tests
// and for explanations.
//
// What it cannot know it assumes: every user but the controller may do everything, a
// namespace that it was not given exists and has no labels but its name, and no Secret is
// read. What a cluster makes up it derives, the same each time: a UID from kind, namespace
// and name, an ID that admission mints from that, and the end of a generated name. So
// among plans of equal weight, which are told apart by their UIDs, it chooses as a
// cluster does only if the plans come with the UIDs that they have there.
package offline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/deploy/schema"
	"github.com/defaultplan/defaultplan/webhook"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/policies"
)

// A Cluster is objects in memory. It is not for use from two goroutines at once, nor are two clones.
type Cluster struct {
	store *store
	hooks *hooks
	rules *policies.RuleSet
	// generated counts the objects whose names were generated.
	generated int
	// idle are the policies that have no effect, and why, by kind and name.
	idle map[string]error
	// validated is shared with clones.
	validated *lastValidation
	// watch is told of each write.
	watch func(before, after client.Object)
}

// A Result is the result of one write.
type Result struct {
	// Object is what is stored now; what was sent, if Denied is not nil.
	Object *unstructured.Unstructured
	// Warnings are those of admission, in order.
	Warnings []string
	// Denied is the API server's denial: the code, reason, causes and message
	// that a client sees.
	Denied *apierrors.StatusError
}

// New returns an empty cluster whose webhook has these options.
func New(options *options.Options) (*Cluster, error) {
	if err := options.Validate(); err != nil {
		return nil, fmt.Errorf("cannot serve admission: %w", err)
	}
	held, err := newStore()
	if err != nil {
		return nil, err
	}
	rules := policies.NewRuleSet()
	served, err := newHooks(readersOf(held, rules), options)
	if err != nil {
		return nil, err
	}
	return &Cluster{store: held, hooks: served, rules: rules, idle: map[string]error{}, validated: &lastValidation{}}, nil
}

// readersOf are what the webhook reads of a store.
func readersOf(held *store, rules *policies.RuleSet) webhook.Readers {
	return webhook.Readers{
		Cached: view{store: held, cached: true}, Live: view{store: held}, Current: func() bool { return true }, Policies: rules, Access: rights{},
	}
}

// Clone is a cluster with the same objects and webhook. What is written to one is not in
// the other. It costs little, however many objects there are.
func (c *Cluster) Clone() *Cluster { return c.CloneWith(c.hooks.options) }

// CloneWith is a Clone whose webhook has other options, which must be valid.
func (c *Cluster) CloneWith(options *options.Options) *Cluster {
	held, rules := c.store.clone(), c.rules.Clone()
	return &Cluster{
		store: held, hooks: c.hooks.clone(readersOf(held, rules), options), rules: rules,
		generated: c.generated, idle: maps.Clone(c.idle), validated: c.validated,
	}
}

// Watch has a function called after each write that changes what is stored, with what
// was and is stored: nil before a create, and after a removal. Load is such a write, and
// Restore is none. A clone is not watched.
func (c *Cluster) Watch(told func(before, after client.Object)) { c.watch = told }

// Scheme has the kinds that are stored.
func (c *Cluster) Scheme() *runtime.Scheme { return c.store.scheme }

// Reader reads what is stored, by typed kinds, and selects by the fields that the
// API server does.
func (c *Cluster) Reader() client.Reader { return view{store: c.store} }

// Cache reads what is stored as the webhook's cache does, which selects by its indexes
// and those of Index.
func (c *Cluster) Cache() client.Reader { return view{store: c.store, cached: true} }

// Index takes in indexes of further caches. Clones have them, too.
func (c *Cluster) Index(ctx context.Context, add func(context.Context, client.FieldIndexer) error) error {
	return add(ctx, c.store)
}

// Apply creates the object as kubectl create and kubectl apply --server-side do, with
// its nulls (client-side kubectl apply leaves them out of what it creates), or updates
// the one of its name with it as kubectl apply would the first time. The user is
// kubernetes-admin. An error is a failure of this package's own; what admission
// refuses is in the result.
func (c *Cluster) Apply(ctx context.Context, object *unstructured.Unstructured) (Result, error) {
	ctx = quiet(ctx)
	kind, err := kindOf(object)
	if err != nil {
		return Result{}, err
	}
	if name := object.GetName(); name != "" {
		if old := c.store.get(kind.GroupVersionKind, keyOf(kind, object)); old != nil {
			wanted, err := Reapplied(old, object, nil)
			if err != nil {
				return Result{}, err
			}
			return c.write(ctx, &write{kind: kind, object: wanted, old: old, user: admin})
		}
	}
	return c.write(ctx, &write{kind: kind, object: object.DeepCopy(), user: admin})
}

// quiet discards the webhook's log: its caller gets the results.
func quiet(ctx context.Context) context.Context { return log.IntoContext(ctx, logr.Discard()) }

// Idle are the policies that were loaded and have no effect, because they cannot be
// read, in the order of their kinds and names.
func (c *Cluster) Idle() []error {
	errs := make([]error, 0, len(c.idle))
	for _, key := range slices.Sorted(maps.Keys(c.idle)) {
		errs = append(errs, c.idle[key])
	}
	return errs
}

// kindOf is the kind of an object, which must be one of ours.
func kindOf(object *unstructured.Unstructured) (*schema.Kind, error) {
	asked := object.GroupVersionKind()
	resource, ok := resources[asked.Kind]
	if !ok || asked.Group != schema.Group {
		return nil, fmt.Errorf("cannot admit %s %q: it is of no kind of %s", asked.Kind, object.GetName(), schema.Group)
	}
	read, _ := kinds.LoadOrStore(resource, sync.OnceValues(func() (*schema.Kind, error) { return schema.Of(resource) }))
	kind, err := read.(func() (*schema.Kind, error))() //nolint:forcetypeassert // it was stored above
	if err != nil {
		return nil, fmt.Errorf("cannot admit %s: %w", asked.Kind, err)
	}
	if kind.GroupVersionKind != asked {
		return nil, fmt.Errorf("cannot admit %s %q of version %q: the version that is served is %q", asked.Kind, object.GetName(), asked.Version, kind.Version)
	}
	return kind, nil
}

// kinds are those that were asked for, by resource. They are read once for all clusters:
// a definition never changes.
var kinds sync.Map

// resources are our kinds' names in the API's paths.
var resources = map[string]string{
	"ClusterServiceBroker": "clusterservicebrokers", "ServiceBroker": "servicebrokers",
	"ClusterServiceClass": "clusterserviceclasses", "ServiceClass": "serviceclasses",
	"ClusterServicePlan": "clusterserviceplans", "ServicePlan": "serviceplans",
	"ClusterServiceType": "clusterservicetypes", "ServiceType": "servicetypes",
	"ServiceInstance": "serviceinstances", "ServiceBinding": "servicebindings",
	"ProvisioningPolicy": "provisioningpolicies", "BindingPolicy": "bindingpolicies",
}

// keyOf is where an object of a kind is stored. One that is in a namespace and names
// none is in "default".
func keyOf(kind *schema.Kind, object *unstructured.Unstructured) types.NamespacedName {
	key := types.NamespacedName{Name: object.GetName()}
	if kind.Namespaced {
		key.Namespace = cmp.Or(object.GetNamespace(), "default")
	}
	return key
}
