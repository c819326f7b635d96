package keeper_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	ofMySQLType    = "mysql"
	clusterBasic   = "azure/basic (cluster)"
	clusterPremium = "azure/premium (cluster)"
	clusterCache   = "azure/cache (cluster)"
	localBasic     = "azure/basic (ns (dev), name p1)"
	localCopy      = "azure/basic (ns (dev), name p1-copy)"
)

func effective(is v1beta1.ConditionStatus, reason, message string) []v1beta1.Condition {
	return []v1beta1.Condition{{Type: v1beta1.ConditionEffective, Status: is, Reason: reason, Message: message, ObservedGeneration: 3}}
}

func TestWhatPoliciesSelect(t *testing.T) {
	t.Parallel()
	yes := effective(v1beta1.ConditionTrue, "Selects", "selects what exists now")
	const misspelt = " now: a name or label may be misspelt, or what it names is yet to come"
	for name, tc := range map[string]struct {
		reason string
		policy client.Object
		want   v1beta1.PolicyStatus
	}{
		"Type": {
			reason: "the plans' own type, else their class's, in both scopes; those that are no more do not count",
			policy: policyFor(v1beta1.PlanSubject{ServiceType: ofMySQLType}),
			want: v1beta1.PolicyStatus{
				Plans: 4, PlanNames: []string{clusterBasic, localBasic, localCopy, clusterPremium},
				Namespaces: 3, NamespaceNames: everyNamespace, Conditions: yes,
			},
		},
		"OtherType": {
			reason: "a type of the plan's own",
			policy: policyFor(v1beta1.PlanSubject{ServiceType: "redis"}),
			want:   v1beta1.PolicyStatus{Plans: 1, PlanNames: []string{clusterCache}, Namespaces: 3, NamespaceNames: everyNamespace, Conditions: yes},
		},
		"ClassAndPlan": {
			reason: "by Kubernetes or external names",
			policy: policyFor(v1beta1.PlanSubject{ClassName: "c1", PlanName: "premium"}),
			want:   v1beta1.PolicyStatus{Plans: 1, PlanNames: []string{clusterPremium}, Namespaces: 3, NamespaceNames: everyNamespace, Conditions: yes},
		},
		"OneOfSeveral": {
			reason: "each plan counts once, whichever subjects select it",
			policy: policyFor(v1beta1.PlanSubject{ServiceType: "redis"}, v1beta1.PlanSubject{PlanName: "cache"}, v1beta1.PlanSubject{ClassName: "azure", PlanName: "p3"}),
			want:   v1beta1.PolicyStatus{Plans: 1, PlanNames: []string{clusterCache}, Namespaces: 3, NamespaceNames: everyNamespace, Conditions: yes},
		},
		"Labels": {
			reason: "a plan's labels over its class's",
			policy: policyFor(v1beta1.PlanSubject{PlanSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold", "vendor": "azure"}}}),
			want:   v1beta1.PolicyStatus{Plans: 1, PlanNames: []string{clusterPremium}, Namespaces: 3, NamespaceNames: everyNamespace, Conditions: yes},
		},
		"NamedNamespaces": {
			reason: "those that exist, each once",
			policy: in(policyFor(v1beta1.PlanSubject{PlanName: "cache"}), v1beta1.PolicyNamespaces{Names: []string{"prod", "absent", "a"}}),
			want:   v1beta1.PolicyStatus{Plans: 1, PlanNames: []string{clusterCache}, Namespaces: 2, NamespaceNames: []string{"a", "prod"}, Conditions: yes},
		},
		"SelectedNamespaces": {
			reason: "those that are named, and those that the selector matches",
			policy: in(policyFor(v1beta1.PlanSubject{PlanName: "cache"}), v1beta1.PolicyNamespaces{Names: []string{"a"}, Selector: selects("stage", "dev")}),
			want:   v1beta1.PolicyStatus{Plans: 1, PlanNames: []string{clusterCache}, Namespaces: 2, NamespaceNames: []string{"a", "dev"}, Conditions: yes},
		},
		"NoPlan": {
			reason: "most often, a name is misspelt",
			policy: policyFor(v1beta1.PlanSubject{ClassName: "azur"}),
			want: v1beta1.PolicyStatus{
				Namespaces: 3, NamespaceNames: everyNamespace,
				Conditions: effective(v1beta1.ConditionFalse, "SelectsNothing", "selects no plan"+misspelt),
			},
		},
		"NoNamespace": {
			reason: "most often, a label is misspelt",
			policy: in(policyFor(v1beta1.PlanSubject{PlanName: "cache"}), v1beta1.PolicyNamespaces{Selector: selects("stage", "pord")}),
			want: v1beta1.PolicyStatus{
				Plans: 1, PlanNames: []string{clusterCache},
				Conditions: effective(v1beta1.ConditionFalse, "SelectsNoNamespace", "selects no namespace"+misspelt),
			},
		},
		"Neither": {
			reason: "both are told",
			policy: in(policyFor(v1beta1.PlanSubject{PlanName: "cach"}), v1beta1.PolicyNamespaces{Names: []string{"pord"}}),
			want:   v1beta1.PolicyStatus{Conditions: effective(v1beta1.ConditionFalse, "SelectsNothing", "selects no plan and no namespace"+misspelt)},
		},
		"Unreadable": {
			reason: "it denies nothing until it is corrected",
			policy: in(policyFor(v1beta1.PlanSubject{PlanSelector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Is", Values: []string{"gold"}}},
			}}), v1beta1.PolicyNamespaces{Names: []string{"a"}}),
			want: v1beta1.PolicyStatus{Conditions: effective(v1beta1.ConditionFalse, "Unreadable",
				`cannot read ProvisioningPolicy "no-mysql": spec.subjects[0].planSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`)},
		},
		"BindingByType": {
			reason: "its plans, and the decided instances that have them",
			policy: bindingPolicyFor(v1beta1.BindingPolicySubject{PlanSubject: v1beta1.PlanSubject{ServiceType: ofMySQLType}}),
			want: v1beta1.PolicyStatus{
				Plans: 4, PlanNames: []string{clusterBasic, localBasic, localCopy, clusterPremium}, Instances: new(int32(2)),
				Namespaces: 3, NamespaceNames: everyNamespace, Conditions: yes,
			},
		},
		"BindingByInstance": {
			reason: "an instance is no plan",
			policy: bindingPolicyFor(v1beta1.BindingPolicySubject{Instance: &v1beta1.PolicyInstance{Namespace: "a", Name: "mydb"}}),
			want:   v1beta1.PolicyStatus{Instances: new(int32(1)), Namespaces: 3, NamespaceNames: everyNamespace, Conditions: yes},
		},
		"BindingByInstanceLabels": {
			reason: "of its plan and itself",
			policy: bindingPolicyFor(v1beta1.BindingPolicySubject{PlanSubject: v1beta1.PlanSubject{PlanName: "basic"}, InstanceSelector: selects("owner", "web")}),
			want:   v1beta1.PolicyStatus{Instances: new(int32(1)), Namespaces: 3, NamespaceNames: everyNamespace, Conditions: yes},
		},
		"BindingByPlanThatIsGone": {
			reason: "an instance outlives its plan, whose name it has",
			policy: bindingPolicyFor(v1beta1.BindingPolicySubject{PlanSubject: v1beta1.PlanSubject{PlanName: "deleted"}}),
			want:   v1beta1.PolicyStatus{Instances: new(int32(1)), Namespaces: 3, NamespaceNames: everyNamespace, Conditions: yes},
		},
		"BindingToNothing": {
			reason: "neither is there",
			policy: bindingPolicyFor(v1beta1.BindingPolicySubject{Instance: &v1beta1.PolicyInstance{Namespace: "a", Name: "undecided"}}),
			want: v1beta1.PolicyStatus{
				Instances: new(int32(0)), Namespaces: 3, NamespaceNames: everyNamespace,
				Conditions: effective(v1beta1.ConditionFalse, "SelectsNothing", "selects no instance and no plan"+misspelt),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, append(market(), tc.policy), func(ctx context.Context, h *house) {
				h.keep(ctx, h.options())
				tc.want.ObservedGeneration = 3
				got := h.statusOf(ctx, tc.policy)
				assert.Empty(t, cmp.Diff(tc.want, got, cmpopts.IgnoreFields(v1beta1.Condition{}, "LastTransitionTime")), "(-want +got) %s", tc.reason)
				for _, condition := range got.Conditions {
					assert.False(t, condition.LastTransitionTime.IsZero())
				}
			})
		})
	}
}

// A copy counts with the costs of its original, whatever it claims.
func TestWhatPoliciesSelectByCosts(t *testing.T) {
	t.Parallel()
	ofAWS := func(c *v1beta1.ServiceClass) { c.Spec.ClusterServiceBrokerName = "aws" }
	local := whole("local")
	local.Spec.ClusterServicePlanRef, local.Spec.ServicePlanRef = nil, &v1beta1.LocalObjectReference{Name: "p1"}
	objects := []client.Object{
		namespace("a"), clusterClass(""), with(class("a", ""), ofAWS), costing(ofBroker(clusterPlan(""), "aws"), "250"), costing(ofBroker(plan("a", ""), "aws"), "1"),
		with(costing(ofBroker(clusterPlan(""), "aws"), "99"), func(p *v1beta1.ClusterServicePlan) {
			p.Name, p.Spec.ExternalName, p.Spec.ExternalID = "p2", "small", "p2-id"
		}),
		policyFor(over100()), bindingPolicyFor(v1beta1.BindingPolicySubject{PlanSubject: over100()}), whole("mydb"), local,
	}
	inHouse(t, objects, func(ctx context.Context, h *house) {
		h.keep(ctx, h.options())
		assert.Equal(t, []string{clusterBasic, "azure/basic (ns (a))"}, h.statusOf(ctx, policyFor()).PlanNames)
		assert.Equal(t, new(int32(2)), h.statusOf(ctx, bindingPolicyFor()).Instances)
		require.NoError(t, updatePlan(func(p *v1beta1.ClusterServicePlan) { costing(p, "100") })(ctx, h))
		h.pass(time.Minute)
		assert.Empty(t, h.statusOf(ctx, policyFor()).PlanNames, "the copy became cheaper with it")
		assert.Equal(t, new(int32(0)), h.statusOf(ctx, bindingPolicyFor()).Instances)
	})
}

func TestAPolicyNamesTheFirstOfMany(t *testing.T) {
	t.Parallel()
	objects := []client.Object{clusterClass("mysql"), policyFor(v1beta1.PlanSubject{ServiceType: ofMySQLType})}
	for n := range 40 {
		objects = append(objects, namespace(fmt.Sprintf("n%02d", n)), with(clusterPlan(""), func(p *v1beta1.ClusterServicePlan) {
			p.Name, p.Spec.ExternalName = fmt.Sprintf("p%02d", 99-n), fmt.Sprintf("plan%02d", n)
		}))
	}
	inHouse(t, objects, func(ctx context.Context, h *house) {
		h.keep(ctx, h.options())
		got := h.statusOf(ctx, denyMySQL())
		assert.EqualValues(t, 40, got.Plans)
		assert.EqualValues(t, 40, got.Namespaces)
		require.Len(t, got.PlanNames, 32)
		require.Len(t, got.NamespaceNames, 32)
		assert.Equal(t, "azure/plan31 (cluster)", got.PlanNames[31])
		assert.Equal(t, "n31", got.NamespaceNames[31])
		assert.True(t, slices.IsSorted(got.PlanNames))
	})
}

func TestAPolicysStatusFollowsWhatChanges(t *testing.T) {
	t.Parallel()
	provisioning := in(policyFor(v1beta1.PlanSubject{ServiceType: ofMySQLType}), v1beta1.PolicyNamespaces{Selector: selects("stage", "prod")})
	binding := bindingPolicyFor(v1beta1.BindingPolicySubject{InstanceSelector: selects("owner", "web")})
	for name, tc := range map[string]struct {
		reason string
		change func(context.Context, *house) error
		// plans, namespaces and instances are those that are selected after it, 4, 1
		// and 1 before.
		plans, namespaces, instances int
	}{
		"PlanComes":          {"it is of the type", create(with(clusterPlan(""), func(p *v1beta1.ClusterServicePlan) { p.Name = "p9" })), 5, 1, 1},
		"PlanGoes":           {"it is no more", func(ctx context.Context, h *house) error { return h.Delete(ctx, clusterPlan("")) }, 3, 1, 1},
		"PlanChangesType":    {"it is of another", updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.ServiceType = "redis" }), 3, 1, 1},
		"LocalPlanGoes":      {"both scopes count", func(ctx context.Context, h *house) error { return h.Delete(ctx, plan("dev", "")) }, 3, 1, 1},
		"ClassChangesType":   {"its plans are of another", update(clusterClass(""), func(c *v1beta1.ClusterServiceClass) { c.Spec.ServiceType = "redis" }), 2, 1, 1},
		"LocalClassGoes":     {"its plans cannot be chosen", func(ctx context.Context, h *house) error { return h.Delete(ctx, class("dev", "")) }, 2, 1, 1},
		"NamespaceComes":     {"it has the label", create(with(namespace("new"), func(n *corev1.Namespace) { n.Labels = map[string]string{"stage": "prod"} })), 4, 2, 1},
		"NamespaceGoes":      {"it is no more", func(ctx context.Context, h *house) error { return h.Delete(ctx, namespace("prod")) }, 4, 0, 1},
		"NamespaceLabelled":  {"it has the label now", update(namespace("a"), func(n *corev1.Namespace) { n.Labels = map[string]string{"stage": "prod"} }), 4, 2, 1},
		"InstanceIsDecided":  {"it counts from then on", update(ofMySQL("undecided"), func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"owner": "web"}; _ = becomesWhole(i) }), 4, 1, 2},
		"InstanceGoes":       {"it is no more", func(ctx context.Context, h *house) error { return h.Delete(ctx, whole("mydb")) }, 4, 1, 0},
		"InstanceIsLabelled": {"it has another label", update(whole("mydb"), func(i *v1beta1.ServiceInstance) { i.Labels = nil }), 4, 1, 0},
		"PolicyChanges": {"it is about another type", update(denyMySQL(), func(p *v1beta1.ProvisioningPolicy) {
			p.Generation, p.Spec.Subjects[0].ServiceType = 4, "redis"
		}), 1, 1, 1},
		"BindingPolicyChanges": {"it is about another label", update(denyBinding(), func(p *v1beta1.BindingPolicy) {
			p.Generation, p.Spec.Subjects[0].InstanceSelector = 4, selects("owner", "none")
		}), 4, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, append(market(), provisioning.DeepCopy(), binding.DeepCopy()), func(ctx context.Context, h *house) {
				h.settled(ctx)
				require.NoError(t, tc.change(ctx, h))
				h.pass(2 * time.Second)
				found, bound := denyMySQL(), denyBinding()
				of, about := h.statusOf(ctx, found), h.statusOf(ctx, bound)
				assert.Equal(t, []int{tc.plans, tc.namespaces, tc.instances}, []int{int(of.Plans), int(of.Namespaces), int(ptr.Deref(about.Instances, -1))}, tc.reason)
				assert.Len(t, of.PlanNames, tc.plans)
				assert.Len(t, of.NamespaceNames, tc.namespaces)
				for _, condition := range slices.Concat(of.Conditions, about.Conditions) {
					assert.Contains(t, []int64{found.Generation, bound.Generation}, condition.ObservedGeneration)
				}
				assert.Equal(t, []int64{found.Generation, bound.Generation}, []int64{of.ObservedGeneration, about.ObservedGeneration})
			})
		})
	}
}
