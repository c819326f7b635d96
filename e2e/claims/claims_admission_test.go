package claims_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// plan is the one plan of the shop.
func (s *shop) plan() *api.ClusterServicePlan {
	s.Helper()
	var plans api.ClusterServicePlanList
	require.NoError(s, s.Client().List(s.Context(), &plans, client.MatchingFields{api.FieldExternalID: s.PlanID("small")}))
	require.Len(s, plans.Items, 1)
	return &plans.Items[0]
}

// makeDefault makes the shop's plan the default of its type.
func (s *shop) makeDefault() {
	s.Helper()
	plan := s.plan()
	s.Change(plan, func() {
		plan.Annotations = map[string]string{api.AnnotationDefaultPlan: "true"}
		plan.Labels = map[string]string{"tier": s.Suffix}
	})
}

// refusal is why a write was refused, as a user reads it.
func (s *shop) refusal(err error) string {
	s.Helper()
	require.Error(s, err)
	require.True(s, apierrors.IsInvalid(err) || apierrors.IsForbidden(err), "%v", err)
	return err.Error()
}

// TestClaimIsDecidedAtAdmission: by type, class and selector; plan, defaults of both kinds
// and their record are in what the create request answers.
func TestClaimIsDecidedAtAdmission(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.makeDefault()
	plan := s.plan()
	for name, tc := range map[string]struct {
		reason string
		ask    func(*api.ServiceBindingSpec)
		rule   string
	}{
		"type":  {"the default of its type", func(b *api.ServiceBindingSpec) { b.ServiceType = s.Name("db") }, "cluster-default"},
		"class": {"its only plan", func(b *api.ServiceBindingSpec) { b.ClusterServiceClassExternalName = s.Name("db") }, "only-plan"},
		"selector": {"what matches", func(b *api.ServiceBindingSpec) {
			b.PlanSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": s.Suffix}}
		}, "selector"},
	} {
		b := s.claim(func(b *api.ServiceBinding) {
			b.GenerateName, b.Name = name+"-", ""
			b.Spec.ClusterServiceClassExternalName = ""
			tc.ask(&b.Spec)
		})
		require.NoError(t, s.Client().Create(t.Context(), b, client.DryRunAll), tc.reason)
		assert.Equal(t, plan.Name, b.Spec.ClusterServicePlanRef.Name, tc.reason)
		assert.Nil(t, b.Spec.InstanceRef, "it names no instance, ever")
		assert.JSONEq(t, `{"size":1}`, string(b.Spec.ProvisionParameters.Raw))
		assert.JSONEq(t, `{"role":"reader"}`, string(b.Spec.Parameters.Raw))
		applied, err := api.ParseAppliedDefaults(b.Annotations[api.AnnotationAppliedDefaults])
		require.NoError(t, err)
		assert.Equal(t, tc.rule, applied.Rule, tc.reason)
		assert.Equal(t, map[string]string{"/size": "plan"}, applied.Provision.From)
		assert.Equal(t, map[string]string{"/role": "plan"}, applied.From)
	}
	var none api.ServiceBindingList
	require.NoError(t, s.Client().List(t.Context(), &none, client.InNamespace(s.Namespace)))
	assert.Empty(t, none.Items, "a dry run stores nothing")
	assert.Empty(t, s.broker.Instances())
}

// TestClaimRefused: what cannot be decided is not stored, and the text says how to ask.
func TestClaimRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for name, tc := range map[string]struct {
		reason string
		edit   func(*api.ServiceBinding)
		says   string
	}{
		"Nothing": {"nothing is asked for", func(b *api.ServiceBinding) { b.Spec.ClusterServiceClassExternalName = "" }, "neither a type, a class nor a selector"},
		"Type": {"no plan is the default", func(b *api.ServiceBinding) {
			b.Spec.ClusterServiceClassExternalName, b.Spec.ServiceType = "", "none-"+s.Suffix
		}, "spec.serviceType"},
		"Class": {"there is no such class", func(b *api.ServiceBinding) { b.Spec.ClusterServiceClassExternalName = "none-" + s.Suffix }, "there is no such class"},
		"NotDedicated": {"it names its instance", func(b *api.ServiceBinding) {
			b.Spec.ClusterServiceClassExternalName, b.Spec.InstanceRef = "", &api.InstanceReference{Name: "mydb"}
			b.Spec.ProvisionParameters = env.RawJSON(`{"size": 2}`)
		}, "instanceRef names another"},
		"Forged": {"references are admission's", func(b *api.ServiceBinding) {
			b.Spec.ClusterServicePlanRef = &api.ClusterObjectReference{Name: s.plan().Name}
		}, "it is decided at admission"},
	} {
		assert.Contains(t, s.refusal(s.Client().Create(t.Context(), s.claim(tc.edit))), tc.says, "%s: %s", name, tc.reason)
	}
	deny := &api.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: s.Name("closed")}}
	deny.Spec.Action, deny.Spec.Message = api.PolicyDeny, "ask ann"
	deny.Spec.Subjects = []api.BindingPolicySubject{{PlanSubject: api.PlanSubject{ClassName: s.Name("db")}}}
	s.Create(deny)
	t.Cleanup(func() { _ = s.Client().Delete(t.Context(), deny) })
	// The webhook learns of the policy by a watch.
	s.Eventually(func() (bool, error) {
		return apierrors.IsForbidden(s.Client().Create(t.Context(), s.claim(), client.DryRunAll)), nil
	})
	said := s.refusal(s.Client().Create(t.Context(), s.claim()))
	assert.Contains(t, said, "ask ann")
	assert.Contains(t, said, deny.Name)
	assert.Empty(t, s.broker.Instances())
}

// TestClaimWaitsForItsPlan: a class and plan that are both named may yet come; the keeper
// has the claim decided then, and its user gets credentials with no second write.
func TestClaimWaitsForItsPlan(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	b := e.Binding("orders", "")
	b.Spec.ClusterServiceClassExternalName, b.Spec.ClusterServicePlanExternalName = e.Name("db"), "small"
	e.Create(b)
	assert.False(t, b.Spec.Decided())
	s := newShopOn(e, true)
	s.Ready(b)
	made, _ := s.only()
	assert.EqualValues(t, 1, made.Parameters["size"])
	s.ends(b)
}

// TestClaimAppliedAgain: kubectl apply of the same manifest, apply --server-side and
// replace change nothing of a claim that is bound; an edit of what was asked for is refused.
func TestClaimAppliedAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.makeDefault()
	manifest := fmt.Sprintf(`{"apiVersion": "servicecatalog.k8s.io/v1beta1", "kind": "ServiceBinding", "metadata": {"name": "orders", "namespace": %q},
		"spec": {"serviceType": %q, "provisionParameters": {"zone": "a"}}}`, s.Namespace, s.Name("db"))
	s.Kubectl(manifest, "apply", "-f", "-")
	b := s.claim()
	s.Ready(b)
	before := b.Spec
	for _, way := range [][]string{{"apply", "-f", "-"}, {"apply", "--server-side", "--force-conflicts", "-f", "-"}, {"replace", "-f", "-"}} {
		s.Kubectl(manifest, way...)
		s.Get(b)
		assert.Equal(t, before, b.Spec, "%v", way)
	}
	for _, empty := range []string{`{}`, `{"name": ""}`} {
		// So do the types of the retired catalog, which cannot leave it out.
		s.Kubectl(strings.Replace(manifest, `"spec": {`, `"spec": {"instanceRef": `+empty+`, `, 1), "replace", "-f", "-")
		s.Get(b)
		assert.Equal(t, before, b.Spec, empty)
	}
	for _, edit := range []string{`{"provisionParameters":{"zone":"b"}}`, `{"instanceRef":{"name":"other"}}`, `{"serviceType":"other"}`} {
		err := s.Client().Patch(t.Context(), b.DeepCopy(), client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":%s}`, edit)))
		assert.True(t, apierrors.IsInvalid(err), "%s: %v", edit, err)
	}
	require.NoError(t, s.Client().Patch(t.Context(), b, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"rotation":{"policy":"Never"}}}`))), "when it rotates may change")
	s.ends(b)
}

// TestDedicatedInstanceIsGuarded: no user forges a dedicated instance, takes its name,
// makes one of theirs it, binds to it or shares it; nor does the controller's own token
// make another than was decided on.
func TestDedicatedInstanceIsGuarded(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.claimed()
	own := s.own(b)
	s.Get(own)
	forged := func(edit func(*api.ServiceInstance)) *api.ServiceInstance {
		instance, err := api.DedicatedInstance(b)
		require.NoError(t, err)
		edit(instance)
		return instance
	}
	same := func(*api.ServiceInstance) {}
	renamed := func(i *api.ServiceInstance) { i.Name = "mine" }
	unowned := func(i *api.ServiceInstance) {
		*i = api.ServiceInstance{TypeMeta: i.TypeMeta, ObjectMeta: metav1.ObjectMeta{Namespace: i.Namespace, Name: i.Name}}
		i.Spec.ClusterServiceClassExternalName = s.Name("db")
	}
	larger := func(i *api.ServiceInstance) { i.Spec.Parameters = env.RawJSON(`{"size":9}`) }
	for name, tc := range map[string]struct {
		by   []string
		edit func(*api.ServiceInstance)
		says string
	}{
		"ByAnybody":         {nil, renamed, "made by the controller alone"},
		"NameTaken":         {nil, unowned, "is the name of the instance that belongs to binding"},
		"ControllerSame":    {controllerToken, same, "already exists"},
		"ControllerLarger":  {controllerToken, larger, "its spec is another"},
		"ControllerRenamed": {controllerToken, renamed, "its name is to be"},
	} {
		text, err := json.Marshal(forged(tc.edit))
		require.NoError(t, err)
		assert.Contains(t, s.KubectlFails(string(text), append(tc.by, "create", "-f", "-")...), tc.says, name)
	}

	theirs := s.claim(func(b *api.ServiceBinding) {
		b.Name, b.Spec.ClusterServiceClassExternalName, b.Spec.InstanceRef = "theirs", "", &api.InstanceReference{Name: own.Name}
	})
	assert.Contains(t, s.refusal(s.Client().Create(t.Context(), theirs)), "no other binds to it")
	shared := own.DeepCopy()
	shared.Spec.Sharing = &api.Sharing{Namespaces: []string{"default"}}
	assert.Contains(t, s.refusal(s.Client().Update(t.Context(), shared)), "no other binds to it")

	plain := s.CreateInstance("plain", env.OfPlan(s.Name("db"), ""))
	s.Ready(plain)
	plain.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(b, api.GroupVersion.WithKind("ServiceBinding"))}
	assert.Contains(t, s.refusal(s.Client().Update(t.Context(), plain)), "made by the controller alone", "an update of metadata alone is seen, too")

	s.Get(plain)
	plain.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(b, api.GroupVersion.WithKind("ServiceBinding"))}
	plain.OwnerReferences[0].APIVersion = "servicebinding.io/v1"
	require.NoError(t, s.Client().Update(t.Context(), plain), "another's kind of that name is an owner like any")
	plain.OwnerReferences[0].APIVersion = api.GroupVersion.String()
	assert.Contains(t, s.refusal(s.Client().Update(t.Context(), plain)), "made by the controller alone", "and does not become ours by its group")
	s.Get(plain)
	plain.OwnerReferences = nil
	require.NoError(t, s.Client().Update(t.Context(), plain))

	stripped := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`))
	require.NoError(t, s.Client().Patch(t.Context(), own.DeepCopy(), stripped, client.DryRunAll), "the garbage collector must be able to")
	s.Delete(plain)
	s.Gone(plain)
	s.ends(b)
}

// controllerToken runs kubectl as the controller.
var controllerToken = strings.Fields("--as=system:serviceaccount:defaultplan-system:defaultplan-controller --as-group=system:serviceaccounts --as-group=system:serviceaccounts:defaultplan-system --as-group=system:authenticated")
