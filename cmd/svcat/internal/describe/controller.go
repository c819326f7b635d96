package describe

import (
	"context"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
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

// controllerOf is spec.controllerName of the broker of the class that was decided on; empty where
// it has none, or where the class or the broker does not exist or may not be read.
func controllerOf(ctx context.Context, reader client.Reader, decided *v1beta1.DecidedReference, namespace string) (string, error) {
	class, ok, err := catalog.DecidedClass(ctx, reader, decided, namespace)
	if err != nil || !ok {
		return "", err
	}
	target := class.Object.GetBroker()
	key := client.ObjectKey{Name: target.ClusterServiceBrokerName}
	if key.Name == "" {
		key = client.ObjectKey{Namespace: namespace, Name: target.ServiceBrokerName}
	}
	if key.Name == "" {
		return "", nil
	}
	broker := v1beta1.NewBroker(key.Namespace)
	err = reader.Get(ctx, key, broker)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return "", nil
	}
	return broker.GetSpec().ControllerName, err
}
