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
	"github.com/defaultplan/defaultplan/e2e/golden"
)

// elsewhere is the same environment in a further namespace.
func elsewhere(e *env.Env) *env.Env {
	e.Helper()
	return e.InNamespace(e.AddNamespace())
}

// tries creates such an instance in a dry run.
func tries(e *env.Env, asked env.InstanceEdit) error {
	e.Helper()
	return e.Client().Create(e.Context(), e.Instance("trial", asked), client.DryRunAll)
}

// admittedSoon waits until such an instance is admitted.
func admittedSoon(e *env.Env, asked env.InstanceEdit) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		err := tries(e, asked)
		return err == nil, err
	})
}

// deniedBy asserts that a policy refused, in its name and words.
func deniedBy(e *env.Env, err error, policy client.Object, message, reason string) {
	e.Helper()
	require.True(e, apierrors.IsForbidden(err), "%s: %v", reason, err)
	assert.Contains(e, env.Said(err), `"`+policy.GetName()+`"`, reason)
	assert.Contains(e, env.Said(err), message, reason)
}

// addPremium adds class "c" of type "db" with the plans "basic" and "premium", the
// latter the default.
func addPremium(e *env.Env) {
	e.Helper()
	e.AddPlans(env.Class{Name: e.Name("c"), ServiceType: e.Name("db"), Labels: map[string]string{"test": e.Suffix}},
		env.Plan{Name: e.Name("basic"), Labels: map[string]string{"tier": e.Name("low")}},
		env.Plan{Name: e.Name("premium"), Default: true, Weight: 9, Labels: map[string]string{"tier": e.Name("high")}})
}

// TestPolicyKeepsAPlanOutOfANamespace: whatever way the plan is asked for; beside
// it, elsewhere and afterwards nothing is refused.
func TestPolicyKeepsAPlanOutOfANamespace(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	addPremium(e)
	old := e.CreateInstance("old", env.OfType(e.Name("db")))
	require.Equal(t, e.Name("premium"), env.PlanOf(old))
	moving := e.CreateInstance("moving", env.OfPlan(e.Name("c"), e.Name("basic")))
	deny := denial(e, api.PlanSubject{ClassName: e.Name("c"), PlanName: e.Name("premium")})
	deny.Spec.Message = "ask the database team"
	e.Create(deny)
	premium, basic := env.OfPlan(e.Name("c"), e.Name("premium")), env.OfPlan(e.Name("c"), e.Name("basic"))
	e.DeniedSoon(premium)

	selected := env.WithSelector(map[string]string{"test": e.Suffix})
	for reason, asked := range map[string]env.InstanceEdit{
		"by name": premium, "by type": env.OfType(e.Name("db")), "by class": env.OfPlan(e.Name("c"), ""),
		"by Kubernetes name": func(i *api.ServiceInstance) {
			i.Spec.ClusterServiceClassName, i.Spec.ClusterServicePlanName = e.Name("c"), e.Name("premium")
		},
		"by external ID": func(i *api.ServiceInstance) {
			i.Spec.ClusterServiceClassExternalID, i.Spec.ClusterServicePlanExternalID = e.Name("c"), e.Name("premium")
		},
		"restored": func(i *api.ServiceInstance) {
			i.Annotations = map[string]string{api.AnnotationAppliedDefaults: `{}`}
			i.Spec.ClusterServiceClassRef = &api.ClusterObjectReference{Name: e.Name("c")}
			i.Spec.ClusterServicePlanRef = &api.ClusterObjectReference{Name: e.Name("premium")}
		},
	} {
		deniedBy(e, tries(e, asked), deny, "ask the database team", reason)
	}
	assert.Equal(t, e.Name("basic"), env.PlanOf(e.CreateInstance("selected", selected)), "a selector passes over it, heavy as it is")
	require.NoError(t, tries(e, basic), "another plan")
	require.NoError(t, tries(elsewhere(e), premium), "another namespace")

	require.NoError(t, e.PatchInstance("old", `{"spec":{"parameters":{"a":1}}}`), "what is there stays")
	deniedBy(e, e.PatchInstance("moving", `{"spec":{"clusterServicePlanExternalName":"`+e.Name("premium")+`"}}`), deny, "ask the database team", "a change of plan")
	assert.Equal(t, e.Name("basic"), env.PlanOf(e.Stored(moving.Name)))
	deniedBy(e, e.Client().Create(t.Context(), e.Binding("creds", "old")), deny, "ask the database team", "a binding to what is there")
	golden.Denial(e, "Policy", "ServiceInstance", "{serviceType: NAME(db)}")

	require.NoError(t, e.Client().Delete(t.Context(), deny))
	require.NoError(t, tries(e, premium), "at once: a refusal is made by what the API server has")
	require.NoError(t, e.Client().Create(t.Context(), e.Binding("creds", "old")))
}

// TestPolicyAllowsSomeNamespaces: as soon as one is named, the others are not; a
// denial wins over any of them.
func TestPolicyAllowsSomeNamespaces(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	addPremium(e)
	chosen, other := elsewhere(e), elsewhere(e)
	premium, basic := env.OfPlan(e.Name("c"), e.Name("premium")), env.OfPlan(e.Name("c"), e.Name("basic"))
	allow := denial(chosen, api.PlanSubject{PlanSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": e.Name("high")}}})
	allow.Name, allow.Spec.Action, allow.Spec.Message = e.Name("allow"), api.PolicyAllow, "ask for a place on the list"
	e.Create(allow)
	e.DeniedSoon(premium)
	deniedBy(e, tries(e, premium), allow, "ask for a place on the list", "not on the list")
	golden.Denial(e, "PolicyAllows", "ServiceInstance", "{serviceType: NAME(db)}")
	require.NoError(t, tries(chosen, premium), "on the list")
	require.NoError(t, tries(e, basic), "no list is about it")

	second := denial(other, api.PlanSubject{ServiceType: e.Name("db"), PlanName: e.Name("premium")})
	second.Name, second.Spec.Action = e.Name("allow-too"), api.PolicyAllow
	e.Create(second)
	admittedSoon(other, premium)
	require.NoError(t, tries(chosen, premium), "two lists are one")
	require.Error(t, tries(e, premium))

	deny := denial(chosen, api.PlanSubject{PlanName: e.Name("premium")})
	e.Create(deny)
	chosen.DeniedSoon(premium)
	deniedBy(chosen, tries(chosen, premium), deny, "premium", "a denial wins")
	require.NoError(t, tries(other, premium))
}

// TestPolicyFollowsLabels of namespaces: one that is labelled later is in it then,
// and out of it when it is no more.
func TestPolicyFollowsLabels(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	addPremium(e)
	stage := e.Name("stage")
	deny := denial(e, ofClassC(e))
	deny.Spec.Namespaces = &api.PolicyNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{stage: "test"}}}
	e.Create(deny)
	tested := elsewhere(e)
	labelled(tested, stage, `"test"`)
	premium := env.OfPlan(e.Name("c"), e.Name("premium"))
	tested.DeniedSoon(premium)
	require.NoError(t, tries(e, premium))

	labelled(e, stage, `"test"`)
	e.DeniedSoon(premium)
	labelled(e, stage, "null")
	admittedSoon(e, premium)
	deniedBy(e, tries(tested, premium), deny, "premium", "there it stays")
}

// labelled labels the namespace; value is JSON.
func labelled(e *env.Env, key, value string) {
	e.Helper()
	e.Patch(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.Namespace}}, `{"metadata":{"labels":{"`+key+`":`+value+`}}}`)
}

// TestPolicyAboutBindings: by the instance itself, by its labels, and by its plan.
func TestPolicyAboutBindings(t *testing.T) {
	t.Parallel()
	for name, subject := range map[string]func(e *env.Env) api.BindingPolicySubject{
		"ByName": func(e *env.Env) api.BindingPolicySubject {
			return api.BindingPolicySubject{Instance: &api.PolicyInstance{Namespace: e.Namespace, Name: "kept"}}
		},
		"ByLabels": func(*env.Env) api.BindingPolicySubject {
			return api.BindingPolicySubject{InstanceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}}}
		},
		"ByPlan": func(e *env.Env) api.BindingPolicySubject {
			return api.BindingPolicySubject{PlanSubject: api.PlanSubject{PlanName: e.Name("premium")}}
		},
		"ByBoth": func(e *env.Env) api.BindingPolicySubject {
			return api.BindingPolicySubject{
				PlanSubject:      api.PlanSubject{ServiceType: e.Name("db")},
				InstanceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := env.New(t)
			addPremium(e)
			e.CreateInstance("kept", env.OfType(e.Name("db")), func(i *api.ServiceInstance) { i.Labels = map[string]string{"app": "kept"} })
			e.CreateInstance("free", env.OfPlan(e.Name("c"), e.Name("basic")))
			e.Create(e.Binding("before", "kept"))
			deny := bindingDenial(e, api.PlanSubject{})
			deny.Spec.Subjects = []api.BindingPolicySubject{subject(e)}
			deny.Spec.Message = "kept is not for you"
			e.Create(deny)
			e.Eventually(func() (bool, error) {
				return apierrors.IsForbidden(e.Client().Create(t.Context(), e.Binding("trial", "kept"), client.DryRunAll)), nil
			})
			err := e.Client().Create(t.Context(), e.Binding("creds", "kept"))
			deniedBy(e, err, deny, "kept is not for you", name)
			e.RefusedAt(err, "spec.instanceRef.name", name)
			require.NoError(t, e.Client().Create(t.Context(), e.Binding("other", "free")), "another instance")
			require.NoError(t, tries(e, env.OfType(e.Name("db"))), "it is about bindings alone")
			e.Patch(e.Binding("before", "kept"), `{"metadata":{"labels":{"a":"b"}}}`)
			if name == "ByName" {
				golden.Denial(e, "BindingPolicy", "ServiceBinding", "{instanceRef: {name: kept}}")
			}
			require.NoError(t, e.Client().Delete(t.Context(), deny))
			require.NoError(t, e.Client().Create(t.Context(), e.Binding("creds", "kept")), "at once")
		})
	}
}
