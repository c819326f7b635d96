package offering

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// The properties of classes and plans that a broker's catalog can be restricted by,
// sorted. The property that is a plan's class is called after the scope.
var (
	classProperties          = []string{"name", "spec.externalID", "spec.externalName"}
	clusterPlanProperties    = []string{"name", "spec.clusterServiceClass.name", "spec.externalID", "spec.externalName", "spec.free"}
	namespacedPlanProperties = []string{"name", "spec.externalID", "spec.externalName", "spec.free", "spec.serviceClass.name"}
)

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
	planProperties := clusterPlanProperties
	if namespace != "" {
		planProperties = namespacedPlanProperties
	}
	denied := restrictionUnknown("spec.catalogRestrictions.serviceClass", before.ServiceClass, now.ServiceClass, classProperties)
	return denied.Also(restrictionUnknown("spec.catalogRestrictions.servicePlan", before.ServicePlan, now.ServicePlan, planProperties))
}

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
