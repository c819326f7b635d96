package describe

import (
	"context"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// byController says which controller handles an object, where its broker names one, and what no
// controller of that name has noticed: it may not run. observed is the generation that status is of.
func byController(name string, object client.Object, observed int64, conditions []v1beta1.Condition) string {
	words := ""
	ready, _ := v1beta1.FindCondition(conditions, v1beta1.ConditionReady)
	switch {
	case name == "":
		return ""
	case len(conditions) == 0, ready.Reason == v1beta1.ReasonWaitsForController:
		words = "; no controller of that name has seen it yet"
	case object.GetDeletionTimestamp() != nil && observed < object.GetGeneration():
		words = "; no controller of that name has seen that it is being deleted"
	}
	return strconv.Quote(name) + words
}

// controllerOf is spec.controllerName of the broker of a class; empty where it has none, or where
// the class or the broker is not there or may not be read.
func controllerOf(ctx context.Context, reader client.Reader, ref *v1beta1.DecidedReference, namespace string) (string, error) {
	var cluster, local string
	var err error
	switch {
	case ref.ClusterServiceClassRef != nil:
		class := &v1beta1.ClusterServiceClass{}
		err = reader.Get(ctx, client.ObjectKey{Name: ref.ClusterServiceClassRef.Name}, class)
		cluster = class.Spec.ClusterServiceBrokerName
	case ref.ServiceClassRef != nil:
		class := &v1beta1.ServiceClass{}
		err = reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.ServiceClassRef.Name}, class)
		cluster, local = class.Spec.ClusterServiceBrokerName, class.Spec.ServiceBrokerName
	}
	name := ""
	switch {
	case err != nil:
	case cluster != "":
		broker := &v1beta1.ClusterServiceBroker{}
		err = reader.Get(ctx, client.ObjectKey{Name: cluster}, broker)
		name = broker.Spec.ControllerName
	case local != "":
		broker := &v1beta1.ServiceBroker{}
		err = reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: local}, broker)
		name = broker.Spec.ControllerName
	}
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return "", nil
	}
	return name, err
}
