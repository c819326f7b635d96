package instance

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/restore"
)

// keptFields is the restore table of instances: what an UPDATE that leaves a field out does
// not change. It is also the table of what a patch may set in spec.
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

// restore puts back into m.spec what the write left out, and returns the names
// of the restored fields that a person may have meant to remove.
func (m *Mutation) restore() []string {
	decided := m.Old.Spec.Decided()
	newClass, newPlan := m.renames(restore.WithClass), m.renames(restore.WithPlan)
	var told []string
	for _, field := range keptFields {
		switch {
		case field.Value(&m.Spec) != nil, field.Value(m.Old.Spec) == nil:
			continue
		case field.When == restore.UnlessCleared && m.Writes(field.Name):
			continue
		case field.When >= restore.OnceDecided && !decided,
			field.When == restore.WithClass && newClass,
			field.When == restore.WithPlan && newPlan:
			continue
		}
		field.Copy(&m.Spec, m.Old.Spec)
		if field.When != restore.Always {
			told = append(told, "spec."+field.Name)
		}
	}
	return told
}

// renames says that the write gives a name of the kind that the old object does
// not have, or has otherwise.
func (m *Mutation) renames(kind restore.When) bool {
	for _, field := range keptFields {
		if field.When != kind {
			continue
		}
		if value := field.Value(m.New.Spec); value != nil && value != field.Value(m.Old.Spec) {
			return true
		}
	}
	return false
}
