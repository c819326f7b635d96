package offering

import (
	"context"
	"slices"

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
	review.WarnInTime(ctx, func(ctx context.Context) error { return c.warnOfMoves(ctx, before, after, decided) })
}

func (c *defaultChange) warnOfMoves(ctx context.Context, before, after standing, decided *review.Result) error {
	found, err := c.at.OfType(ctx, c.was)
	if err != nil {
		return err
	}
	if before.kept {
		found.Records = []resolve.Record{{Type: c.was, Plan: before.plan}}
	}
	for i := range found.Plans {
		found.Plans[i].Suggested = false
	}
	held := holders(resolve.Request{Namespace: c.at.Namespace, Type: c.was}, found.Catalog)
	for i := range c.plans {
		if plan := &c.plans[i]; len(held.by) == 1 && held.by[0].Plan == plan.Ref {
			c.warnOfMove(plan, held.by[0], found.Plans, after, decided)
		}
	}
	return nil
}

// warnOfMove words the consequences for a plan that was the default of its
// type, and for that type.
func (c *defaultChange) warnOfMove(plan *turn, holder resolve.Candidate, ofType []resolve.PlanEntry, after standing, decided *review.Result) {
	in := v1beta1.PerScope(c.at.Namespace, "", " in namespace "+c.at.Namespace)
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
