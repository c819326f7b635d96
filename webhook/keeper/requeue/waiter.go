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

// everyone stands for all who wait.
var everyone = waiter{}

func waiterOf(object client.Object) waiter {
	k := instances
	if _, ok := object.(*v1beta1.ServiceBinding); ok {
		k = bindings
	}
	return waiter{kind: k, at: client.ObjectKeyFromObject(object)}
}

// read gets an object from the cache; one that is not there is one that does not
// wait. Of one that has been decided or is gone, the cache's word is final.
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

// planWaitsFor is what waits for a plan: an undecided instance, or a binding that is
// to have one of its own.
//
// A named class comes first, because only its plans are considered: type and
// selector narrow them, and every change that can matter is one of the class or
// of a plan of it. So with the type before the selector. Policies come beside
// all of them.
func planWaitsFor(names *v1beta1.PlanReference, serviceType string, selector *metav1.LabelSelector) []key {
	classes := namedClasses(names)
	switch {
	case len(classes) > 0:
		return classes
	case namesPlan(names):
		// A plan is looked up in its class: without one, nothing that happens to
		// the catalog helps.
		return nil
	case serviceType != "":
		return []key{typeKey(serviceType)}
	case selector != nil:
		return []key{anyPlan}
	}
	return nil
}

// bindingWaitsFor is what an undecided binding waits for: its instance, or the plan
// of one of its own, and whatever else may keep admission from binding to it. One of
// the retired catalog that a broker was asked for is as decided as it will ever be.
func bindingWaitsFor(binding *v1beta1.ServiceBinding) []key {
	if begun(&binding.Status) {
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
	ref := binding.Spec.InstanceRef
	if ref == nil || (ref.Namespace != "" && ref.Namespace != binding.Namespace) {
		return client.ObjectKey{}, false
	}
	return client.ObjectKey{Namespace: binding.Namespace, Name: ref.Name}, true
}

// begun says that a broker was asked for the binding, whatever became of it.
func begun(status *v1beta1.ServiceBindingStatus) bool {
	untouched := status.UnbindStatus == "" || status.UnbindStatus == v1beta1.UnbindNotRequired
	return !untouched || status.AsyncOpInProgress || status.OrphanMitigationInProgress ||
		status.CurrentOperation != "" || status.ExternalProperties != nil
}

// renewed says that an object that waits is another than before, so that what it
// now asks for may be there. Its own write went through the hooks, but they may
// have answered before a plan was stored of which the event then found the old
// object in the index, or none.
func renewed(before, after client.Object) bool {
	return waits(after) && (before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration())
}
