// Package catalogtest has classes and plans for tests.
package catalogtest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Cluster returns a class and a plan of a ClusterServiceBroker.
func Cluster(edits ...func(*v1beta1.ClusterServiceClass, *v1beta1.ClusterServicePlan)) []client.Object {
	class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}}
	class.Spec.ExternalID, class.Spec.ExternalName, class.Spec.ClusterServiceBrokerName = "class-id", "mysql", "b"
	plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "plan"}}
	plan.Spec.ExternalID, plan.Spec.ExternalName, plan.Spec.ClusterServiceBrokerName, plan.Spec.ClusterServiceClassRef.Name = "plan-id", "small", "b", "class"
	for _, edit := range edits {
		edit(class, plan)
	}
	return []client.Object{class, plan}
}

// Local returns a class and a plan of a ServiceBroker.
func Local(edits ...func(*v1beta1.ServiceClass, *v1beta1.ServicePlan)) []client.Object {
	class := &v1beta1.ServiceClass{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "class"}}
	class.Spec.ExternalID, class.Spec.ExternalName, class.Spec.ServiceBrokerName = "class-id", "mysql", "b"
	plan := &v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "plan"}}
	plan.Spec.ExternalID, plan.Spec.ExternalName, plan.Spec.ServiceBrokerName, plan.Spec.ServiceClassRef.Name = "plan-id", "small", "b", "class"
	for _, edit := range edits {
		edit(class, plan)
	}
	return []client.Object{class, plan}
}
