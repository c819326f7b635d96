package controller

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A claimWorld is a bindingWorld whose binding asks for an instance of its own.
type claimWorld struct {
	*bindingWorld

	own client.ObjectKey
}

func newClaimWorld(t *testing.T, edits ...func(*v1beta1.ServiceBinding)) *claimWorld {
	t.Helper()
	w := &claimWorld{}
	asks := func(b *v1beta1.ServiceBinding) {
		b.Spec.InstanceRef, b.Spec.ServiceType = nil, "mysql"
		b.Spec.ClusterServiceClassRef, b.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "db"}, &v1beta1.ClusterObjectReference{Name: "small"}
		b.Annotations[v1beta1.AnnotationAppliedDefaults] = v1beta1.AppliedDefaults{Rule: "type-default", Class: "mysql", Plan: "small"}.String()
	}
	note := func(b *v1beta1.ServiceBinding) { w.own = b.InstanceKey() }
	w.bindingWorld = newBindingWorld(t, append(append([]func(*v1beta1.ServiceBinding){asks}, edits...), note)...)
	return w
}

// instance is the binding's own; nil if it is not there.
func (w *claimWorld) instance() *v1beta1.ServiceInstance {
	w.Helper()
	var instance v1beta1.ServiceInstance
	err := w.cache.Get(w.Context(), w.own, &instance)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(w, err)
	return &instance
}

// becomes gives the instance a status and the finalizer, as those have it who see to it.
func (w *claimWorld) becomes(edit func(*v1beta1.ServiceInstance)) {
	w.Helper()
	instance := w.instance()
	require.NotNil(w, instance)
	instance.Finalizers = []string{v1beta1.FinalizerServiceCatalog}
	require.NoError(w, w.cache.Update(w.Context(), instance))
	edit(instance)
	require.NoError(w, w.cache.Status().Update(w.Context(), instance))
}

func provisioned(i *v1beta1.ServiceInstance) {
	i.Status.ProvisionStatus, i.Status.ExternalID = v1beta1.Provisioned, "instance-id"
	i.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{
		BrokerTarget: v1beta1.BrokerTarget{ClusterServiceBrokerName: "broker", ClassExternalID: "db", PlanExternalID: "small"},
	}
}

// saying gives an instance conditions.
func saying(conditions ...v1beta1.Condition) func(*v1beta1.ServiceInstance) {
	return func(i *v1beta1.ServiceInstance) {
		for _, c := range conditions {
			i.Status.Conditions = v1beta1.SetCondition(i.Status.Conditions, c, i.Generation, metav1.Time{Time: noon})
		}
	}
}

// says is the condition Ready of a binding.
func says(b *v1beta1.ServiceBinding) v1beta1.Condition {
	ready, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionReady)
	return ready
}

// bound is the binding once its instance is provisioned and it is bound.
func (w *claimWorld) bound() *v1beta1.ServiceBinding {
	w.Helper()
	w.pass()
	w.becomes(provisioned)
	b, _ := w.pass()
	require.NotNil(w, b.Status.Binding)
	return b
}

// lets takes the finalizer off the instance.
func (w *claimWorld) lets() {
	w.Helper()
	instance := w.instance()
	instance.Finalizers = nil
	require.NoError(w, w.cache.Update(w.Context(), instance))
}
