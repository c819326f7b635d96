package slots

import (
	"context"
	"fmt"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// A slotCatalog is the plans of one round, each read once.
type slotCatalog struct {
	// ctx is that of the round: the interface quota.Catalog has none.
	ctx          context.Context //nolint:containedctx // quota.Catalog is pure, and this lives for one round
	live, cached catalog.Scope
	// rules are those that the plans are held against.
	rules  []policy.Rule
	plans  map[resolve.Ref]*quota.Offer
	withID map[[2]string][]quota.Offer
	// originals are the plans that others have their costs from.
	originals map[policy.Original][]resolve.PlanEntry
	instances map[client.ObjectKey]*v1beta1.ServiceInstance
	read      int
}

func newSlotCatalog(ctx context.Context, s *slotAllocator, namespace string) *slotCatalog {
	return &slotCatalog{
		ctx:  ctx,
		live: catalog.Scope{Reader: s.options.Live, Namespace: namespace}, cached: catalog.Scope{Reader: s.options.Client, Namespace: namespace},
		plans: map[resolve.Ref]*quota.Offer{}, withID: map[[2]string][]quota.Offer{},
		originals: map[policy.Original][]resolve.PlanEntry{},
	}
}

// demands are the objects of the namespace by kind. Plans are read before the objects
// are, so that an instance is counted that was provisioned before its plan was limited. The
// objects are listed once more after a plan was read that nothing in the cache has.
func (c *slotCatalog) demands(ctx context.Context, limiters []*limiter, place policy.Place) (map[quota.Kind][]quota.Demand, error) {
	rules := rulesOf(limiters)
	c.rules = rules
	if _, err := c.listed(ctx, c.cached, rules, place); err != nil {
		return nil, err
	}
	for {
		read := c.read
		demands, err := c.listed(ctx, c.live, rules, place)
		if err != nil || read == c.read {
			return demands, err
		}
	}
}

func (c *slotCatalog) listed(ctx context.Context, from catalog.Scope, rules []policy.Rule, place policy.Place) (map[quota.Kind][]quota.Demand, error) {
	var instances v1beta1.ServiceInstanceList
	if err := from.List(ctx, &instances, nil); err != nil {
		return nil, err
	}
	var bindings v1beta1.ServiceBindingList
	if err := from.List(ctx, &bindings, nil); err != nil {
		return nil, err
	}
	c.instances = map[client.ObjectKey]*v1beta1.ServiceInstance{}
	demands := map[quota.Kind][]quota.Demand{}
	for i := range instances.Items {
		o := &instances.Items[i]
		c.instances[client.ObjectKeyFromObject(o)] = o
		demand, err := c.demand(quota.Instances, o, quota.OfInstance(o), rules, place)
		if err != nil {
			return nil, err
		}
		demand.Opaque = demand.Opaque || quota.Unsure(o)
		demands[quota.Instances] = append(demands[quota.Instances], demand)
	}
	for i := range bindings.Items {
		o := &bindings.Items[i]
		instance, err := c.instanceOf(ctx, o)
		if err != nil {
			return nil, err
		}
		demand, err := c.demand(quota.Bindings, o, quota.OfBinding(o, instance), rules, place)
		if err != nil {
			return nil, err
		}
		demands[quota.Bindings] = append(demands[quota.Bindings], demand)
	}
	return demands, nil
}

// demand is the slots that an object with these plans needs.
func (c *slotCatalog) demand(kind quota.Kind, o client.Object, named []quota.Named, rules []policy.Rule, place policy.Place) (quota.Demand, error) {
	uses, opaque, err := quota.Look(named, c)
	return quota.Demand{
		UID: o.GetUID(), Since: o.GetCreationTimestamp().Unix(), Name: o.GetName(), Leaving: o.GetDeletionTimestamp() != nil, Opaque: opaque,
		Stages: kind.Stages(rules, uses, place),
	}, err
}

// instanceOf is the instance that a binding is for; nil if it is not there.
func (c *slotCatalog) instanceOf(ctx context.Context, b *v1beta1.ServiceBinding) (*v1beta1.ServiceInstance, error) {
	at := b.InstanceKey()
	if known, read := c.instances[at]; read || at.Namespace == c.live.Namespace {
		return known, nil
	}
	instance := &v1beta1.ServiceInstance{}
	err := c.live.Reader.Get(ctx, at, instance)
	if apierrors.IsNotFound(err) {
		c.instances[at] = nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get instance %q: %w", at, err)
	}
	c.instances[at] = instance
	return instance, nil
}

// Plan reads a plan and its class, once.
func (c *slotCatalog) Plan(ref resolve.Ref) (quota.Offer, bool, error) {
	offer, known := c.plans[ref]
	if !known {
		c.read++
		in := catalog.Scope{Reader: c.live.Reader, Namespace: ref.Namespace}
		plans, err := in.Plan(c.ctx, ref.Name)
		if err != nil {
			return quota.Offer{}, false, err
		}
		offers, err := c.offersOf(in, plans)
		if err != nil {
			return quota.Offer{}, false, err
		}
		if len(offers) > 0 {
			offer = &offers[0]
		}
		c.plans[ref] = offer
	}
	if offer == nil {
		return quota.Offer{}, false, nil
	}
	return *offer, true, nil
}

// WithID reads the plans with an ID, once.
func (c *slotCatalog) WithID(sent quota.IDs) ([]quota.Offer, error) {
	key := [2]string{sent.Namespace, sent.Plan}
	offers, known := c.withID[key]
	if known {
		return offers, nil
	}
	c.read++
	in := catalog.Scope{Reader: c.live.Reader, Namespace: sent.Namespace}
	plans, err := in.Plans(c.ctx, client.MatchingFields{v1beta1.FieldExternalID: sent.Plan})
	if err != nil {
		return nil, err
	}
	offers, err = c.offersOf(in, plans)
	if err != nil {
		return nil, err
	}
	c.withID[key] = offers
	return offers, nil
}

// offersOf are plans of the scope with their classes. Of a class that is gone its name
// is left.
func (c *slotCatalog) offersOf(s catalog.Scope, plans []resolve.PlanEntry) ([]quota.Offer, error) {
	offers := make([]quota.Offer, len(plans))
	for i := range plans {
		found, err := s.Class(c.ctx, plans[i].Class)
		if err != nil {
			return nil, err
		}
		class := resolve.ClassEntry{Ref: resolve.Ref{Namespace: s.Namespace, Name: plans[i].Class}}
		if len(found.Classes) > 0 {
			class = found.Classes[0]
		}
		offers[i] = quota.OfferOf(class, plans[i])
		if offers[i].Target, err = c.priced(s, offers[i].Target); err != nil {
			return nil, err
		}
	}
	return offers, nil
}

// priced is a target with the costs of its original, which is read once: many copies may have one.
func (c *slotCatalog) priced(s catalog.Scope, target policy.Target) (policy.Target, error) {
	if target.Original == (policy.Original{}) || !policy.AboutCosts(c.rules) {
		return target, nil
	}
	plans, known := c.originals[target.Original]
	if !known {
		var err error
		if plans, err = (catalog.Scope{Reader: s.Reader}).Plans(c.ctx, client.MatchingFields{v1beta1.FieldExternalID: target.Original.ExternalID}); err != nil {
			return target, err
		}
		c.originals[target.Original] = plans
	}
	return target.PricedBy(plans), nil
}

// placeOf is a namespace as policies see it. One that does not exist has no
// labels.
func placeOf(ctx context.Context, s catalog.Scope, name string) (policy.Place, error) {
	namespace := &corev1.Namespace{}
	err := s.Reader.Get(ctx, client.ObjectKey{Name: name}, namespace)
	if err != nil && !apierrors.IsNotFound(err) {
		return policy.Place{}, fmt.Errorf("cannot get namespace %q: %w", name, err)
	}
	return policy.Place{Namespace: name, Labels: namespace.Labels}, nil
}
