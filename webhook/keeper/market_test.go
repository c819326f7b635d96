package keeper_test

import (
	"context"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// market is a catalog with plans of both scopes, those that are no more, three
// namespaces, and instances.
func market() []client.Object {
	now := metav1.Now()
	return []client.Object{
		with(namespace("dev"), func(n *corev1.Namespace) { n.Labels = map[string]string{"stage": "dev"} }),
		with(namespace("prod"), func(n *corev1.Namespace) { n.Labels = map[string]string{"stage": "prod"} }),
		namespace("a"),

		with(clusterClass("mysql"), func(c *v1beta1.ClusterServiceClass) { c.Labels = map[string]string{"vendor": "azure"} }),
		clusterPlan(""),
		with(clusterPlan(""), func(p *v1beta1.ClusterServicePlan) {
			p.Name, p.Spec.ExternalName, p.Labels = "p2", "premium", map[string]string{"tier": "gold"}
		}),
		with(clusterPlan("redis"), func(p *v1beta1.ClusterServicePlan) { p.Name, p.Spec.ExternalName = "p3", "cache" }),
		class("dev", ""),
		plan("dev", "mysql"),
		with(plan("dev", "mysql"), func(p *v1beta1.ServicePlan) { p.Name = "p1-copy" }),

		with(clusterPlan("mysql"), func(p *v1beta1.ClusterServicePlan) {
			p.Name, p.DeletionTimestamp, p.Finalizers = "gone-deleting", &now, []string{"x/y"}
		}),
		with(clusterPlan("mysql"), func(p *v1beta1.ClusterServicePlan) { p.Name, p.Status.RemovedFromBrokerCatalog = "gone-removed", true }),
		with(clusterPlan("mysql"), func(p *v1beta1.ClusterServicePlan) {
			p.Name, p.Spec.ClusterServiceClassRef.Name = "gone-classless", "c9"
		}),
		with(clusterClass("mysql"), func(c *v1beta1.ClusterServiceClass) { c.Name, c.Status.RemovedFromBrokerCatalog = "gone-class", true }),
		with(clusterPlan("mysql"), func(p *v1beta1.ClusterServicePlan) {
			p.Name, p.Spec.ClusterServiceClassRef.Name = "gone-of-class", "gone-class"
		}),

		with(whole("mydb"), func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"owner": "web"} }),
		with(whole("local"), func(i *v1beta1.ServiceInstance) {
			i.Namespace, i.Spec.ClusterServicePlanRef, i.Spec.ServicePlanRef = "dev", nil, &v1beta1.LocalObjectReference{Name: "p1"}
		}),
		with(whole("planless"), func(i *v1beta1.ServiceInstance) { i.Spec.ClusterServicePlanRef.Name = "deleted" }),
		deleting(whole("deleting")),
		ofMySQL("undecided"),
	}
}

var everyNamespace = []string{"a", "dev", "prod"}

// policyFor is a policy that denies plans; bindingPolicyFor one that denies
// instances.
func policyFor(subjects ...v1beta1.PlanSubject) *v1beta1.ProvisioningPolicy {
	p := denyMySQL()
	p.Generation, p.Spec.Subjects = 3, nil
	for _, subject := range subjects {
		p.Spec.Subjects = append(p.Spec.Subjects, v1beta1.PolicySubject{PlanSubject: subject})
	}
	return p
}

func bindingPolicyFor(subjects ...v1beta1.BindingPolicySubject) *v1beta1.BindingPolicy {
	p := denyBinding()
	p.Generation, p.Spec.Subjects = 3, subjects
	return p
}

// in holds a policy to namespaces.
func in(p *v1beta1.ProvisioningPolicy, namespaces v1beta1.PolicyNamespaces) *v1beta1.ProvisioningPolicy {
	p.Spec.Namespaces = &namespaces
	return p
}

func selects(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// statusOf is the status of the policy as it is stored.
func (h *house) statusOf(ctx context.Context, policy client.Object) v1beta1.PolicyStatus {
	h.t.Helper()
	require.NoError(h.t, h.Get(ctx, client.ObjectKeyFromObject(policy), policy))
	switch p := policy.(type) {
	case *v1beta1.ProvisioningPolicy:
		return p.Status
	case *v1beta1.BindingPolicy:
		return p.Status
	}
	h.t.Fatalf("%T is no policy", policy)
	return v1beta1.PolicyStatus{}
}
