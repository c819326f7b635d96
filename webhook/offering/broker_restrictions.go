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

// mostRequirements bounds a restriction: each is asked of every class or plan of the catalog at every relist.
const mostRequirements = 16

func restrictionUnknown(field string, old, restrictions, properties []string) *review.Denial {
	var denied *review.Denial
	for i, restriction := range restrictions {
		if slices.Contains(old, restriction) {
			continue
		}
		at := fmt.Sprintf("%s[%d]", field, i)
		selector, err := labels.Parse(restriction)
		switch {
		case err != nil:
			denied = denied.Also(review.Invalid("InvalidRestriction", at, "it is not a label selector: %s", err.Error()))
			continue
		case selector.Empty():
			denied = denied.Also(review.Invalid("InvalidRestriction", at, "it is empty, and would restrict nothing"))
			continue
		}
		requirements, _ := selector.Requirements()
		if len(requirements) > mostRequirements {
			denied = denied.Also(review.Invalid("InvalidRestriction", at, "it has %d requirements: at most %d are allowed; a list in parentheses is one",
				len(requirements), mostRequirements))
			continue
		}
		for _, requirement := range requirements {
			if !slices.Contains(properties, requirement.Key()) {
				denied = denied.Also(review.Invalid("InvalidRestriction", at, "there is no property %q; it can be about %s",
					requirement.Key(), strings.Join(properties, ", ")))
			}
		}
	}
	if denied != nil {
		denied.Remedies = []string{`write it as in: "spec.externalName in (basic50, premium-p1)"`}
	}
	return denied
}
