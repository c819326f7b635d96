package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

func TestClassAndPlan(t *testing.T) {
	t.Parallel()
	refs := v1beta1.DecidedReference{
		ClusterServiceClassRef: &v1beta1.ClusterObjectReference{Name: "class-id"}, ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: "plan-id"},
	}
	record := `{"rule":"cluster-default","class":"azure-mysql","plan":"premium-p1"}`
	cases := map[string]struct {
		reason      string
		spec        v1beta1.ServiceInstanceSpec
		record      string
		class, plan string
	}{
		"Undecided":  {reason: "nothing is known"},
		"ByType":     {reason: "as admission recorded", spec: v1beta1.ServiceInstanceSpec{DecidedReference: refs}, record: record, class: "azure-mysql", plan: "premium-p1"},
		"NoRecord":   {reason: "by reference at least", spec: v1beta1.ServiceInstanceSpec{DecidedReference: refs}, record: "no JSON", class: "class-id", plan: "plan-id"},
		"Named":      {reason: "names that were changed since win", spec: v1beta1.ServiceInstanceSpec{DecidedReference: refs, PlanReference: v1beta1.PlanReference{ClusterServicePlanExternalName: "small"}}, record: record, class: "azure-mysql", plan: "small"},
		"NamedByID":  {reason: "the record may be of a plan before", spec: v1beta1.ServiceInstanceSpec{DecidedReference: refs, PlanReference: v1beta1.PlanReference{ClusterServicePlanExternalID: "x"}}, record: record, class: "azure-mysql", plan: "plan-id"},
		"OnlyNamed":  {reason: "not decided: as the user named them", spec: v1beta1.ServiceInstanceSpec{PlanReference: v1beta1.PlanReference{ServiceClassName: "c", ServicePlanExternalID: "p"}}, class: "c", plan: "p"},
		"Namespaced": {reason: "references of a namespace count alike", spec: v1beta1.ServiceInstanceSpec{DecidedReference: v1beta1.DecidedReference{ServiceClassRef: &v1beta1.LocalObjectReference{Name: "c"}, ServicePlanRef: &v1beta1.LocalObjectReference{Name: "p"}}}, class: "c", plan: "p"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			instance := &v1beta1.ServiceInstance{Spec: tc.spec}
			instance.Annotations = map[string]string{v1beta1.AnnotationAppliedDefaults: tc.record}
			class, plan := ClassAndPlan(instance)
			assert.Equal(t, tc.class, class, tc.reason)
			assert.Equal(t, tc.plan, plan, tc.reason)
		})
	}
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	plan, ok := PlanOf(&v1beta1.ServicePlan{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{v1beta1.LabelAttributePrefix + "Memory": "16Gi", v1beta1.LabelAttributePrefix + "Cores": "4", "other": "x"},
		Annotations: map[string]string{v1beta1.AnnotationAttributePrefix + "Backup": "every day", "other": "x"},
	}})
	require.True(t, ok)
	assert.Equal(t, "Backup=every day, Cores=4, Memory=16Gi", plan.Attributes(), "labels, and annotations for what no label may hold")
}

func TestBrokerURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://broker.example": "https://broker.example", "https://me:secret@broker.example/x": "https://xxxxx@broker.example/x",
		"https://token@broker.example": "https://xxxxx@broker.example", "https://me:sec%ret@broker.example": "(not a URL)",
		"https://dG9r/ZW4=@broker.example": "(hidden: it may hold a password)", "https://broker.example/?token=secret": "(hidden: it may hold a password)",
		"https://broker.example#secret": "(hidden: it may hold a password)", "mailto:secret@broker.example": "(hidden: it may hold a password)",
	} {
		broker, ok := BrokerOf(&v1beta1.ServiceBroker{Spec: v1beta1.ServiceBrokerSpec{CommonServiceBrokerSpec: v1beta1.CommonServiceBrokerSpec{URL: given}}})
		require.True(t, ok)
		assert.Equal(t, want, broker.URL())
	}
}

// TestDecidedRefs: a reference to the cluster without a name is none.
func TestDecidedRefs(t *testing.T) {
	t.Parallel()
	class, plan := DecidedRefs(&v1beta1.DecidedReference{
		ClusterServiceClassRef: &v1beta1.ClusterObjectReference{}, ClusterServicePlanRef: &v1beta1.ClusterObjectReference{},
		ServiceClassRef: &v1beta1.LocalObjectReference{Name: "c"}, ServicePlanRef: &v1beta1.LocalObjectReference{Name: "p"},
	}, "dev")
	assert.Equal(t, resolve.Ref{Namespace: "dev", Name: "c"}, class)
	assert.Equal(t, resolve.Ref{Namespace: "dev", Name: "p"}, plan)
	class, plan = DecidedRefs(&v1beta1.DecidedReference{ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: "p"}}, "dev")
	assert.Equal(t, resolve.Ref{}, class)
	assert.Equal(t, resolve.Ref{Name: "p"}, plan)
}
