package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// policyStatus waits until the status of a policy is as wanted, and returns it.
func (w *world) policyStatus(policy client.Object, wanted func(*api.PolicyStatus) bool) *api.PolicyStatus {
	w.Helper()
	var status *api.PolicyStatus
	w.eventually(func() (bool, error) {
		err := w.client.Get(w.Context(), client.ObjectKeyFromObject(policy), policy)
		switch p := policy.(type) {
		case *api.ProvisioningPolicy:
			status = &p.Status
		case *api.BindingPolicy:
			status = &p.Status
		}
		return status.ObservedGeneration == policy.GetGeneration() && wanted(status), err
	})
	return status
}

// effective is the reason of the condition, after its status.
func effective(status *api.PolicyStatus) string {
	condition, _ := api.FindCondition(status.Conditions, api.ConditionEffective)
	return string(condition.Status) + " " + condition.Reason
}

func plansAre(n int32) func(*api.PolicyStatus) bool {
	return func(s *api.PolicyStatus) bool { return s.Plans == n }
}

// TestWhatAPolicySelectsNow: its status tells, and follows what is there.
func TestWhatAPolicySelectsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := w.denial(w.ofClass())
	policy.Spec.Namespaces = &api.PolicyNamespaces{Names: []string{w.namespace, w.name("absent")}}
	w.create(policy)
	status := w.policyStatus(policy, plansAre(0))
	assert.Equal(t, "False SelectsNothing", effective(status))
	assert.Equal(t, []string{w.namespace}, status.NamespaceNames)
	assert.Contains(t, w.kubectl("", "get", "provisioningpolicies", policy.Name, "-o", "jsonpath={.status.plans}"), "0", "zero is written")

	w.create(w.bindable()...)
	other := class{namespace: w.namespace, name: w.name("local"), externalName: w.name("c")}
	w.addPlans(other, plan{name: "p2", externalName: "small"})
	status = w.policyStatus(policy, plansAre(2))
	assert.Equal(t, []string{w.name("c") + "/" + w.name("p") + " (cluster)", w.name("c") + "/small (ns (" + w.namespace + "))"}, status.PlanNames)
	assert.Equal(t, "True Selects", effective(status))
	assert.Regexp(t, policy.Name+` +Deny +2 +1 `, w.kubectl("", "get", "provisioningpolicies", policy.Name))

	policy.Spec.Namespaces = &api.PolicyNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{w.name("stage"): "prod"}}}
	require.NoError(t, w.client.Update(t.Context(), policy))
	status = w.policyStatus(policy, plansAre(2))
	assert.Equal(t, "False SelectsNoNamespace", effective(status))
	assert.Empty(t, status.NamespaceNames, "what is no more is taken away")

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	w.get(namespace)
	namespace.Labels[w.name("stage")] = "prod"
	require.NoError(t, w.client.Update(t.Context(), namespace))
	status = w.policyStatus(policy, func(s *api.PolicyStatus) bool { return s.Namespaces == 1 })
	assert.Equal(t, "True Selects", effective(status))

	require.NoError(t, w.client.Delete(t.Context(), plan{name: w.name("p")}.object()))
	w.policyStatus(policy, plansAre(1))
}

// TestWhatABindingPolicySelectsNow: decided instances count, too.
func TestWhatABindingPolicySelectsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := w.bindingDenial(w.ofClass())
	w.create(policy)
	w.create(w.bindable()...)
	status := w.policyStatus(policy, plansAre(1))
	require.Equal(t, int32(0), ptr.Deref(status.Instances, -1))
	w.createInstance("one", ofType(w.name("db")))
	w.createInstance("undecided", ofPlan(w.name("other"), w.name("other")))
	two := w.createInstance("two", ofType(w.name("db")))
	w.policyStatus(policy, func(s *api.PolicyStatus) bool { return ptr.Deref(s.Instances, -1) == 2 })
	require.NoError(t, w.client.Delete(t.Context(), two))
	w.policyStatus(policy, func(s *api.PolicyStatus) bool { return ptr.Deref(s.Instances, -1) == 1 })
}
