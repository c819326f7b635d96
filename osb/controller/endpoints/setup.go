package endpoints

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Setup adds the reconciler to a manager, whose cache holds of the watched kinds what the
// controller made.
func Setup(mgr manager.Manager, r *Reconciler, o controller.Options) error {
	made := ctrl.NewControllerManagedBy(mgr).Named("endpoints").For(&v1beta1.ServiceBinding{}, builder.WithPredicates(concerned()))
	for _, kind := range Watched() {
		made = made.Owns(kind, builder.OnlyMetadata)
	}
	if err := made.WithOptions(o).Complete(r); err != nil {
		return fmt.Errorf("cannot set up the Services of bindings: %w", err)
	}
	return nil
}

// concerned lets through what may change a Service. Most of what the reconciler of bindings
// writes does not.
func concerned() predicate.Predicate {
	has := func(b *v1beta1.ServiceBinding) bool { return len(b.Status.Endpoints) > 0 || b.Status.Service != "" }
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			b, is := e.Object.(*v1beta1.ServiceBinding)
			return is && has(b)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, is := e.ObjectOld.(*v1beta1.ServiceBinding)
			after, too := e.ObjectNew.(*v1beta1.ServiceBinding)
			return is && too && (has(before) || has(after)) && !alike(before, after)
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// alike says that two states of a binding have the same Service.
func alike(before, after *v1beta1.ServiceBinding) bool {
	was, _ := v1beta1.FindCondition(before.Status.Conditions, v1beta1.ConditionEndpoints)
	is, _ := v1beta1.FindCondition(after.Status.Conditions, v1beta1.ConditionEndpoints)
	return was == is && before.Generation == after.Generation && before.Status.Service == after.Status.Service &&
		before.Status.ControllerName == after.Status.ControllerName && before.DeletionTimestamp.Equal(after.DeletionTimestamp) &&
		equality.Semantic.DeepEqual(before.Labels, after.Labels) && equality.Semantic.DeepEqual(before.Status.Endpoints, after.Status.Endpoints) &&
		equality.Semantic.DeepEqual(before.Status.ExternalProperties, after.Status.ExternalProperties)
}
