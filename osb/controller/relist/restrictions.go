package relist

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// Restrictions say which classes and plans of a catalog are applied; nil: all.
type Restrictions struct{ classes, plans []labels.Selector }

// ParseRestrictions parses the restrictions of a broker's spec; nil if there
// are none. It fails on an invalid label selector, naming it: ignoring it would
// apply more than allowed.
func ParseRestrictions(spec *api.CatalogRestrictions) (*Restrictions, error) {
	if spec == nil {
		return nil, nil
	}
	classes, err := parseSelectors("serviceClass", spec.ServiceClass)
	if err != nil {
		return nil, err
	}
	plans, err := parseSelectors("servicePlan", spec.ServicePlan)
	return &Restrictions{classes, plans}, err
}

func parseSelectors(field string, texts []string) ([]labels.Selector, error) {
	var selectors []labels.Selector
	for i, text := range texts {
		selector, err := labels.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("cannot parse spec.catalogRestrictions.%s[%d]: %w", field, i, err)
		}
		selectors = append(selectors, selector)
	}
	return selectors, nil
}

// The values of properties are compared as they are: they need not be valid
// labels.

func (r *Restrictions) classTaken(class *Object, name string) bool {
	return r == nil || allMatch(r.classes, labels.Set{
		"name": class.Name, "spec.externalName": name, "spec.externalID": class.ExternalID,
	})
}

func (r *Restrictions) planTaken(plan *Object, name string, free bool) bool {
	if r == nil || len(r.plans) == 0 {
		return true
	}
	class := api.PerScope(plan.Namespace, "spec.clusterServiceClass.name", "spec.serviceClass.name")
	return allMatch(r.plans, labels.Set{
		"name": plan.Name, "spec.externalName": name, "spec.externalID": plan.ExternalID,
		"spec.free": strconv.FormatBool(free), class: plan.Class,
	})
}

func allMatch(selectors []labels.Selector, properties labels.Set) bool {
	for _, selector := range selectors {
		if !selector.Matches(properties) {
			return false
		}
	}
	return true
}
