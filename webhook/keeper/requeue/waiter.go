package requeue

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// A kind of object that admission may leave undecided, by its resource.
type kind string

const (
	instances kind = "serviceinstances"
	bindings  kind = "servicebindings"
)

// object is an empty object of the kind.
func (k kind) object() client.Object {
	if k == bindings {
		return &v1beta1.ServiceBinding{}
	}
	return &v1beta1.ServiceInstance{}
}

// A waiter is an object that may wait to be decided on.
type waiter struct {
	kind kind
	at   client.ObjectKey
}

// everyone stands for all waiting objects.
var everyone = waiter{}

func waiterOf(object client.Object) waiter {
	k := instances
	if _, ok := object.(*v1beta1.ServiceBinding); ok {
		k = bindings
	}
	return waiter{kind: k, at: client.ObjectKeyFromObject(object)}
}

// read gets an object from the cache; one that does not exist does not wait. A
// stale cache is no problem: an object that is decided or gone stays so.
func (t *requeuer) read(ctx context.Context, w waiter) (client.Object, error) {
	object := w.kind.object()
	if err := t.options.Client.Get(ctx, w.at, object); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot get %T %q: %w", object, w.at, err)
	}
	return object, nil
}

// waitsFor is what an object waits for: nothing if it is decided, can never be
// decided, or is being deleted.
func waitsFor(object client.Object) []key {
	if object.GetDeletionTimestamp() != nil || controller.DecisionOn(object).Decided() {
		return nil
	}
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		if keys := planWaitsFor(&o.Spec.PlanReference, o.Spec.ServiceType, o.Spec.PlanSelector); len(keys) > 0 {
			return append(keys, everyInstance)
		}
	case *v1beta1.ServiceBinding:
		return bindingWaitsFor(o)
	}
	return nil
}

func waits(object client.Object) bool { return len(waitsFor(object)) > 0 }

// planWaitsFor is what an undecided instance, or a binding with a dedicated
// instance, waits for.
//
// A named class comes first, because only its plans are considered: type and
// selector narrow them, and every relevant change is one of the class or of a
// plan of it. Likewise the type comes before the selector. Policies are added
// to all of them.
func planWaitsFor(names *v1beta1.PlanReference, serviceType string, selector *metav1.LabelSelector) []key {
	classes := namedClasses(names)
	switch {
	case len(classes) > 0:
		return classes
	case namesPlan(names):
		// A plan is looked up in its class: without one, no change of the
		// catalog helps.
		return nil
	case serviceType != "":
		return []key{typeKey(serviceType)}
	case selector != nil:
		return []key{anyPlan}
	}
	return nil
}

// bindingWaitsFor is what an undecided binding waits for: its instance, or the
// plan of its dedicated instance, and everything else that may prevent
// admission from deciding it. A binding of the retired catalog whose broker was
// called is never decided.
func bindingWaitsFor(binding *v1beta1.ServiceBinding) []key {
	if binding.Status.Started() {
		return nil
	}
	if binding.Dedicated() {
		if keys := planWaitsFor(&binding.Spec.PlanReference, binding.Spec.ServiceType, binding.Spec.PlanSelector); len(keys) > 0 {
			return append(keys, everyBinding)
		}
		return nil
	}
	at, ok := instanceOf(binding)
	if !ok {
		return nil
	}
	return []key{instanceKey(at), everyBinding}
}

// instanceOf is where the instance of a binding is. For one of another namespace a
// binding never waits.
func instanceOf(binding *v1beta1.ServiceBinding) (client.ObjectKey, bool) {
	if binding.Dedicated() || binding.Shares() {
		return client.ObjectKey{}, false
	}
	return binding.InstanceKey(), true
}

// renewed says whether a waiting object changed what it waits for. The hooks
// ran at that write, but possibly before a plan was stored, and the plan's
// event may have found the former object in the index, or none.
func renewed(before, after client.Object) bool {
	return waits(after) && (before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration())
}
