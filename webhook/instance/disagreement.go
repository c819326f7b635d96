package instance

import (
	"cmp"

	"k8s.io/component-base/featuregate"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// disagreement denies references that do not exist, or that disagree with the
// rest of spec. defined is the plan of now.plan, nil if it does not exist.
func disagreement(spec *v1beta1.ServiceInstanceSpec, now references.Pair, defined *catalog.Definition, gates featuregate.FeatureGate) *review.Denial {
	seen := *spec
	if !gates.Enabled(options.ServiceTypes) {
		seen.ServiceType = ""
	}
	denied := references.Disagrees(&seen, now, defined)
	if denied == nil {
		return nil
	}
	return denied.Ways(suggest.WhatThereIs, suggest.Plans(cmp.Or(now.Plan.Namespace, now.Class.Namespace)))
}
