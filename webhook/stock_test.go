package webhook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

// founded is when the classes of a stock were created; envs begin an hour later.
var founded = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// A stock is a catalog as the API server has it.
type stock struct {
	tb      testing.TB
	objects []client.Object
}

// stocked reads a stock from the text of resolvetest.Catalog. What was created first comes first.
func stocked(tb testing.TB, text string, edits ...func(*stock)) *stock {
	tb.Helper()
	return stockOf(tb, resolvetest.Catalog(tb, text), edits...)
}

func stockOf(tb testing.TB, cat resolve.Catalog, edits ...func(*stock)) *stock {
	tb.Helper()
	s := &stock{tb: tb}
	for i := range cat.Classes {
		s.objects = append(s.objects, classObject(&cat.Classes[i]))
	}
	for i := range cat.Plans {
		s.objects = append(s.objects, planObject(&cat.Plans[i]))
	}
	for _, record := range cat.Records {
		s.objects = append(s.objects, recordObject(record))
	}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func classObject(class *resolve.ClassEntry) client.Object {
	meta := metaOf(class.Ref, "uid-class-"+class.Namespace+"-"+class.Name, class.Labels, class.Gone)
	spec := v1beta1.CommonServiceClassSpec{ExternalName: class.ExternalName, ExternalID: class.ExternalID, ServiceType: class.Type, PlanUpdatable: true}
	if class.Namespace == "" {
		return &v1beta1.ClusterServiceClass{ObjectMeta: meta, Spec: v1beta1.ClusterServiceClassSpec{CommonServiceClassSpec: spec}}
	}
	return &v1beta1.ServiceClass{ObjectMeta: meta, Spec: v1beta1.ServiceClassSpec{CommonServiceClassSpec: spec}}
}

func planObject(plan *resolve.PlanEntry) client.Object {
	meta := metaOf(plan.Ref, plan.UID, plan.Labels, plan.Gone)
	if plan.Default {
		meta.Annotations = map[string]string{v1beta1.AnnotationDefaultPlan: "true"}
	}
	if plan.Suggested {
		meta.Annotations = map[string]string{v1beta1.AnnotationSuggestedPlan: "true"}
	}
	spec := v1beta1.CommonServicePlanSpec{ExternalName: plan.ExternalName, ExternalID: plan.ExternalID, ServiceType: plan.Type, Weight: plan.Weight}
	if plan.Namespace == "" {
		return &v1beta1.ClusterServicePlan{ObjectMeta: meta, Spec: v1beta1.ClusterServicePlanSpec{
			CommonServicePlanSpec: spec, ClusterServiceClassRef: v1beta1.ClusterObjectReference{Name: plan.Class},
		}}
	}
	return &v1beta1.ServicePlan{ObjectMeta: meta, Spec: v1beta1.ServicePlanSpec{
		CommonServicePlanSpec: spec, ServiceClassRef: v1beta1.LocalObjectReference{Name: plan.Class},
	}}
}

func recordObject(record resolve.Record) client.Object {
	meta := metav1.ObjectMeta{Namespace: record.Plan.Namespace, Name: record.Type}
	spec := v1beta1.ServiceTypeSpec{DefaultPlanRef: &v1beta1.PlanObjectReference{Name: record.Plan.Name}}
	if record.Plan.Namespace == "" {
		return &v1beta1.ClusterServiceType{ObjectMeta: meta, Spec: spec}
	}
	return &v1beta1.ServiceType{ObjectMeta: meta, Spec: spec}
}

func metaOf(ref resolve.Ref, uid string, labels map[string]string, gone string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{
		Namespace: ref.Namespace, Name: ref.Name, UID: types.UID(uid), Labels: labels, CreationTimestamp: metav1.NewTime(founded),
	}
	if gone != "" {
		meta.DeletionTimestamp, meta.Finalizers = &metav1.Time{Time: founded}, []string{"example.org/hold"}
	}
	return meta
}

// object is the object with that Kubernetes name, "namespace/name" if it has a namespace, for which want is true.
func (s *stock) object(name string, want func(client.Object) bool) client.Object {
	s.tb.Helper()
	for _, object := range s.objects {
		key := object.GetName()
		if object.GetNamespace() != "" {
			key = object.GetNamespace() + "/" + key
		}
		if key == name && want(object) {
			return object
		}
	}
	require.FailNow(s.tb, "the stock has no such object", name)
	return nil
}

// plan is the spec of a plan, to be edited.
func (s *stock) plan(name string) *v1beta1.CommonServicePlanSpec {
	s.tb.Helper()
	return planSpec(s.object(name, isPlan))
}

// class is the spec of a class, to be edited.
func (s *stock) class(name string) *v1beta1.CommonServiceClassSpec {
	s.tb.Helper()
	switch class := s.object(name, isClass).(type) {
	case *v1beta1.ClusterServiceClass:
		return &class.Spec.CommonServiceClassSpec
	case *v1beta1.ServiceClass:
		return &class.Spec.CommonServiceClassSpec
	}
	require.FailNow(s.tb, "not a class", name)
	return nil
}

func isPlan(object client.Object) bool {
	switch object.(type) {
	case *v1beta1.ClusterServicePlan, *v1beta1.ServicePlan:
		return true
	}
	return false
}

func isClass(object client.Object) bool {
	switch object.(type) {
	case *v1beta1.ClusterServiceClass, *v1beta1.ServiceClass:
		return true
	}
	return false
}

func planDefaults(plan, parameters string) func(*stock) {
	return func(s *stock) { s.plan(plan).DefaultProvisionParameters = rawExtension(parameters) }
}

func classDefaults(class, parameters string) func(*stock) {
	return func(s *stock) { s.class(class).DefaultProvisionParameters = rawExtension(parameters) }
}

func createSchemaOf(plan, schema string) func(*stock) {
	return func(s *stock) { s.plan(plan).InstanceCreateParameterSchema = rawExtension(schema) }
}

func updateSchemaOf(plan, schema string) func(*stock) {
	return func(s *stock) { s.plan(plan).InstanceUpdateParameterSchema = rawExtension(schema) }
}

func rawExtension(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }

// fixedPlans forbids every class to change plans.
func fixedPlans(s *stock) {
	for _, object := range s.objects {
		switch class := object.(type) {
		case *v1beta1.ClusterServiceClass:
			class.Spec.PlanUpdatable = false
		case *v1beta1.ServiceClass:
			class.Spec.PlanUpdatable = false
		}
	}
}

// largeDefaults gives defaults to every plan called large.
func largeDefaults(s *stock) {
	for _, object := range s.objects {
		if isPlan(object) && planSpec(object).ExternalName == "large" {
			planSpec(object).DefaultProvisionParameters = rawExtension(`{"size":"L"}`)
		}
	}
}

// planSpec is the spec of a plan, and one that leads nowhere of any other object.
func planSpec(object client.Object) *v1beta1.CommonServicePlanSpec {
	if plan, ok := object.(v1beta1.PlanObject); ok {
		return plan.GetSpec()
	}
	return &v1beta1.CommonServicePlanSpec{}
}
