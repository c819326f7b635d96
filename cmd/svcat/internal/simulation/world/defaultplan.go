package world

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// svcat owns the fields that `svcat set` writes.
const svcat = client.FieldOwner("svcat")

// SetDefault makes a plan the default of its type in a scope, as `svcat set plan --default`
// does: it records the plan, and then annotates it.
func (w *World) SetDefault(ctx context.Context, namespace, className, planName string) error {
	plan, class, err := w.plan(ctx, namespace, className, planName)
	if err != nil {
		return err
	}
	serviceType := plan.GetSpec().ServiceType
	if serviceType == "" {
		serviceType = class.GetSpec().ServiceType
	}
	if serviceType == "" {
		return fmt.Errorf("plan %s/%s has no service type that it could be the default of; give its class or it one (spec.serviceType)", className, planName)
	}
	if err := w.record(ctx, client.ObjectKey{Namespace: namespace, Name: serviceType}, plan.GetName()); err != nil {
		return err
	}
	// The record decides, and the keeper annotates what svcat may not.
	if err := w.annotate(ctx, plan); err != nil && Denied(err) == nil {
		return err
	}
	return w.settle(ctx)
}

func (w *World) record(ctx context.Context, at client.ObjectKey, plan string) error {
	kept := v1beta1.NewType(at.Namespace)
	kept.SetNamespace(at.Namespace)
	kept.SetName(at.Name)
	err := w.person.Get(ctx, at, kept)
	switch {
	case apierrors.IsNotFound(err):
		kept.SetNamespace(at.Namespace)
		kept.SetName(at.Name)
		kept.GetSpec().DefaultPlanRef = &v1beta1.PlanObjectReference{Name: plan}
		return w.person.Create(ctx, kept, svcat) //nolint:wrapcheck // it is the API server's
	case err != nil:
		return err //nolint:wrapcheck // it names the type
	case kept.GetSpec().DefaultPlanRef != nil && kept.GetSpec().DefaultPlanRef.Name == plan:
		return nil
	}
	return w.merge(ctx, kept, map[string]any{"spec": map[string]any{"defaultPlanRef": map[string]any{"name": plan}}})
}

func (w *World) annotate(ctx context.Context, plan v1beta1.PlanObject) error {
	if plan.GetAnnotations()[v1beta1.AnnotationDefaultPlan] == "true" {
		return nil
	}
	return w.merge(ctx, plan, map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1beta1.AnnotationDefaultPlan: "true"}}})
}

func (w *World) merge(ctx context.Context, object client.Object, patch map[string]any) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("cannot encode a patch: %w", err)
	}
	return w.person.Patch(ctx, object, client.RawPatch(types.MergePatchType, data), svcat) //nolint:wrapcheck // it is the API server's
}

// plan is the plan of a class in a scope, each by its external or its Kubernetes name.
func (w *World) plan(ctx context.Context, namespace, className, planName string) (v1beta1.PlanObject, v1beta1.ClassObject, error) {
	classes, plans := v1beta1.NewClassList(namespace), v1beta1.NewPlanList(namespace)
	for _, list := range []client.ObjectList{classes, plans} {
		if err := w.Reader().List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, nil, err //nolint:wrapcheck // it names the kind
		}
	}
	class, err := named("class", className, where(namespace), classes.Objects(), func(c v1beta1.ClassObject) string { return c.GetSpec().ExternalName })
	if err != nil {
		return nil, nil, err
	}
	of := slices.DeleteFunc(plans.Objects(), func(p v1beta1.PlanObject) bool { return p.GetClassName() != class.GetName() })
	plan, err := named("plan", planName, "class "+className, of, func(p v1beta1.PlanObject) string { return p.GetSpec().ExternalName })
	if err != nil {
		return nil, nil, err
	}
	copied, _ := plan.DeepCopyObject().(v1beta1.PlanObject)
	return copied, class, nil
}

// where is a scope in words.
func where(namespace string) string {
	if namespace == "" {
		return "the cluster"
	}
	return fmt.Sprintf("namespace %q", namespace)
}

// mostNamed is how many names an error lists.
const mostNamed = 10

// named is the one object of a name.
func named[O client.Object](kind, name, in string, all []O, externalName func(O) string) (found O, err error) {
	var fit []O
	var known []string
	for _, one := range all {
		if one.GetName() == name || externalName(one) == name {
			fit = append(fit, one)
		}
		known = append(known, externalName(one))
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		var names []string
		for _, one := range fit {
			names = append(names, one.GetName())
		}
		return found, fmt.Errorf("%s %q is %d of %s; name one by its Kubernetes name: %s", kind, name, len(fit), in, listed(names))
	}
	return found, fmt.Errorf("%s %q is not in %s; there are: %s", kind, name, in, listed(known))
}

// listed are the first of some names.
func listed(names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	switch more := len(names) - mostNamed; {
	case len(names) == 0:
		return "none"
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}
