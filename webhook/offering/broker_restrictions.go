package offering

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// classProperties are those of classes that a broker's catalog can be restricted by.
var classProperties = []string{"name", "spec.externalID", "spec.externalName"}

// planProperties are those of plans, sorted. A plan's class is called after the scope.
func planProperties(namespace string) []string {
	properties := append(slices.Clip(classProperties), "spec.free", references.Field(namespace, "ServiceClass", ".name"))
	slices.Sort(properties)
	return properties
}

// restrictionsUnknown denies restrictions that the controller cannot apply:
// each must be a label selector whose requirements name known properties.
// Unchanged restrictions are not checked.
func restrictionsUnknown(old, spec *brokerSpec, namespace string) *review.Denial {
	if spec.CatalogRestrictions == nil {
		return nil
	}
	before, now := old.CatalogRestrictions, spec.CatalogRestrictions
	if before == nil {
		before = &v1beta1.CatalogRestrictions{}
	}
	denied := restrictionUnknown("spec.catalogRestrictions.serviceClass", before.ServiceClass, now.ServiceClass, classProperties)
	return denied.Also(restrictionUnknown("spec.catalogRestrictions.servicePlan", before.ServicePlan, now.ServicePlan, planProperties(namespace)))
}

// mostCompared bounds the restrictions of a list: requirements and their values, each of which every class or plan
// of the catalog is compared with at every relist.
const mostCompared = 1024

func restrictionUnknown(field string, old, restrictions, properties []string) *review.Denial {
	if slices.Equal(old, restrictions) {
		return nil
	}
	var denied *review.Denial
	compared := 0
	for i, restriction := range restrictions {
		at := fmt.Sprintf("%s[%d]", field, i)
		selector, err := labels.Parse(restriction)
		if err == nil {
			if compared += weight(selector); compared > mostCompared {
				denied = denied.Also(review.Invalid("InvalidRestriction", at,
					"with it, the list has %d requirements and values in sum: at most %d are allowed; remove some", compared, mostCompared))
				break
			}
		}
		if !slices.Contains(old, restriction) {
			denied = denied.Also(wrongRestriction(at, selector, err, properties))
		}
	}
	if denied != nil {
		denied.Remedies = []string{`write it as in: "spec.externalName in (basic50, premium-p1)"`}
	}
	return denied
}

// weight is how many requirements and values a selector has.
func weight(selector labels.Selector) int {
	requirements, _ := selector.Requirements()
	sum := len(requirements)
	for i := range requirements {
		sum += requirements[i].Values().Len()
	}
	return sum
}

// wrongRestriction denies a selector that cannot be parsed, which err says, is empty, or is about anything but the properties.
func wrongRestriction(at string, selector labels.Selector, err error, properties []string) *review.Denial {
	switch {
	case err != nil:
		return review.Invalid("InvalidRestriction", at, "it is not a label selector: %s", err.Error())
	case selector.Empty():
		return review.Invalid("InvalidRestriction", at, "it is empty, and would restrict nothing")
	}
	var denied *review.Denial
	requirements, _ := selector.Requirements()
	for _, requirement := range requirements {
		if !slices.Contains(properties, requirement.Key()) {
			denied = denied.Also(review.Invalid("InvalidRestriction", at, "there is no property %q; it can be about %s",
				requirement.Key(), strings.Join(properties, ", ")))
		}
	}
	return denied
}
