package webhook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// hasInstance adds an instance of the namespace dev, decided on a plan by its Kubernetes name: "dev/db-small" for one of
// the namespace's, "" for none yet. The plan need not be there: its class is what stands before the dash.
func hasInstance(name, plan string, edits ...func(*v1beta1.ServiceInstance)) func(*stock) {
	return func(s *stock) {
		instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: name, UID: types.UID("uid-instance-" + name)}}
		class, _, _ := strings.Cut(plan[strings.IndexByte(plan, '/')+1:], "-")
		switch own, found := strings.CutPrefix(plan, "dev/"); {
		case found:
			instance.Spec.ServiceClassRef, instance.Spec.ServicePlanRef = &v1beta1.LocalObjectReference{Name: class}, &v1beta1.LocalObjectReference{Name: own}
		case plan != "":
			instance.Spec.ClusterServiceClassRef, instance.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: class}, &v1beta1.ClusterObjectReference{Name: plan}
		}
		for _, edit := range edits {
			edit(instance)
		}
		s.objects = append(s.objects, instance)
	}
}

// typed is an instance that was asked for by type.
func typed(serviceType string) func(*v1beta1.ServiceInstance) {
	return func(i *v1beta1.ServiceInstance) { i.Spec.ServiceType = serviceType }
}

// labelled is an instance with a label.
func labelled(label, value string) func(*v1beta1.ServiceInstance) {
	return func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{label: value} }
}

// standingAs is an instance that its broker has, of the class and the plan with these IDs.
func standingAs(class, plan string, namespaced bool) func(*v1beta1.ServiceInstance) {
	return func(i *v1beta1.ServiceInstance) {
		i.Status.ProvisionStatus, i.Status.ExternalProperties = v1beta1.Provisioned, recordedAs(class, plan, namespaced)
	}
}

// becoming is an instance to which an operation gives the class and the plan with these IDs.
func becoming(operation v1beta1.InstanceOperation, class, plan string, namespaced bool) func(*v1beta1.ServiceInstance) {
	return func(i *v1beta1.ServiceInstance) {
		i.Status.CurrentOperation, i.Status.AsyncOpInProgress = operation, true
		i.Status.InProgressProperties = recordedAs(class, plan, namespaced)
	}
}

func recordedAs(class, plan string, namespaced bool) *v1beta1.ServiceInstancePropertiesState {
	recorded := &v1beta1.ServiceInstancePropertiesState{BrokerTarget: v1beta1.BrokerTarget{ClassExternalID: class, PlanExternalID: plan}}
	if namespaced {
		recorded.ServicePlanExternalID = plan
	} else {
		recorded.ClusterServicePlanExternalID = plan
	}
	return recorded
}

// ending is an instance that is being deleted.
func ending(i *v1beta1.ServiceInstance) {
	i.DeletionTimestamp, i.Finalizers = &metav1.Time{Time: founded}, []string{v1beta1.FinalizerServiceCatalog}
}

// hasBinding adds another binding of the namespace dev.
func hasBinding(name string, edits ...func(*v1beta1.ServiceBinding)) func(*stock) {
	return func(s *stock) {
		other := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: name, UID: types.UID("uid-binding-" + name)}}
		other.Spec.InstanceRef = &v1beta1.InstanceReference{Name: "mydb"}
		for _, edit := range edits {
			edit(other)
		}
		s.objects = append(s.objects, other)
	}
}

// toSecret is a binding that writes to this Secret.
func toSecret(name string) func(*v1beta1.ServiceBinding) {
	return func(b *v1beta1.ServiceBinding) { b.Spec.SecretName = name }
}

// bindDefaultsOf gives a plan or class, by its name, default parameters for bindings.
func bindDefaultsOf(name, parameters string) func(*stock) {
	return func(s *stock) { s.defaultsOf(name).DefaultBindParameters = rawExtension(parameters) }
}

// transformsOf gives a plan or class, by its name, default secret transforms.
func transformsOf(name, transforms string) func(*stock) {
	return func(s *stock) {
		require.NoError(s.tb, json.Unmarshal([]byte(transforms), &s.defaultsOf(name).DefaultSecretTransforms))
	}
}

// defaultsOf are the defaults of a plan, or else of a class.
func (s *stock) defaultsOf(name string) *v1beta1.Defaults {
	s.tb.Helper()
	if strings.Contains(name, "-") {
		return &s.plan(name).Defaults
	}
	return &s.class(name).Defaults
}

func bindSchemaOf(plan, schema string) func(*stock) {
	return func(s *stock) { s.plan(plan).ServiceBindingCreateParameterSchema = rawExtension(schema) }
}

// uncatalogued takes the classes and plans away; what refers to them stays.
func uncatalogued(s *stock) {
	s.objects = slices.DeleteFunc(s.objects, func(object client.Object) bool { return isClass(object) || isPlan(object) })
}
