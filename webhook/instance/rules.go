package instance

import (
	"cmp"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// disagreement denies references that do not exist, or that disagree with the
// rest of spec. defined is the plan of now.plan, nil if it does not exist.
func (h *Handler) disagreement(spec *v1beta1.ServiceInstanceSpec, now references.Pair, defined *catalog.Definition) *review.Denial {
	seen := *spec
	if !h.Options.Gates.Enabled(options.ServiceTypes) {
		seen.ServiceType = ""
	}
	denied := references.Disagrees(&seen, now, defined)
	if denied == nil {
		return nil
	}
	return denied.Ways(suggest.WhatThereIs, suggest.Plans(cmp.Or(now.Plan.Namespace, now.Class.Namespace)))
}

// classChange refuses another class than the decided one.
func classChange(was, now string) *review.Denial {
	return review.Invalid("ClassChange", "spec", "the class cannot change from %q to %q once it is decided", was, now).
		Remedy("create another instance of the other class")
}

// planFixed refuses to leave the plan d for another of its class. The plan that
// the instance has says whether, and where it says nothing, or is absent (d is
// nil), the class.
func planFixed(d, now *catalog.Definition) *review.Denial {
	who, updatable := fmt.Sprintf("class %q", cmp.Or(now.Class.ExternalName, now.Class.Name)), now.ClassSpec.PlanUpdatable
	if d != nil && d.PlanSpec.PlanUpdatable != nil {
		who, updatable = "plan "+d.Title(), *d.PlanSpec.PlanUpdatable
	}
	if updatable {
		return nil
	}
	return review.Invalid("PlanNotUpdatable", "spec", "%s does not allow an instance to change its plan", who).
		Remedy("create another instance with plan %s", now.Title())
}
