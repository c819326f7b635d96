package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// here are the namespaces of a rule that is about the world's alone.
func (w *world) here() *api.PolicyNamespaces {
	return &api.PolicyNamespaces{Names: []string{w.namespace}}
}

// ofClass selects the plans of the class that name("c") names.
func (w *world) ofClass() api.PlanSubject { return api.PlanSubject{ClassName: w.name("c")} }

// denial denies the world's namespace what subject selects.
func (w *world) denial(subject api.PlanSubject) *api.ProvisioningPolicy {
	return &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.name("deny")}, Spec: api.ProvisioningPolicySpec{
		PolicyRule: api.PolicyRule{Action: api.PolicyDeny, Namespaces: w.here()},
		Subjects:   []api.PolicySubject{{PlanSubject: subject}},
	}}
}

// bindingDenial denies it bindings to such instances.
func (w *world) bindingDenial(subject api.PlanSubject) *api.BindingPolicy {
	return &api.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.name("deny")}, Spec: api.BindingPolicySpec{
		PolicyRule: api.PolicyRule{Action: api.PolicyDeny, Namespaces: w.here()},
		Subjects:   []api.BindingPolicySubject{{PlanSubject: subject}},
	}}
}

// TestPoliciesWakeWhoWaits: what a policy kept undecided is decided when the policy
// goes, or is about something else, or the namespace is labelled so that it does
// not hold there any more.
func TestPoliciesWakeWhoWaits(t *testing.T) {
	t.Parallel()
	bySelector := func(w *world) client.Object {
		deny := w.denial(w.ofClass())
		deny.Spec.Namespaces = &api.PolicyNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.namespace},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "trusted", Operator: metav1.LabelSelectorOpDoesNotExist}}}}
		return deny
	}
	goes := func(w *world, policy client.Object) { require.NoError(w, w.client.Delete(w.Context(), policy)) }
	for name, tc := range map[string]struct {
		reason string
		deny   func(w *world) client.Object
		mend   func(w *world, policy client.Object)
	}{
		"Goes": {
			reason: "nothing denies any more",
			deny:   func(w *world) client.Object { return w.denial(w.ofClass()) },
			mend:   goes,
		},
		"IsAboutAnother": {
			reason: "it denies something else",
			deny:   func(w *world) client.Object { return w.denial(w.ofClass()) },
			mend: func(w *world, policy client.Object) {
				deny, ok := policy.(*api.ProvisioningPolicy)
				require.True(w, ok)
				// The keeper may have written its status meanwhile.
				w.get(deny)
				deny.Spec.Subjects[0].ClassName = w.name("another")
				require.NoError(w, w.client.Update(w.Context(), deny))
			},
		},
		"NamespaceIsLabelled": {
			reason: "it holds elsewhere only",
			deny:   bySelector,
			mend: func(w *world, _ client.Object) {
				namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
				w.get(namespace)
				namespace.Labels["trusted"] = "yes"
				require.NoError(w, w.client.Update(w.Context(), namespace))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			policy := tc.deny(w)
			// The plan that it names is yet to come, so it is admitted.
			w.create(w.instance("mydb", ofPlan(w.name("c"), w.name("p"))), policy)
			w.create(w.bindable()...)
			w.toldUndecided("mydb")
			assert.Empty(t, planOf(w.stored("mydb")), "it is denied what it waited for")

			tc.mend(w, policy)
			assert.Equal(t, w.name("p"), planOf(w.becomesWhole("mydb")), tc.reason)
		})
	}
}

// TestABindingThatAPolicyHeldUp is decided when the policy goes.
func TestABindingThatAPolicyHeldUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(w.bindable()...)
	policy := w.bindingDenial(w.ofClass())
	w.create(policy)
	w.waitingBinding("creds", "mydb")
	w.createInstance("mydb", ofType(w.name("db")))
	w.toldOf("creds", `admission cannot bind to instance "mydb" yet`)
	assert.False(t, w.waiting("creds").Spec.Decided())

	require.NoError(t, w.client.Delete(t.Context(), policy))
	assert.Equal(t, w.name("p"), w.becomesBound("creds").Spec.ClusterServicePlanRef.Name)
}
