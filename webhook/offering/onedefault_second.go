package offering

import (
	"context"
	"errors"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// second denies the plan if there is another default.
func (c *defaultChange) second(ctx context.Context, plan *turn, after standing) (*review.Denial, error) {
	if c.now == "" {
		return c.secondOfClass(ctx, plan)
	}
	if after.believed && after.names(plan) {
		return nil, nil
	}
	found, err := c.at.OfType(ctx, c.now)
	if err != nil {
		return nil, err
	}
	if after.kept {
		found.Records = []resolve.Record{{Type: c.now, Plan: after.plan}}
	}
	held := holders(resolve.Request{Namespace: c.at.Namespace, Type: c.now}, c.without(plan, found))
	if len(held.by) == 0 {
		return nil, nil
	}
	return c.refuseSecond(plan, after, held), nil
}

// without is the catalog of found after the write, without the plan itself.
// Suggestions do not count.
func (c *defaultChange) without(plan *turn, found catalog.Slice) resolve.Catalog {
	after := resolve.Catalog{Records: found.Records}
	changing := map[resolve.Ref]bool{}
	for i := range c.plans {
		changing[c.plans[i].Ref] = true
		if c.plans[i].Ref != plan.Ref {
			after.Plans = append(after.Plans, c.plans[i].PlanEntry)
		}
	}
	for _, other := range found.Plans {
		if !changing[other.Ref] {
			after.Plans = append(after.Plans, other)
		}
	}
	for i := range after.Plans {
		after.Plans[i].Suggested = false
	}
	if c.class.Name != "" {
		after.Classes = append(after.Classes, c.class)
	}
	for _, class := range found.Classes {
		if class.Ref != c.class.Ref {
			after.Classes = append(after.Classes, class)
		}
	}
	return after
}

// A holding is the current default of a type.
type holding struct {
	// by is one plan, or several that are annotated if none is recorded.
	by []resolve.Candidate
	// recorded and annotated say what makes it the default: one, or both.
	recorded, annotated bool
}

// holders are the plans that resolve accepts as the default of req's type.
func holders(req resolve.Request, catalog resolve.Catalog) holding {
	choice, err := resolve.Plan(req, catalog)
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		if refused.Reason == resolve.Ambiguous {
			return holding{by: refused.Candidates, annotated: true}
		}
		return holding{}
	}
	held := holding{recorded: choice.Recorded, annotated: choice.Plan.Default}
	for _, candidate := range choice.Candidates() {
		if candidate.Plan == choice.Plan.Ref {
			held.by = append(held.by, candidate)
		}
	}
	return held
}

// secondOfClass denies a plan without a type if another of its class is the
// class's default, even if the class does not exist yet.
func (c *defaultChange) secondOfClass(ctx context.Context, plan *turn) (*review.Denial, error) {
	if c.class.Gone != "" {
		return nil, nil
	}
	found, err := c.at.PlansOf(ctx, plan.Class)
	if err != nil {
		return nil, err
	}
	for _, other := range c.without(plan, found).Plans {
		if other.Default && other.Type == "" && other.Gone == "" {
			return c.refuseSecondOfClass(other), nil
		}
	}
	return nil, nil
}
