package policies_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// namespacesHere are the namespaces of a rule that is about the namespace alone.
func namespacesHere(e *env.Env) *api.PolicyNamespaces {
	return &api.PolicyNamespaces{Names: []string{e.Namespace}}
}

// ofClassC selects the plans of the class that name("c") names.
func ofClassC(e *env.Env) api.PlanSubject { return api.PlanSubject{ClassName: e.Name("c")} }

// denial denies the namespace what subject selects.
func denial(e *env.Env, subject api.PlanSubject) *api.ProvisioningPolicy {
	return &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: e.Name("deny")}, Spec: api.ProvisioningPolicySpec{
		PolicyRule: api.PolicyRule{Action: api.PolicyDeny, Namespaces: namespacesHere(e)},
		Subjects:   []api.PolicySubject{{PlanSubject: subject}},
	}}
}

// bindingDenial denies it bindings to such instances.
func bindingDenial(e *env.Env, subject api.PlanSubject) *api.BindingPolicy {
	return &api.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: e.Name("deny")}, Spec: api.BindingPolicySpec{
		PolicyRule: api.PolicyRule{Action: api.PolicyDeny, Namespaces: namespacesHere(e)},
		Subjects:   []api.BindingPolicySubject{{PlanSubject: subject}},
	}}
}

// denies creates a policy about one more class, and waits until the webhook refuses a plan of
// that: it learns of policies and of plans by watches, each of which has its own time.
func denies(e *env.Env, policy client.Object) {
	e.Helper()
	deny, ok := policy.(*api.ProvisioningPolicy)
	require.True(e, ok)
	more := e.Name("more")
	deny.Spec.Subjects = append(deny.Spec.Subjects, api.PolicySubject{PlanSubject: api.PlanSubject{ClassName: more}})
	e.AddPlans(env.Class{Name: more}, env.Plan{Name: more})
	e.Create(deny)
	e.DeniedSoon(env.OfPlan(more, more))
}

// TestPoliciesWakeWhoWaits: what a policy kept undecided is decided when the policy
// goes, or is about something else, or the namespace is labelled so that it does
// not hold there any more.
func TestPoliciesWakeWhoWaits(t *testing.T) {
	t.Parallel()
	bySelector := func(e *env.Env) client.Object {
		deny := denial(e, ofClassC(e))
		deny.Spec.Namespaces = &api.PolicyNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": e.Namespace},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "trusted", Operator: metav1.LabelSelectorOpDoesNotExist}}}}
		return deny
	}
	goes := func(e *env.Env, policy client.Object) { require.NoError(e, e.Client().Delete(e.Context(), policy)) }
	for name, tc := range map[string]struct {
		reason string
		deny   func(e *env.Env) client.Object
		mend   func(e *env.Env, policy client.Object)
	}{
		"Goes": {
			reason: "nothing denies any more",
			deny:   func(e *env.Env) client.Object { return denial(e, ofClassC(e)) },
			mend:   goes,
		},
		"IsAboutAnother": {
			reason: "it denies something else",
			deny:   func(e *env.Env) client.Object { return denial(e, ofClassC(e)) },
			mend: func(e *env.Env, policy client.Object) {
				deny, ok := policy.(*api.ProvisioningPolicy)
				require.True(e, ok)
				// The keeper may write its status meanwhile.
				e.Change(deny, func() { deny.Spec.Subjects[0].ClassName = e.Name("another") })
			},
		},
		"NamespaceIsLabelled": {
			reason: "it holds elsewhere only",
			deny:   bySelector,
			mend: func(e *env.Env, _ client.Object) {
				namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.Namespace}}
				e.Change(namespace, func() { namespace.Labels["trusted"] = "yes" })
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := env.New(t)
			policy := tc.deny(e)
			denies(e, policy)
			// The plan that it names is yet to come, so it is admitted.
			e.Create(e.Instance("mydb", env.OfPlan(e.Name("c"), e.Name("p"))))
			e.Create(e.Bindable()...)
			e.ToldUndecided("mydb")
			assert.Empty(t, env.PlanOf(e.Stored("mydb")), "it is denied what it waited for")

			tc.mend(e, policy)
			assert.Equal(t, e.Name("p"), env.PlanOf(e.InstanceDecided("mydb")), tc.reason)
		})
	}
}

// TestABindingThatAPolicyHeldUp is decided when the policy goes.
func TestABindingThatAPolicyHeldUp(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.Create(e.Bindable()...)
	policy := bindingDenial(e, ofClassC(e))
	e.Create(policy)
	e.CreateInstance("other", env.OfType(e.Name("db")))
	e.Eventually(func() (bool, error) { // the webhook learns of the policy by a watch
		return apierrors.IsForbidden(e.Client().Create(t.Context(), e.Binding("trial", "other"), client.DryRunAll)), nil
	})
	e.WaitingBinding("creds", "mydb")
	e.CreateInstance("mydb", env.OfType(e.Name("db")))
	e.ToldOf("creds", `admission cannot bind to instance "mydb" yet`)
	assert.False(t, e.StoredBinding("creds").Spec.Decided())

	require.NoError(t, e.Client().Delete(t.Context(), policy))
	assert.Equal(t, e.Name("p"), e.BindingDecided("creds").Spec.ClusterServicePlanRef.Name)
}
