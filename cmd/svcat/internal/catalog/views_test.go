package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// owned is the metadata of an object that an owner of a kind made.
func owned(namespace, kind, owner string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "x"}
	if kind != "" {
		meta.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: owner, Controller: new(true)}}
	}
	return meta
}

func TestScopeAndOrigin(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason                 string
		namespace, kind, owner string
		scope                  string
		origin                 catalog.Origin
	}{
		"OfBroker":           {reason: "a relist made it", kind: "ClusterServiceBroker", owner: "azure", scope: "broker (azure)", origin: catalog.FromBroker},
		"OfNamespacesBroker": {reason: "that of a namespace is named with it", namespace: "dev", kind: "ServiceBroker", owner: "azure", scope: "broker (dev/azure)", origin: catalog.FromBroker},
		"OfCluster":          {reason: "a person made it", scope: "cluster", origin: catalog.InCluster},
		"OfNamespace":        {reason: "a person made it there", namespace: "dev", scope: "ns (dev)", origin: catalog.InNamespace},
		"OfSomethingElse":    {reason: "an owner that is no broker is no broker", kind: "Application", owner: "shop", scope: "cluster", origin: catalog.InCluster},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var class, plan client.Object = &v1beta1.ClusterServiceClass{ObjectMeta: owned("", tc.kind, tc.owner)}, &v1beta1.ClusterServicePlan{ObjectMeta: owned("", tc.kind, tc.owner)}
			if tc.namespace != "" {
				class = &v1beta1.ServiceClass{ObjectMeta: owned(tc.namespace, tc.kind, tc.owner)}
				plan = &v1beta1.ServicePlan{ObjectMeta: owned(tc.namespace, tc.kind, tc.owner)}
			}
			c, ok := catalog.ClassOf(class)
			require.True(t, ok)
			p, ok := catalog.PlanOf(plan)
			require.True(t, ok)
			assert.Equal(t, []string{tc.scope, tc.scope}, []string{c.Scope(), p.Scope()}, tc.reason)
			assert.Equal(t, []catalog.Origin{tc.origin, tc.origin}, []catalog.Origin{c.Origin(), p.Origin()}, tc.reason)
		})
	}
	broker, ok := catalog.BrokerOf(&v1beta1.ServiceBroker{ObjectMeta: owned("dev", "ServiceBroker", "azure")})
	require.True(t, ok)
	assert.Equal(t, catalog.InNamespace, broker.Origin(), "no broker makes a broker")
}

// TestViews: both scopes are the same to the reader, and point into the object.
func TestViews(t *testing.T) {
	t.Parallel()
	local := &v1beta1.ServicePlan{Spec: v1beta1.ServicePlanSpec{ServiceBrokerName: "own", ServiceClassRef: v1beta1.LocalObjectReference{Name: "c"}}}
	plan, ok := catalog.PlanOf(local)
	require.True(t, ok)
	assert.Equal(t, "own", plan.Broker)
	assert.False(t, plan.ClusterBroker)
	assert.Equal(t, "c", plan.ClassName)
	plan.Spec.ExternalName = "small"
	assert.Equal(t, "small", local.Spec.ExternalName)
	assert.Equal(t, "small", plan.Title())

	copied := &v1beta1.ServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "kube"}, Spec: v1beta1.ServiceClassSpec{ClusterServiceBrokerName: "azure"}}
	class, ok := catalog.ClassOf(copied)
	require.True(t, ok)
	assert.Equal(t, "azure", class.Broker)
	assert.True(t, class.ClusterBroker, "a class copied into a namespace is offered by the cluster's broker")
	assert.Equal(t, "kube", class.Title(), "without an external name, that of the object")

	for _, object := range []client.Object{&v1beta1.ClusterServiceBroker{}, &v1beta1.ServiceBroker{}} {
		_, ok := catalog.BrokerOf(object)
		assert.True(t, ok)
	}
	for _, object := range []client.Object{&v1beta1.ClusterServiceType{}, &v1beta1.ServiceType{}} {
		_, ok := catalog.TypeOf(object)
		assert.True(t, ok)
	}
	_, ok = catalog.ClassOf(&corev1.Secret{})
	assert.False(t, ok)
	_, ok = catalog.PlanOf(&corev1.Secret{})
	assert.False(t, ok)
	_, ok = catalog.BrokerOf(&corev1.Secret{})
	assert.False(t, ok)
	_, ok = catalog.TypeOf(&corev1.Secret{})
	assert.False(t, ok)
}

// TestEntries: what package resolve is told is the object's, in either scope.
func TestEntries(t *testing.T) {
	t.Parallel()
	annotated := metav1.ObjectMeta{Namespace: "dev", Name: "p", Annotations: map[string]string{v1beta1.AnnotationDefaultPlan: "true"}}
	plan, _ := catalog.PlanOf(&v1beta1.ServicePlan{ObjectMeta: annotated, Spec: v1beta1.ServicePlanSpec{ServiceClassRef: v1beta1.LocalObjectReference{Name: "c"}}})
	entry := plan.PlanEntry()
	assert.Equal(t, []string{"dev", "p", "c"}, []string{entry.Namespace, entry.Name, entry.Class})
	assert.True(t, entry.Default)
	class, _ := catalog.ClassOf(&v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
	assert.Equal(t, "c", class.ClassEntry().Name)
	for namespace, object := range map[string]client.Object{
		"":    &v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "mysql"}, Spec: v1beta1.ServiceTypeSpec{DefaultPlanRef: &v1beta1.PlanObjectReference{Name: "p"}}},
		"dev": &v1beta1.ServiceType{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mysql"}, Spec: v1beta1.ServiceTypeSpec{DefaultPlanRef: &v1beta1.PlanObjectReference{Name: "p"}}},
	} {
		serviceType, _ := catalog.TypeOf(object)
		record := serviceType.Record()
		assert.Equal(t, []string{"mysql", namespace, "p"}, []string{record.Type, record.Plan.Namespace, record.Plan.Name})
	}
}
