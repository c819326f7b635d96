package catalog

import (
	"cmp"
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// ClassAndPlan are the external names of the class and plan that an instance is of,
// read from the instance alone: as the user named them, or as admission recorded
// its choice, or else by Kubernetes name. Empty where nothing is decided or named.
func ClassAndPlan(instance *v1beta1.ServiceInstance) (class, plan string) {
	spec := &instance.Spec
	applied, _ := v1beta1.ParseAppliedDefaults(instance.Annotations[v1beta1.AnnotationAppliedDefaults])
	// Where a person named one by ID or Kubernetes name it may have been another since
	// the record was made: the reference tells.
	named := func(names ...string) bool { return cmp.Or(names...) != "" }
	if named(spec.ClusterServiceClassExternalID, spec.ClusterServiceClassName, spec.ServiceClassExternalID, spec.ServiceClassName) {
		applied.Class = ""
	}
	if named(spec.ClusterServicePlanExternalID, spec.ClusterServicePlanName, spec.ServicePlanExternalID, spec.ServicePlanName) {
		applied.Plan = ""
	}
	classRef, planRef := DecidedNames(&spec.DecidedReference)
	class = cmp.Or(spec.ClusterServiceClassExternalName, spec.ServiceClassExternalName, applied.Class, classRef,
		spec.ClusterServiceClassName, spec.ServiceClassName, spec.ClusterServiceClassExternalID, spec.ServiceClassExternalID)
	plan = cmp.Or(spec.ClusterServicePlanExternalName, spec.ServicePlanExternalName, applied.Plan, planRef,
		spec.ClusterServicePlanName, spec.ServicePlanName, spec.ClusterServicePlanExternalID, spec.ServicePlanExternalID)
	return class, plan
}

// DecidedNames are the Kubernetes names of the class and plan that were decided on.
func DecidedNames(decided *v1beta1.DecidedReference) (class, plan string) {
	return cmp.Or(decided.ClusterServiceClassRef.GetName(), decided.ServiceClassRef.GetName()),
		cmp.Or(decided.ClusterServicePlanRef.GetName(), decided.ServicePlanRef.GetName())
}

// DecidedRefs are the class and plan that an object of a namespace was decided on; zero
// where there is none.
func DecidedRefs(decided *v1beta1.DecidedReference, namespace string) (class, plan resolve.Ref) {
	class.Name, plan.Name = DecidedNames(decided)
	if decided.ClusterServiceClassRef.GetName() == "" && class.Name != "" {
		class.Namespace = namespace
	}
	if decided.ClusterServicePlanRef.GetName() == "" && plan.Name != "" {
		plan.Namespace = namespace
	}
	return class, plan
}

// DecidedClass reads the class that an object of a namespace was decided on. ok is false
// where there is none, or it does not exist or may not be read.
func DecidedClass(ctx context.Context, reader client.Reader, decided *v1beta1.DecidedReference, namespace string) (class Class, ok bool, err error) {
	ref, _ := DecidedRefs(decided, namespace)
	object := v1beta1.NewClass(ref.Namespace)
	if ok, err = readable(ctx, reader, ref, object); ok {
		class, _ = ClassOf(object)
	}
	return class, ok, err
}

// DecidedPlan is as DecidedClass.
func DecidedPlan(ctx context.Context, reader client.Reader, decided *v1beta1.DecidedReference, namespace string) (plan Plan, ok bool, err error) {
	_, ref := DecidedRefs(decided, namespace)
	object := v1beta1.NewPlan(ref.Namespace)
	if ok, err = readable(ctx, reader, ref, object); ok {
		plan, _ = PlanOf(object)
	}
	return plan, ok, err
}

// readable reads an object, and says whether it exists and may be read.
func readable(ctx context.Context, reader client.Reader, ref resolve.Ref, into client.Object) (bool, error) {
	if ref.Name == "" {
		return false, nil
	}
	err := reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, into)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return false, nil
	}
	return err == nil, err
}
