package controller

import (
	"errors"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// AddToScheme registers all kinds that the controllers read and write.
func AddToScheme(scheme *runtime.Scheme) error {
	return errors.Join(v1beta1.AddToScheme(scheme), corev1.AddToScheme(scheme), discoveryv1.AddToScheme(scheme),
		authorizationv1.AddToScheme(scheme), networkingv1.AddToScheme(scheme))
}

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
