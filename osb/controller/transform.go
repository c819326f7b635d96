package controller

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Slim removes from cached objects what this program does not read.
// managedFields are only kept on classes and plans.
func Slim(o any) (any, error) {
	switch o := o.(type) {
	case *v1beta1.ServiceInstance:
		o.ManagedFields = nil
	case *v1beta1.ServiceBinding:
		o.ManagedFields = nil
	case *v1beta1.ClusterServiceBroker:
		o.ManagedFields = nil
	case *v1beta1.ServiceBroker:
		o.ManagedFields = nil
	case *metav1.PartialObjectMetadata:
		o.ManagedFields = nil
	case *corev1.Namespace:
		o.ManagedFields = nil
	}
	return o, nil
}
