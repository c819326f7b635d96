package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// elsewhere is the same world in another namespace of its own.
func (w *world) elsewhere() *world {
	w.Helper()
	other := *w
	other.namespace = w.addNamespace()
	return &other
}

// tries creates such an instance in a dry run.
func (w *world) tries(asked edit) error {
	w.Helper()
	return w.client.Create(w.Context(), w.instance("trial", asked), client.DryRunAll)
}

// admittedSoon waits until such an instance is admitted.
func (w *world) admittedSoon(asked edit) {
	w.Helper()
	w.eventually(func() (bool, error) {
		err := w.tries(asked)
		return err == nil, err
	})
}

// deniedBy asserts that a policy refused, in its name and words.
func (w *world) deniedBy(err error, policy client.Object, message, reason string) {
	w.Helper()
	require.True(w, apierrors.IsForbidden(err), "%s: %v", reason, err)
	assert.Contains(w, said(err), `"`+policy.GetName()+`"`, reason)
	assert.Contains(w, said(err), message, reason)
}

// showsDenial holds what kubectl prints of a refusal against a golden file.
func (w *world) showsDenial(name, kind, spec string) string {
	w.Helper()
	stderr := w.kubectlFails(w.manifestOf(kind, "mydb", spec), "apply", "-f", "-")
	// Which half of admission knows of a policy first is the watches' affair.
	shown := strings.ReplaceAll(w.normal(stderr), `webhook "mutate.`, `webhook "validate.`)
	w.golden("refused/"+name, "# spec: "+spec+"\n$ kubectl apply -f -\n"+shown)
	return stderr
}

// addPremium adds class "c" of type "db" with the plans "basic" and "premium", the
// latter the default.
func (w *world) addPremium() {
	w.Helper()
	w.addPlans(class{name: w.name("c"), serviceType: w.name("db"), labels: map[string]string{"world": w.suffix}},
		plan{name: w.name("basic"), labels: map[string]string{"tier": w.name("low")}},
		plan{name: w.name("premium"), isDefault: true, weight: 9, labels: map[string]string{"tier": w.name("high")}})
}

// TestPolicyKeepsAPlanOutOfANamespace: whatever way the plan is asked for; beside
// it, elsewhere and afterwards nothing is refused.
func TestPolicyKeepsAPlanOutOfANamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addPremium()
	old := w.createInstance("old", ofType(w.name("db")))
	require.Equal(t, w.name("premium"), planOf(old))
	moving := w.createInstance("moving", ofPlan(w.name("c"), w.name("basic")))
	deny := w.denial(api.PlanSubject{ClassName: w.name("c"), PlanName: w.name("premium")})
	deny.Spec.Message = "ask the database team"
	w.create(deny)
	premium, basic := ofPlan(w.name("c"), w.name("premium")), ofPlan(w.name("c"), w.name("basic"))
	w.deniedSoon(premium)

	selected := withSelector(map[string]string{"world": w.suffix})
	for reason, asked := range map[string]edit{
		"by name": premium, "by type": ofType(w.name("db")), "by class": ofPlan(w.name("c"), ""),
		"by Kubernetes name": func(i *api.ServiceInstance) {
			i.Spec.ClusterServiceClassName, i.Spec.ClusterServicePlanName = w.name("c"), w.name("premium")
		},
		"by external ID": func(i *api.ServiceInstance) {
			i.Spec.ClusterServiceClassExternalID, i.Spec.ClusterServicePlanExternalID = w.name("c"), w.name("premium")
		},
		"restored": func(i *api.ServiceInstance) {
			i.Annotations = map[string]string{api.AnnotationAppliedDefaults: `{}`}
			i.Spec.ClusterServiceClassRef = &api.ClusterObjectReference{Name: w.name("c")}
			i.Spec.ClusterServicePlanRef = &api.ClusterObjectReference{Name: w.name("premium")}
		},
	} {
		w.deniedBy(w.tries(asked), deny, "ask the database team", reason)
	}
	assert.Equal(t, w.name("basic"), planOf(w.createInstance("selected", selected)), "a selector passes over it, heavy as it is")
	require.NoError(t, w.tries(basic), "another plan")
	require.NoError(t, w.elsewhere().tries(premium), "another namespace")

	require.NoError(t, w.send("old", `{"spec":{"parameters":{"a":1}}}`), "what is there stays")
	w.deniedBy(w.send("moving", `{"spec":{"clusterServicePlanExternalName":"`+w.name("premium")+`"}}`), deny, "ask the database team", "a change of plan")
	assert.Equal(t, w.name("basic"), planOf(w.stored(moving.Name)))
	w.deniedBy(w.client.Create(t.Context(), w.bindingTo("creds", "old")), deny, "ask the database team", "a binding to what is there")
	w.showsDenial("Policy", "ServiceInstance", "{serviceType: NAME(db)}")

	require.NoError(t, w.client.Delete(t.Context(), deny))
	require.NoError(t, w.tries(premium), "at once: a refusal is made by what the API server has")
	require.NoError(t, w.client.Create(t.Context(), w.bindingTo("creds", "old")))
}

// bindingTo is a binding to an instance, not yet created.
func (w *world) bindingTo(name, instance string) *api.ServiceBinding {
	binding := w.binding(name)
	binding.Spec.InstanceRef.Name = instance
	return binding
}

// TestPolicyAllowsSomeNamespaces: as soon as one is named, the others are not; a
// denial wins over any of them.
func TestPolicyAllowsSomeNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addPremium()
	chosen, other := w.elsewhere(), w.elsewhere()
	premium, basic := ofPlan(w.name("c"), w.name("premium")), ofPlan(w.name("c"), w.name("basic"))
	allow := chosen.denial(api.PlanSubject{PlanSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": w.name("high")}}})
	allow.Name, allow.Spec.Action, allow.Spec.Message = w.name("allow"), api.PolicyAllow, "ask for a place on the list"
	w.create(allow)
	w.deniedSoon(premium)
	w.deniedBy(w.tries(premium), allow, "ask for a place on the list", "not on the list")
	w.showsDenial("PolicyAllows", "ServiceInstance", "{serviceType: NAME(db)}")
	require.NoError(t, chosen.tries(premium), "on the list")
	require.NoError(t, w.tries(basic), "no list is about it")

	second := other.denial(api.PlanSubject{ServiceType: w.name("db"), PlanName: w.name("premium")})
	second.Name, second.Spec.Action = w.name("allow-too"), api.PolicyAllow
	w.create(second)
	other.admittedSoon(premium)
	require.NoError(t, chosen.tries(premium), "two lists are one")
	require.Error(t, w.tries(premium))

	deny := chosen.denial(api.PlanSubject{PlanName: w.name("premium")})
	w.create(deny)
	chosen.deniedSoon(premium)
	chosen.deniedBy(chosen.tries(premium), deny, "premium", "a denial wins")
	require.NoError(t, other.tries(premium))
}

// TestPolicyFollowsLabels of namespaces: one that is labelled later is in it then,
// and out of it when it is no more.
func TestPolicyFollowsLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addPremium()
	stage := w.name("stage")
	deny := w.denial(w.ofClass())
	deny.Spec.Namespaces = &api.PolicyNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{stage: "test"}}}
	w.create(deny)
	tested := w.elsewhere()
	tested.labelled(stage, `"test"`)
	premium := ofPlan(w.name("c"), w.name("premium"))
	tested.deniedSoon(premium)
	require.NoError(t, w.tries(premium))

	w.labelled(stage, `"test"`)
	w.deniedSoon(premium)
	w.labelled(stage, "null")
	w.admittedSoon(premium)
	w.deniedBy(tested.tries(premium), deny, "premium", "there it stays")
}

// labelled labels the world's namespace; value is JSON.
func (w *world) labelled(key, value string) {
	w.Helper()
	w.patch(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}, `{"metadata":{"labels":{"`+key+`":`+value+`}}}`)
}

// TestPolicyAboutBindings: by the instance itself, by its labels, and by its plan.
func TestPolicyAboutBindings(t *testing.T) {
	t.Parallel()
	for name, subject := range map[string]func(w *world) api.BindingPolicySubject{
		"ByName": func(w *world) api.BindingPolicySubject {
			return api.BindingPolicySubject{Instance: &api.PolicyInstance{Namespace: w.namespace, Name: "kept"}}
		},
		"ByLabels": func(*world) api.BindingPolicySubject {
			return api.BindingPolicySubject{InstanceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}}}
		},
		"ByPlan": func(w *world) api.BindingPolicySubject {
			return api.BindingPolicySubject{PlanSubject: api.PlanSubject{PlanName: w.name("premium")}}
		},
		"ByBoth": func(w *world) api.BindingPolicySubject {
			return api.BindingPolicySubject{
				PlanSubject:      api.PlanSubject{ServiceType: w.name("db")},
				InstanceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.addPremium()
			w.createInstance("kept", ofType(w.name("db")), func(i *api.ServiceInstance) { i.Labels = map[string]string{"app": "kept"} })
			w.createInstance("free", ofPlan(w.name("c"), w.name("basic")))
			w.create(w.bindingTo("before", "kept"))
			deny := w.bindingDenial(api.PlanSubject{})
			deny.Spec.Subjects = []api.BindingPolicySubject{subject(w)}
			deny.Spec.Message = "kept is not for you"
			w.create(deny)
			w.eventually(func() (bool, error) {
				return apierrors.IsForbidden(w.client.Create(t.Context(), w.bindingTo("trial", "kept"), client.DryRunAll)), nil
			})
			err := w.client.Create(t.Context(), w.bindingTo("creds", "kept"))
			w.deniedBy(err, deny, "kept is not for you", name)
			w.refusedAt(err, "spec.instanceRef.name", name)
			require.NoError(t, w.client.Create(t.Context(), w.bindingTo("other", "free")), "another instance")
			require.NoError(t, w.tries(ofType(w.name("db"))), "it is about bindings alone")
			w.patch(w.bindingTo("before", "kept"), `{"metadata":{"labels":{"a":"b"}}}`)
			if name == "ByName" {
				w.showsDenial("BindingPolicy", "ServiceBinding", "{instanceRef: {name: kept}}")
			}
			require.NoError(t, w.client.Delete(t.Context(), deny))
			require.NoError(t, w.client.Create(t.Context(), w.bindingTo("creds", "kept")), "at once")
		})
	}
}
