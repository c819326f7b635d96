package keeper_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestChangesWakeBindingsToo(t *testing.T) {
	t.Parallel()
	json := func(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }
	no := false
	for name, tc := range map[string]struct {
		reason string
		before []client.Object
		change func(context.Context, *house) error
		want   []string
	}{
		"InstanceArrivesWhole": {
			reason: "it is there to bind to",
			change: create(whole("none")),
			want:   []string{"binding a/of-none", "binding a/untouched"},
		},
		"InstanceArrivesUndecided": {
			reason: "it is woken itself; there is nothing to bind to yet",
			change: create(ofMySQL("none")),
			want:   []string{"a/none"},
		},
		"InstanceIsDecided": {
			reason: "what it was decided on is known now",
			change: update(ofMySQL("undecided"), func(i *v1beta1.ServiceInstance) {
				i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "p1"}
			}),
			want: []string{"binding a/of-undecided"},
		},
		"InstanceChangesPlan": {
			reason: "the other plan may be bindable",
			change: update(whole("whole"), func(i *v1beta1.ServiceInstance) { i.Spec.ClusterServicePlanRef.Name = "p2" }),
			want:   toWhole,
		},
		"InstanceIsLabelled": {
			reason: "policies select instances by label",
			change: update(whole("whole"), func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"tier": "gold"} }),
			want:   toWhole,
		},
		"InstanceChangesOtherwise": {
			reason: "its parameters do not apply to bindings",
			change: update(whole("whole"), func(i *v1beta1.ServiceInstance) { i.Generation, i.Spec.Parameters = 2, json(`{}`) }),
		},
		"UndecidedInstanceIsLabelled": {
			reason: "there is still nothing to bind to",
			change: update(ofMySQL("undecided"), func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"tier": "gold"} }),
		},
		"InstanceIsOnItsWayOut": {
			reason: "there is nothing to bind to any more",
			before: []client.Object{with(whole("ending"), func(i *v1beta1.ServiceInstance) { i.Finalizers = []string{"x/y"} }), binding("a", "of-ending", "ending")},
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, whole("ending")) },
		},
		"InstanceGoes": {
			reason: "there is nothing to bind to any more",
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, whole("whole")) },
		},
		"PlanBecomesBindable": {
			reason: "admission may have refused to bind to it",
			before: []client.Object{with(clusterPlan(""), func(p *v1beta1.ClusterServicePlan) { p.Spec.Bindable = &no })},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.Bindable = nil }),
			want:   toWhole,
		},
		"BindDefaultsAreMended": {
			reason: "admission may have refused what the old ones made",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.DefaultBindParameters = json(`{"a":1}`) }),
			want:   toWhole,
		},
		"TransformsAreMended": {
			reason: "admission may have refused what the old ones made",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) {
				p.Spec.DefaultSecretTransforms = []v1beta1.SecretTransform{{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "x"}}}
			}),
			want: toWhole,
		},
		"BindSchemaIsMended": {
			reason: "admission may have refused by the old one",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) {
				p.Spec.ServiceBindingCreateParameterSchema = json(`{"type":"object"}`)
			}),
			want: toWhole,
		},
		"UpdateSchemaIsMended": {
			reason: "nothing that waits is judged by it",
			before: []client.Object{clusterPlan("")},
			change: updatePlan(func(p *v1beta1.ClusterServicePlan) { p.Spec.InstanceUpdateParameterSchema = json(`{"type":"object"}`) }),
		},
		"PlanArrives": {
			reason: "without it nothing was known of the instance",
			change: create(clusterPlan("")),
			want:   toWhole,
		},
		"AnotherPlanArrives": {
			reason: "no instance has it",
			change: create(with(clusterPlan(""), func(p *v1beta1.ClusterServicePlan) { p.Name = "p2" })),
		},
		"NamespacedPlanArrives": {
			reason: "it is another than the cluster's of that name",
			change: create(plan("b", "")),
			want:   []string{"binding b/of-whole"},
		},
		"NamespacedPlanArrivesElsewhere": {
			reason: "it is not that of the instance",
			change: create(plan("a", "")),
		},
		"ClassBecomesBindable": {
			reason: "its plans are as it says",
			before: []client.Object{clusterClass(""), clusterPlan("")},
			change: update(clusterClass(""), func(c *v1beta1.ClusterServiceClass) { c.Spec.Bindable = true }),
			want:   toWhole,
		},
		"NamespacedClassBecomesBindable": {
			reason: "its plans are as it says",
			before: []client.Object{class("b", ""), plan("b", "")},
			change: update(class("b", ""), func(c *v1beta1.ServiceClass) { c.Spec.Bindable = true }),
			want:   []string{"binding b/of-whole"},
		},
		"ProvisioningPolicyArrives": {
			reason: "it may be the allowance that was missing; it holds for bindings too",
			change: create(denyMySQL()),
			want:   everybody,
		},
		"ProvisioningPolicyChanges": {
			reason: "it may deny less",
			before: []client.Object{denyMySQL()},
			change: update(denyMySQL(), func(p *v1beta1.ProvisioningPolicy) { p.Spec.Action = v1beta1.PolicyAllow }),
			want:   everybody,
		},
		"ProvisioningPolicyIsLabelled": {
			reason: "it says the same",
			before: []client.Object{denyMySQL()},
			change: update(denyMySQL(), func(p *v1beta1.ProvisioningPolicy) { p.Labels = map[string]string{"owner": "ops"} }),
		},
		"ProvisioningPolicyGoes": {
			reason: "it denies nothing any more",
			before: []client.Object{denyMySQL()},
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, denyMySQL()) },
			want:   everybody,
		},
		"BindingPolicyGoes": {
			reason: "it was about bindings only",
			before: []client.Object{denyBinding()},
			change: func(ctx context.Context, h *house) error { return h.Delete(ctx, denyBinding()) },
			want:   everyBindings,
		},
		"NamespaceIsLabelled": {
			reason: "policies select namespaces by label",
			before: []client.Object{namespace("a")},
			change: update(namespace("a"), func(n *corev1.Namespace) { n.Labels = map[string]string{"stage": "prod"} }),
			want:   everyoneInA,
		},
		"NamespaceIsAnnotated": {
			reason: "nothing selects by annotation",
			before: []client.Object{namespace("a")},
			change: update(namespace("a"), func(n *corev1.Namespace) { n.Annotations = map[string]string{"owner": "ops"} }),
		},
		"BindingArrives": {
			reason: "the hooks may have answered just before its instance was stored",
			change: create(binding("b", "new", "none")),
			want:   []string{"binding b/new"},
		},
		"BindingAsksForSomethingElse": {
			reason: "what it asks for now may be taken",
			change: update(binding("a", "of-none", ""), func(b *v1beta1.ServiceBinding) { b.Generation, b.Spec.Parameters = 2, json(`{}`) }),
			want:   []string{"binding a/of-none"},
		},
		"BindingIsLabelled": {
			reason: "it asks for the same",
			change: update(binding("a", "of-none", ""), func(b *v1beta1.ServiceBinding) { b.Labels = map[string]string{"x": "y"} }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, append(waitingToBind(), tc.before...), func(ctx context.Context, h *house) {
				h.settled(ctx)
				require.NoError(t, tc.change(ctx, h))
				h.pass(time.Second)
				assert.ElementsMatch(t, tc.want, h.touched(), tc.reason)
			})
		})
	}
}
