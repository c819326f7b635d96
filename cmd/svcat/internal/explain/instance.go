package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// storedInstance explains an instance of the cluster.
func (x *explainer) storedInstance(ctx context.Context, key client.ObjectKey) (Explanation, error) {
	told := Explanation{Subject: Subject{Kind: KindInstance, Namespace: key.Namespace, Name: key.Name}}
	stored := &v1beta1.ServiceInstance{}
	if err := x.get(ctx, key, stored, &v1beta1.ServiceInstanceList{}, "instance"); err != nil {
		return told, err
	}
	applied := appliedOf(&stored.ObjectMeta)
	then, err := x.then(ctx, key.Namespace, &stored.Spec.DecidedReference, &applied)
	if err != nil {
		return told, err
	}
	then.Parameters = storedParameters(stored.Spec.Parameters, &applied)
	then.Conditions = conditionsOf(stored.Status.Conditions)
	asked := originalInstance(stored)
	told.Then, told.Asks = then, asksOf(&asked.Spec.PlanReference, asked.Spec.ServiceType, asked.Spec.PlanSelector, nil)
	if len(told.Asks) == 0 && then.Plan != nil {
		told.Difference = "It came with its references and asks for nothing by name: there is nothing to choose again."
		return told, nil
	}
	chosen, err := x.choose(ctx, asked)
	if err != nil {
		return told, err
	}
	if err := x.admit(ctx, chosen, asked); err != nil {
		return told, err
	}
	told.Now, told.Notes = chosen.now, append(noteDeletion(stored), chosen.slice.notes...)
	told.Difference = difference(told.Then, told.Now, "instance")
	return told, nil
}

// noteDeletion says of an object that is being deleted what that means.
func noteDeletion(stored client.Object) []string {
	if stored.GetDeletionTimestamp() == nil {
		return nil
	}
	return []string{"it is being deleted: nothing is decided about it any more"}
}

// writtenInstance explains an instance of a file.
func (x *explainer) writtenInstance(ctx context.Context, written *unstructured.Unstructured, file string) (Explanation, error) {
	told := Explanation{Subject: Subject{Kind: KindInstance, Namespace: written.GetNamespace(), Name: nameOf(written), File: file}}
	asked := &v1beta1.ServiceInstance{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written.Object, asked); err != nil {
		return told, fmt.Errorf("cannot read ServiceInstance %q of %s: %w", nameOf(written), file, err)
	}
	told.Asks = asksOf(&asked.Spec.PlanReference, asked.Spec.ServiceType, asked.Spec.PlanSelector, nil)
	if asked.Spec.Decided() {
		told.Notes = append(told.Notes, "it comes with its references: admission takes it as decided, and chooses nothing")
		nameByReferences(&asked.Spec)
	}
	chosen, err := x.choose(ctx, asked)
	if err != nil {
		return told, err
	}
	result, err := x.admitWritten(ctx, chosen, written)
	if err != nil {
		return told, err
	}
	told.Now, told.Notes = chosen.now, append(told.Notes, chosen.slice.notes...)
	if asked.Name == "" && asked.Spec.PlanSelector != nil {
		told.Notes = append(told.Notes, "with generateName every request breaks a tie of equal weights differently")
	}
	if result.Denied == nil {
		stored := &v1beta1.ServiceInstance{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(result.Object.Object, stored); err != nil {
			return told, fmt.Errorf("cannot read the admitted ServiceInstance %q: %w", nameOf(written), err)
		}
		x.admitted[client.ObjectKeyFromObject(stored)] = stored
	}
	return told, nil
}

// nameByReferences makes references names: what an object is told to be is looked
// up as if it had been asked for.
func nameByReferences(spec *v1beta1.ServiceInstanceSpec) {
	refs := spec.DecidedReference
	spec.PlanReference, spec.PlanSelector = v1beta1.PlanReference{}, nil
	if refs.ClusterServicePlanRef != nil && refs.ClusterServiceClassRef != nil {
		spec.ClusterServicePlanName, spec.ClusterServiceClassName = refs.ClusterServicePlanRef.Name, refs.ClusterServiceClassRef.Name
	}
	if refs.ServicePlanRef != nil && refs.ServiceClassRef != nil {
		spec.ServicePlanName, spec.ServiceClassName = refs.ServicePlanRef.Name, refs.ServiceClassRef.Name
	}
}

// asksOf are the fields by which an object asks for its plan.
func asksOf(ref *v1beta1.PlanReference, serviceType string, selector *metav1.LabelSelector, instance *v1beta1.InstanceReference) map[string]string {
	asks := map[string]string{
		"clusterServiceClassExternalName": ref.ClusterServiceClassExternalName, "clusterServiceClassExternalID": ref.ClusterServiceClassExternalID,
		"clusterServiceClassName": ref.ClusterServiceClassName, "clusterServicePlanExternalName": ref.ClusterServicePlanExternalName,
		"clusterServicePlanExternalID": ref.ClusterServicePlanExternalID, "clusterServicePlanName": ref.ClusterServicePlanName,
		"serviceClassExternalName": ref.ServiceClassExternalName, "serviceClassExternalID": ref.ServiceClassExternalID,
		"serviceClassName": ref.ServiceClassName, "servicePlanExternalName": ref.ServicePlanExternalName,
		"servicePlanExternalID": ref.ServicePlanExternalID, "servicePlanName": ref.ServicePlanName,
		"serviceType": serviceType,
	}
	if selector != nil {
		asks["planSelector"] = metav1.FormatLabelSelector(selector)
	}
	if instance != nil {
		asks["instanceRef"] = instance.Name
	}
	for field, value := range asks {
		if value == "" {
			delete(asks, field)
		}
	}
	return asks
}

func nameOf(object client.Object) string { return cmp.Or(object.GetName(), object.GetGenerateName()) }

func conditionsOf(conditions []v1beta1.Condition) []Condition {
	var told []Condition
	for _, c := range conditions {
		told = append(told, Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message})
	}
	slices.SortFunc(told, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	return told
}
