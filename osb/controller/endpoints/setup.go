package endpoints

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// CheckRights prevents the start of a controller that may not watch what it makes: without
// it, all of the controller would end when its caches cannot be filled. No namespaces are all.
func CheckRights(ctx context.Context, live client.Reader, namespaces []string) error {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		for _, list := range []client.ObjectList{&corev1.ServiceList{}, &discoveryv1.EndpointSliceList{}} {
			err := live.List(ctx, list, client.InNamespace(namespace), client.Limit(1))
			if apierrors.IsForbidden(err) {
				return fmt.Errorf("cannot list what --endpoints writes: bind the ClusterRole defaultplan-controller-endpoints to the controller's user, or leave out --endpoints: %w", err)
			}
			if err != nil {
				return fmt.Errorf("cannot list what --endpoints writes: %w", err)
			}
		}
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
