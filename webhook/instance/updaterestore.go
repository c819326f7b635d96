package instance

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
)

// keptFields is the restore table of instances: what an UPDATE that leaves a field out does
// not change.
var keptFields = []restore.Field[v1beta1.ServiceInstanceSpec]{
	restore.Text("externalID", restore.Always, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ExternalID }),
	restore.Counter("updateRequests", restore.Always, func(s *v1beta1.ServiceInstanceSpec) *int64 { return &s.UpdateRequests }),

	restore.Text("serviceType", restore.UnlessCleared, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServiceType }),
	restore.Object("planSelector", restore.UnlessCleared, func(s *v1beta1.ServiceInstanceSpec) **metav1.LabelSelector { return &s.PlanSelector }),
	restore.Object("sharing", restore.UnlessCleared, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.Sharing { return &s.Sharing }),

	restore.Object("clusterServiceClassRef", restore.OnceDecided, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.ClusterObjectReference {
		return &s.ClusterServiceClassRef
	}),
	restore.Object("clusterServicePlanRef", restore.OnceDecided, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.ClusterObjectReference { return &s.ClusterServicePlanRef }),
	restore.Object("serviceClassRef", restore.OnceDecided, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.LocalObjectReference { return &s.ServiceClassRef }),
	restore.Object("servicePlanRef", restore.OnceDecided, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.LocalObjectReference { return &s.ServicePlanRef }),

	restore.Text("clusterServiceClassExternalName", restore.WithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServiceClassExternalName }),
	restore.Text("clusterServiceClassExternalID", restore.WithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServiceClassExternalID }),
	restore.Text("clusterServiceClassName", restore.WithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServiceClassName }),
	restore.Text("serviceClassExternalName", restore.WithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServiceClassExternalName }),
	restore.Text("serviceClassExternalID", restore.WithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServiceClassExternalID }),
	restore.Text("serviceClassName", restore.WithClass, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServiceClassName }),

	restore.Text("clusterServicePlanExternalName", restore.WithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServicePlanExternalName }),
	restore.Text("clusterServicePlanExternalID", restore.WithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServicePlanExternalID }),
	restore.Text("clusterServicePlanName", restore.WithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ClusterServicePlanName }),
	restore.Text("servicePlanExternalName", restore.WithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServicePlanExternalName }),
	restore.Text("servicePlanExternalID", restore.WithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServicePlanExternalID }),
	restore.Text("servicePlanName", restore.WithPlan, func(s *v1beta1.ServiceInstanceSpec) *string { return &s.ServicePlanName }),
}

// patchedFields are what a patch may set in spec.
var patchedFields = append(slices.Clip(keptFields),
	restore.Object("userInfo", restore.Always, func(s *v1beta1.ServiceInstanceSpec) **v1beta1.UserInfo { return &s.UserInfo }))

// keepFields puts back into spec what the write left out, and returns the names
// of the restored fields that a person may have meant to remove.
func keepFields(spec *v1beta1.ServiceInstanceSpec, w *Write) []string {
	undecided := !w.Old.Spec.Decided()
	newClass, newPlan := renames(w, restore.WithClass), renames(w, restore.WithPlan)
	return restore.Keep(keptFields, spec, w.Old.Spec, func(field *restore.Field[v1beta1.ServiceInstanceSpec]) bool {
		switch field.When {
		case restore.UnlessCleared:
			return w.Writes(field.Name)
		case restore.OnceDecided:
			return undecided
		case restore.WithClass:
			return undecided || newClass
		case restore.WithPlan:
			return undecided || newPlan || newClass && leavesScope(w)
		default:
			return false
		}
	})
}

// renames says that the write gives a name of the kind that the old object does
// not have, or has otherwise.
func renames(w *Write, kind restore.When) bool {
	return slices.ContainsFunc(keptFields, func(field restore.Field[v1beta1.ServiceInstanceSpec]) bool {
		value := field.Value(w.New.Spec)
		return field.When == kind && value != nil && value != field.Value(w.Old.Spec)
	})
}

// leavesScope says that the write names the class in the other scope than that of the decided one: a
// name of the decided plan cannot stand beside it.
func leavesScope(w *Write) bool {
	class := w.New.Spec.PlanReference
	clearPlanNames(&class)
	req, err := resolve.RequestFor(&class, w.Req.Namespace, "")
	return err == nil && req.Class.Value != "" &&
		req.Namespaced != references.Of(&w.Old.Spec.DecidedReference, w.Req.Namespace).Plan.Namespaced()
}
