package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Slim takes from what the cache is to hold what nobody here reads. Who owns which
// field is only asked of classes and plans.
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
	case *corev1.Namespace:
		o.ManagedFields = nil
	}
	return o, nil
}
