package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Instance explains an instance of the cluster; the error about one that is not there
// is a *catalog.NameError.
func (a *Asker) Instance(ctx context.Context, key client.ObjectKey) (Explanation, error) {
	told := Explanation{Subject: Subject{Kind: KindInstance, Namespace: key.Namespace, Name: key.Name}}
	stored := &v1beta1.ServiceInstance{}
	if err := get(ctx, a.reader, key, stored, &v1beta1.ServiceInstanceList{}, "instance"); err != nil {
		return told, err
	}
	applied := appliedOf(&stored.ObjectMeta)
	decided, err := then(ctx, a.reader, key.Namespace, &stored.Spec.DecidedReference, &applied, stored.Status.Started() || stored.DeletionTimestamp != nil)
	if err != nil {
		return told, err
	}
	decided.Parameters = storedParameters(stored.Spec.Parameters, &applied)
	decided.Conditions = conditionsOf(stored.Status.Conditions)
	asked := originalInstance(stored)
	told.Then, told.Asks = decided, asksOf(&asked.Spec.PlanReference, asked.Spec.ServiceType, asked.Spec.PlanSelector, nil)
	if len(told.Asks) == 0 && decided.Plan != nil {
		told.Difference = "It came with its references and asks for nothing by name: there is nothing to choose again."
		return told, nil
	}
	chosen, err := a.chooser.choose(ctx, asked)
	if err != nil {
		return told, err
	}
	if _, err := a.admission.apply(ctx, chosen.now, chosen.matter(), asked); err != nil {
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
func (a *Asker) writtenInstance(ctx context.Context, asked *v1beta1.ServiceInstance, written *document) (Explanation, error) {
	told := Explanation{Subject: written.subject(), Asks: asksOf(&asked.Spec.PlanReference, asked.Spec.ServiceType, asked.Spec.PlanSelector, nil)}
	told.Notes = nameByReferences(&asked.Spec)
	chosen, err := a.chooser.choose(ctx, asked)
	if err != nil {
		return told, err
	}
	result, err := a.admission.apply(ctx, chosen.now, chosen.matter(), written.object)
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
			return told, fmt.Errorf("cannot read the admitted ServiceInstance %q: %w", told.Subject.Name, err)
		}
		a.admitted[client.ObjectKeyFromObject(stored)] = stored
	}
	return told, nil
}

// nameByReferences makes the references of a spec that comes decided its names: what an object
// is told to be is looked up as if it had been asked for. It returns the note about that.
func nameByReferences(spec *v1beta1.ServiceInstanceSpec) []string {
	if !spec.Decided() {
		return nil
	}
	refs := spec.DecidedReference
	spec.PlanReference, spec.PlanSelector = v1beta1.PlanReference{}, nil
	if refs.ClusterServicePlanRef != nil && refs.ClusterServiceClassRef != nil {
		spec.ClusterServicePlanName, spec.ClusterServiceClassName = refs.ClusterServicePlanRef.Name, refs.ClusterServiceClassRef.Name
	}
	if refs.ServicePlanRef != nil && refs.ServiceClassRef != nil {
		spec.ServicePlanName, spec.ServiceClassName = refs.ServicePlanRef.Name, refs.ServiceClassRef.Name
	}
	return []string{"it comes with its references: admission takes it as decided, and chooses nothing"}
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
