package catalog

import (
	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Ordered are the names, for people, of the class and plan that an instance is of,
// read from the instance alone: as the user named them, or as admission recorded
// its choice, or else by Kubernetes name. Empty where nothing is decided or named.
func Ordered(instance *v1beta1.ServiceInstance) (class, plan string) {
	spec := &instance.Spec
	applied, err := v1beta1.ParseAppliedDefaults(instance.Annotations[v1beta1.AnnotationAppliedDefaults])
	if err != nil {
		applied = v1beta1.AppliedDefaults{}
	}
	// Where a person named one by ID or Kubernetes name it may have been another since
	// the record was made: the reference tells.
	named := func(names ...string) bool { return firstOf(names...) != "" }
	if named(spec.ClusterServiceClassExternalID, spec.ClusterServiceClassName, spec.ServiceClassExternalID, spec.ServiceClassName) {
		applied.Class = ""
	}
	if named(spec.ClusterServicePlanExternalID, spec.ClusterServicePlanName, spec.ServicePlanExternalID, spec.ServicePlanName) {
		applied.Plan = ""
	}
	classRef, planRef := DecidedNames(&spec.DecidedReference)
	class = firstOf(spec.ClusterServiceClassExternalName, spec.ServiceClassExternalName, applied.Class, classRef,
		spec.ClusterServiceClassName, spec.ServiceClassName, spec.ClusterServiceClassExternalID, spec.ServiceClassExternalID)
	plan = firstOf(spec.ClusterServicePlanExternalName, spec.ServicePlanExternalName, applied.Plan, planRef,
		spec.ClusterServicePlanName, spec.ServicePlanName, spec.ClusterServicePlanExternalID, spec.ServicePlanExternalID)
	return class, plan
}

// DecidedNames are the Kubernetes names of the class and plan that were decided on.
func DecidedNames(decided *v1beta1.DecidedReference) (class, plan string) {
	if ref := decided.ClusterServiceClassRef; ref != nil {
		class = ref.Name
	}
	if ref := decided.ServiceClassRef; ref != nil && class == "" {
		class = ref.Name
	}
	if ref := decided.ClusterServicePlanRef; ref != nil {
		plan = ref.Name
	}
	if ref := decided.ServicePlanRef; ref != nil && plan == "" {
		plan = ref.Name
	}
	return class, plan
}

func firstOf(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
