package importing

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// TestSameJSON: it is compared as values, to the last digit.
func TestSameJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, a, b string
		want         bool
	}{
		"Absent": {"none asks for anything", "", `{}`, true},
		"Null":   {"nor does null", "", `null`, true},
		"Order":  {"an object has no order", `{"a":1,"b":2}`, `{ "b": 2, "a": 1 }`, true},
		"Digits": {"numbers are not rounded", `{"a":12345678901234567890}`, `{"a":12345678901234567891}`, false},
		"Nested": {"an empty object within is a value", `{"a":{}}`, `{}`, false},
		"List":   {"a list has an order", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
	} {
		assert.Equal(t, tc.want, sameJSON(&runtime.RawExtension{Raw: []byte(tc.a)}, &runtime.RawExtension{Raw: []byte(tc.b)}), "%s: %s", name, tc.reason)
	}
	assert.True(t, sameJSON(nil, &runtime.RawExtension{Raw: []byte(`{}`)}))
}

// TestDifferences: each field that is compared is named where it differs, and no other is.
func TestDifferences(t *testing.T) {
	t.Parallel()
	from := []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "more", Key: "json"}}}
	for name, tc := range map[string]struct {
		edit func(*v1beta1.ServiceInstance)
		want []string
	}{
		"Same":           {func(i *v1beta1.ServiceInstance) { i.Labels = map[string]string{"a": "b"} }, nil},
		"ID":             {func(i *v1beta1.ServiceInstance) { i.Status.ExternalID = "other" }, []string{"spec.externalID"}},
		"Plan":           {func(i *v1beta1.ServiceInstance) { i.Spec.ClusterServicePlanRef.Name = "other" }, []string{"its class and plan"}},
		"Parameters":     {func(i *v1beta1.ServiceInstance) { i.Spec.Parameters = nil }, []string{"spec.parameters"}},
		"ParametersFrom": {func(i *v1beta1.ServiceInstance) { i.Spec.ParametersFrom = from }, []string{"spec.parametersFrom"}},
	} {
		has := instance("db")
		tc.edit(has)
		assert.Equal(t, tc.want, differences(has, instance("db")), name)
	}
	for name, tc := range map[string]struct {
		edit func(*v1beta1.ServiceBinding)
		want []string
	}{
		"Same":           {func(b *v1beta1.ServiceBinding) { b.Spec.SecretName, b.Spec.InstanceRef.Namespace = "app", "shop" }, nil},
		"ID":             {func(b *v1beta1.ServiceBinding) { b.Spec.ExternalID = "other" }, []string{"spec.externalID"}},
		"Instance":       {func(b *v1beta1.ServiceBinding) { b.Spec.InstanceRef.Namespace = "dev" }, []string{"spec.instanceRef"}},
		"Secret":         {func(b *v1beta1.ServiceBinding) { b.Spec.SecretName = "other" }, []string{"spec.secretName"}},
		"Parameters":     {func(b *v1beta1.ServiceBinding) { b.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"a":1}`)} }, []string{"spec.parameters"}},
		"ParametersFrom": {func(b *v1beta1.ServiceBinding) { b.Spec.ParametersFrom = from }, []string{"spec.parametersFrom"}},
		"Transforms":     {func(b *v1beta1.ServiceBinding) { b.Spec.SecretTransforms = []v1beta1.SecretTransform{{}} }, []string{"spec.secretTransforms"}},
	} {
		has := binding("app", "db")
		tc.edit(has)
		assert.Equal(t, tc.want, differences(has, binding("app", "db")), name)
	}
}

// TestPick: of copies of one ID, that of the name, else the broker's own.
func TestPick(t *testing.T) {
	t.Parallel()
	class := func(name string, owned bool) catalog.Class {
		object := &v1beta1.ClusterServiceClass{ObjectMeta: meta("", name)}
		if owned {
			object.OwnerReferences = []metav1.OwnerReference{{Kind: "ClusterServiceBroker", Controller: new(true)}}
		}
		return catalog.Class{View: catalog.View[v1beta1.ClassObject]{Object: object}, Spec: &object.Spec.CommonServiceClassSpec}
	}
	all := []catalog.Class{class("copy", false), class("own", true), class("other", false)}
	for name, want := range map[string]string{"other": "other", "copy": "copy", "gone": "own"} {
		assert.Equal(t, want, pick(all, name).Object.GetName(), name)
	}
	assert.Equal(t, "copy", pick(all[:1], "gone").Object.GetName(), "there is no other")
	assert.Nil(t, pick(all[:0], "gone"))
}

// TestWanted: an instance asks for a type only where its plan has it here, and has nothing that
// counts for the old side alone.
func TestWanted(t *testing.T) {
	t.Parallel()
	step := &instanceStep{side: &side{names: &moving.Names{}}}
	for has, want := range map[string]string{"": "mysql", "mysql": "mysql", "mariadb": ""} {
		class, plan := offering("azure", "-here", false)
		class.Spec.ServiceType = has
		found := offer{
			class: &catalog.Class{View: catalog.View[v1beta1.ClassObject]{Object: class}, Spec: &class.Spec.CommonServiceClassSpec},
			plan:  &catalog.Plan{View: catalog.View[v1beta1.PlanObject]{Object: plan}, Spec: &plan.Spec.CommonServicePlanSpec},
		}
		exported := instance("db")
		exported.Spec.ServiceType, exported.UID, exported.Generation = "mysql", "uid", 7
		exported.Annotations = map[string]string{v1beta1.AnnotationDeprovisionAdopted: "true", "team": "shop"}
		exported.OwnerReferences = []metav1.OwnerReference{{UID: "old"}}
		wanted := step.wanted(exported, found)
		assert.Equal(t, want, wanted.Spec.ServiceType, "the plan is of type %q", has)
		assert.Equal(t, metav1.ObjectMeta{Namespace: "shop", Name: "db", Annotations: map[string]string{"team": "shop"}}, wanted.ObjectMeta, "the old side has the duty to deprovision")
		assert.Empty(t, wanted.Status)
	}
}
