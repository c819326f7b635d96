package policies_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// policyStatus waits until the status of a policy is as wanted, and returns it.
func policyStatus(e *env.Env, policy client.Object, wanted func(*api.PolicyStatus) bool) *api.PolicyStatus {
	e.Helper()
	var status *api.PolicyStatus
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(policy), policy)
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
	e := env.New(t)
	policy := denial(e, ofClassC(e))
	policy.Spec.Namespaces = &api.PolicyNamespaces{Names: []string{e.Namespace, e.Name("absent")}}
	e.Create(policy)
	status := policyStatus(e, policy, plansAre(0))
	assert.Equal(t, "False SelectsNothing", effective(status))
	assert.Equal(t, []string{e.Namespace}, status.NamespaceNames)
	assert.Contains(t, e.Kubectl("", "get", "provisioningpolicies", policy.Name, "-o", "jsonpath={.status.plans}"), "0", "zero is written")

	e.Create(e.Bindable()...)
	other := env.Class{Namespace: e.Namespace, Name: e.Name("local"), ExternalName: e.Name("c")}
	e.AddPlans(other, env.Plan{Name: "p2", ExternalName: "small"})
	status = policyStatus(e, policy, plansAre(2))
	assert.Equal(t, []string{e.Name("c") + "/" + e.Name("p") + " (cluster)", e.Name("c") + "/small (ns (" + e.Namespace + "))"}, status.PlanNames)
	assert.Equal(t, "True Selects", effective(status))
	assert.Regexp(t, policy.Name+` +Deny +2 +1 `, e.Kubectl("", "get", "provisioningpolicies", policy.Name))

	// The keeper may write the status meanwhile.
	e.Change(policy, func() {
		policy.Spec.Namespaces = &api.PolicyNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{e.Name("stage"): "prod"}}}
	})
	status = policyStatus(e, policy, plansAre(2))
	assert.Equal(t, "False SelectsNoNamespace", effective(status))
	assert.Empty(t, status.NamespaceNames, "what is no more is taken away")

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.Namespace}}
	e.Change(namespace, func() { namespace.Labels[e.Name("stage")] = "prod" })
	status = policyStatus(e, policy, func(s *api.PolicyStatus) bool { return s.Namespaces == 1 })
	assert.Equal(t, "True Selects", effective(status))

	require.NoError(t, e.Client().Delete(t.Context(), env.Plan{Name: e.Name("p")}.Object()))
	policyStatus(e, policy, plansAre(1))
}

// TestWhatABindingPolicySelectsNow: decided instances count, too.
func TestWhatABindingPolicySelectsNow(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	policy := bindingDenial(e, ofClassC(e))
	e.Create(policy)
	e.Create(e.Bindable()...)
	status := policyStatus(e, policy, plansAre(1))
	require.Equal(t, int32(0), ptr.Deref(status.Instances, -1))
	e.CreateInstance("one", env.OfType(e.Name("db")))
	e.CreateInstance("undecided", env.OfPlan(e.Name("other"), e.Name("other")))
	two := e.CreateInstance("two", env.OfType(e.Name("db")))
	policyStatus(e, policy, func(s *api.PolicyStatus) bool { return ptr.Deref(s.Instances, -1) == 2 })
	require.NoError(t, e.Client().Delete(t.Context(), two))
	policyStatus(e, policy, func(s *api.PolicyStatus) bool { return ptr.Deref(s.Instances, -1) == 1 })
}
