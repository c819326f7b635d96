package webhook

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// tellMove warns that the write gives the default of a type another type, so
// that the former type loses its default. What cannot be read in time causes no
// warning, and never an error.
func (c *defaultChange) tellMove(ctx context.Context, before, after standing, decided *review.Result) {
	if c.was == c.now || !slices.ContainsFunc(c.plans, func(plan turn) bool { return c.leaves(&plan, before) }) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, warnTime)
	defer cancel()
	found, err := c.at.ofType(ctx, c.was)
	if err != nil {
		log.FromContext(ctx).V(1).Info("not all warnings could be given", "cause", err.Error())
		return
	}
	if before.kept {
		found.Records = []resolve.Record{{Type: c.was, Plan: before.plan}}
	}
	for i := range found.Plans {
		found.Plans[i].Suggested = false
	}
	held := holders(resolve.Request{Namespace: c.at.namespace, Type: c.was}, found.Catalog)
	for i := range c.plans {
		if plan := &c.plans[i]; len(held.by) == 1 && held.by[0].Plan == plan.Ref {
			c.warnOfMove(plan, held.by[0], found.Plans, after, decided)
		}
	}
}

// warnOfMove words the consequences for a plan that was the default of its
// type, and for that type.
func (c *defaultChange) warnOfMove(plan *turn, holder resolve.Candidate, ofType []resolve.PlanEntry, after standing, decided *review.Result) {
	in := ""
	if c.at.namespace != "" {
		in = " in namespace " + c.at.namespace
	}
	none, enters := ", which has none now", ""
	for _, other := range ofType {
		moves := slices.ContainsFunc(c.plans, func(moved turn) bool { return moved.Ref == other.Ref })
		if other.Default && other.Gone == "" && !moves {
			none = ""
		}
	}
	if c.now != "" && c.enters(plan, after) {
		enters = "; it is the default plan for " + c.now + in + " now"
	}
	decided.Warnf("%s/%s was the default plan for %s%s%s%s", holder.ClassName, holder.PlanName, c.was, in, none, enters)
}

// warnOfAnnotations warns of annotations that the write sets on the offering
// and that have no effect, although they look like ours.
func (v *offeringValidation) warnOfAnnotations() {
	for _, key := range []string{v1beta1.AnnotationDefaultPlan, v1beta1.AnnotationSuggestedPlan} {
		value := v.new.object.GetAnnotations()[key]
		if value == "" || value == "false" || value == v.old.object.GetAnnotations()[key] {
			continue
		}
		switch {
		case v.new.plan == nil:
			v.Warnf("metadata.annotations[%s] means nothing on a class: annotate one of its plans", key)
		case value != "true":
			v.Warnf("metadata.annotations[%s] means nothing: only \"true\" does, and it is %.32q", key, value)
		}
	}
}
