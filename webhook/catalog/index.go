package catalog

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// indexAnnotated is the type of plans that are annotated as its default or as suggested, or
// their class where they have its type. It is the cache's own: the API server does not select
// by annotation.
const indexAnnotated = "defaultplan/annotated"

// indexExternalName is the class and external name of plans, as in class/plan:
// no name of a class holds a slash. It too is the cache's own.
const indexExternalName = "defaultplan/external-name"

// AddIndexes adds the indexes by which the cache is searched for classes and plans. They carry
// the names of the CRDs' selectable fields, so that one query serves the cache and the API
// server.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
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
		{&v1beta1.ClusterServicePlan{}, v1beta1.FieldClusterServiceClassRefName, planField(v1beta1.PlanObject.GetClassName)},
		{&v1beta1.ClusterServicePlan{}, v1beta1.FieldExternalID, planField(planExternalID)},
		{&v1beta1.ClusterServicePlan{}, indexAnnotated, planField(annotatedOf)},
		{&v1beta1.ClusterServicePlan{}, indexExternalName, planField(planTitleKey)},
		{&v1beta1.ServicePlan{}, v1beta1.FieldServiceType, planField(planType)},
		{&v1beta1.ServicePlan{}, v1beta1.FieldServiceClassRefName, planField(v1beta1.PlanObject.GetClassName)},
		{&v1beta1.ServicePlan{}, v1beta1.FieldExternalID, planField(planExternalID)},
		{&v1beta1.ServicePlan{}, indexAnnotated, planField(annotatedOf)},
		{&v1beta1.ServicePlan{}, indexExternalName, planField(planTitleKey)},
	} {
		if err := indexer.IndexField(ctx, index.object, index.field, index.value); err != nil {
			return fmt.Errorf("cannot index %T by %q: %w", index.object, index.field, err)
		}
	}
	return nil
}

func classField(value func(*v1beta1.CommonServiceClassSpec) string) client.IndexerFunc {
	return func(object client.Object) []string {
		if class, ok := object.(v1beta1.ClassObject); ok {
			return unlessEmpty(value(class.GetSpec()))
		}
		return nil
	}
}

func planField(value func(v1beta1.PlanObject) string) client.IndexerFunc {
	return func(object client.Object) []string {
		if plan, ok := object.(v1beta1.PlanObject); ok {
			return unlessEmpty(value(plan))
		}
		return nil
	}
}

func planExternalID(plan v1beta1.PlanObject) string { return plan.GetSpec().ExternalID }

func planType(plan v1beta1.PlanObject) string { return plan.GetSpec().ServiceType }

func planTitleKey(plan v1beta1.PlanObject) string {
	return plan.GetClassName() + "/" + plan.GetSpec().ExternalName
}

// annotatedOf is the value of indexAnnotated for a plan.
func annotatedOf(plan v1beta1.PlanObject) string {
	annotations := plan.GetAnnotations()
	if annotations[v1beta1.AnnotationDefaultPlan] != "true" && annotations[v1beta1.AnnotationSuggestedPlan] != "true" {
		return ""
	}
	if serviceType := planType(plan); serviceType != "" {
		return annotatedOfType(serviceType)
	}
	return annotatedOfClass(plan.GetClassName())
}

func annotatedOfType(serviceType string) string { return "type/" + serviceType }

func annotatedOfClass(class string) string { return "class/" + class }

func unlessEmpty(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}
