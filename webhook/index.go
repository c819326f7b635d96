package webhook

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// indexAnnotatedType is the type of plans that are annotated as its default. It
// is the cache's own: the API server does not select by annotation.
const indexAnnotatedType = "defaultplan/annotated-type"

// indexExternalName is the class and external name of plans, as in class/plan:
// no name of a class holds a slash. It too is the cache's own.
const indexExternalName = "defaultplan/external-name"

// The catalog's indexes carry the names of the CRDs' selectable fields, so that
// one query serves the cache and the API server.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		object client.Object
		field  string
		value  client.IndexerFunc
	}{
		{&v1beta1.ClusterServiceClass{}, v1beta1.FieldServiceType, classField(func(s *v1beta1.CommonServiceClassSpec) string { return s.ServiceType })},
		{&v1beta1.ClusterServiceClass{}, v1beta1.FieldExternalName, classField(func(s *v1beta1.CommonServiceClassSpec) string { return s.ExternalName })},
		{&v1beta1.ClusterServiceClass{}, v1beta1.FieldExternalID, classField(func(s *v1beta1.CommonServiceClassSpec) string { return s.ExternalID })},
		{&v1beta1.ServiceClass{}, v1beta1.FieldServiceType, classField(func(s *v1beta1.CommonServiceClassSpec) string { return s.ServiceType })},
		{&v1beta1.ServiceClass{}, v1beta1.FieldExternalName, classField(func(s *v1beta1.CommonServiceClassSpec) string { return s.ExternalName })},
		{&v1beta1.ServiceClass{}, v1beta1.FieldExternalID, classField(func(s *v1beta1.CommonServiceClassSpec) string { return s.ExternalID })},
		{&v1beta1.ClusterServicePlan{}, v1beta1.FieldServiceType, planField(planType)},
		{&v1beta1.ClusterServicePlan{}, v1beta1.FieldClusterServiceClassRefName, planField(planClass)},
		{&v1beta1.ClusterServicePlan{}, indexAnnotatedType, annotatedType},
		{&v1beta1.ClusterServicePlan{}, indexExternalName, planField(planTitleKey)},
		{&v1beta1.ServicePlan{}, v1beta1.FieldServiceType, planField(planType)},
		{&v1beta1.ServicePlan{}, v1beta1.FieldServiceClassRefName, planField(planClass)},
		{&v1beta1.ServicePlan{}, indexExternalName, planField(planTitleKey)},
		{&v1beta1.ServiceBinding{}, indexSecretName, secretNameOf},
		{&v1beta1.ServiceBinding{}, indexServiceName, serviceNameOf},
		{&v1beta1.ServiceBinding{}, indexOwnInstance, ownInstanceOf},
	} {
		if err := indexer.IndexField(ctx, index.object, index.field, index.value); err != nil {
			return fmt.Errorf("cannot index %T by %q: %w", index.object, index.field, err)
		}
	}
	return nil
}

func classField(value func(*v1beta1.CommonServiceClassSpec) string) client.IndexerFunc {
	return func(object client.Object) []string {
		switch class := object.(type) {
		case *v1beta1.ClusterServiceClass:
			return unlessEmpty(value(&class.Spec.CommonServiceClassSpec))
		case *v1beta1.ServiceClass:
			return unlessEmpty(value(&class.Spec.CommonServiceClassSpec))
		}
		return nil
	}
}

// A planView is what is indexed of a plan of either scope.
type planView struct {
	spec  *v1beta1.CommonServicePlanSpec
	class string
}

func viewPlan(object client.Object) planView {
	switch plan := object.(type) {
	case *v1beta1.ClusterServicePlan:
		return planView{&plan.Spec.CommonServicePlanSpec, plan.Spec.ClusterServiceClassRef.Name}
	case *v1beta1.ServicePlan:
		return planView{&plan.Spec.CommonServicePlanSpec, plan.Spec.ServiceClassRef.Name}
	}
	return planView{spec: &v1beta1.CommonServicePlanSpec{}}
}

func planField(value func(planView) string) client.IndexerFunc {
	return func(object client.Object) []string { return unlessEmpty(value(viewPlan(object))) }
}

func planType(plan planView) string     { return plan.spec.ServiceType }
func planClass(plan planView) string    { return plan.class }
func planTitleKey(plan planView) string { return plan.class + "/" + plan.spec.ExternalName }

func annotatedType(object client.Object) []string {
	if object.GetAnnotations()[v1beta1.AnnotationDefaultPlan] != "true" {
		return nil
	}
	return unlessEmpty(planType(viewPlan(object)))
}

func unlessEmpty(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
