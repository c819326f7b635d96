package world

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/webhook/offline/apiclient"
)

const (
	kindInstance = "ServiceInstance"
	kindBinding  = "ServiceBinding"
)

// brokers are all brokers, and the controller that asks them.
type brokers struct {
	// client is the controller's, cache what it selects by its indexes, and writes is how often anything
	// was written.
	client *apiclient.Client
	cache  client.Reader
	writes func() int
	// pending are the instances and bindings that were written, and for which a broker may have to
	// be asked.
	pending keySet
	// waiting are those that stood still for want of a slot, nil before they are looked for, and bindings
	// whose instance can be bound to since.
	waiting map[Key]bool
	// answered says that a broker was asked for anything.
	answered bool
}

// A keySet holds keys in the order in which they came.
type keySet struct {
	order []Key
	has   map[Key]bool
}

func (s *keySet) add(at Key) {
	if s.has[at] {
		return
	}
	if s.has == nil {
		s.has = map[Key]bool{}
	}
	s.has[at] = true
	s.order = append(s.order, at)
}

// take empties the set.
func (s *keySet) take() []Key {
	all := s.order
	*s = keySet{}
	return all
}

// answer has each broker answer once for each object, and says whether there was anything to answer.
func (b *brokers) answer(ctx context.Context) (some bool, err error) {
	if b.waiting == nil {
		if err := b.findWaiting(ctx); err != nil {
			return false, err
		}
	}
	for _, at := range slices.Concat(slices.SortedFunc(maps.Keys(b.waiting), compareKeys), b.pending.take()) {
		did, err := b.one(ctx, at)
		if err != nil {
			return false, fmt.Errorf("cannot simulate what a broker answers for %s %q: %w", at.Kind, at.Namespace+"/"+at.Name, err)
		}
		if did {
			delete(b.waiting, at)
			some, b.answered = true, true
		}
	}
	return some, nil
}

// one has a broker answer for an object. One for which it must not be asked is left out until it is
// written again.
func (b *brokers) one(ctx context.Context, of Key) (did bool, err error) {
	if may, err := b.mayAsk(ctx, of); err != nil || !may {
		return false, err
	}
	if !b.waiting[of] { // it is looked at each time
		b.pending.add(of)
	}
	if of.Kind == kindInstance {
		return b.instance(ctx, At(of.Namespace, of.Name))
	}
	return b.binding(ctx, At(of.Namespace, of.Name))
}

// mayAsk says whether a broker may be asked for an object as it is stored, now or later. It copies
// nothing: most objects of many changes are done.
func (b *brokers) mayAsk(ctx context.Context, of Key) (may bool, err error) {
	at := At(of.Namespace, of.Name)
	switch of.Kind {
	case kindInstance:
		var one v1beta1.ServiceInstance
		err = b.client.Get(ctx, at, &one, client.UnsafeDisableDeepCopy)
		may = one.DeletionTimestamp != nil || one.Spec.Decided() && b.due(kindInstance, &one, one.Status.ObservedGeneration)
	case kindBinding:
		var one v1beta1.ServiceBinding
		err = b.client.Get(ctx, at, &one, client.UnsafeDisableDeepCopy)
		may = one.DeletionTimestamp != nil || one.Spec.Decided() && b.due(kindBinding, &one, one.Status.ObservedGeneration)
	}
	return may && err == nil, client.IgnoreNotFound(err)
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind)*-1, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// due says whether a broker may be asked for an object: what the controller observed already, and
// that does not wait for something that came, stands still.
func (b *brokers) due(kind string, object client.Object, observed int64) bool {
	return observed != object.GetGeneration() || b.waiting[Key{kind, object.GetNamespace(), object.GetName()}]
}

// bindingsTo are the bindings to an instance. Instances of many namespaces have the same name.
func (b *brokers) bindingsTo(ctx context.Context, instance client.ObjectKey) ([]v1beta1.ServiceBinding, error) {
	var list v1beta1.ServiceBindingList
	err := b.cache.List(ctx, &list, client.MatchingFields{indexes.Instance: instance.String()}, client.UnsafeDisableDeepCopy)
	return list.Items, err //nolint:wrapcheck // the caller names the object
}

// release removes the controller's finalizer from an object that is being deleted.
func (b *brokers) release(ctx context.Context, object client.Object) (bool, error) {
	if !controllerutil.RemoveFinalizer(object, v1beta1.FinalizerServiceCatalog) {
		return false, nil
	}
	return true, client.IgnoreNotFound(b.client.Update(ctx, object))
}

// findWaiting finds the instances and bindings that stand still for want of a slot.
func (b *brokers) findWaiting(ctx context.Context) error {
	b.waiting = map[Key]bool{}
	var instances v1beta1.ServiceInstanceList
	if err := b.client.List(ctx, &instances, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list the instances: %w", err)
	}
	var bindings v1beta1.ServiceBindingList
	if err := b.client.List(ctx, &bindings, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list the bindings: %w", err)
	}
	add := func(kind string, object client.Object, conditions []v1beta1.Condition) {
		if reasonOf(conditions) == policies.ReasonSlot {
			b.waiting[Key{kind, object.GetNamespace(), object.GetName()}] = true
		}
	}
	for i := range instances.Items {
		add(kindInstance, &instances.Items[i], instances.Items[i].Status.Conditions)
	}
	for i := range bindings.Items {
		add(kindBinding, &bindings.Items[i], bindings.Items[i].Status.Conditions)
	}
	return nil
}

// reasonOf is why an object is not Ready, or is.
func reasonOf(conditions []v1beta1.Condition) string {
	ready, _ := v1beta1.FindCondition(conditions, v1beta1.ConditionReady)
	return ready.Reason
}

func (b *brokers) rules() *policies.Rules {
	return &policies.Rules{Cached: b.client, Live: b.client}
}

func (b *brokers) slots() *policies.Slots {
	return &policies.Slots{Cached: b.client, Live: b.client}
}
