package instance

import (
	"context"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A PlanCheck validates an instance against the plan that it is decided on: its references, the
// policies, the limits and the plan's schemas.
type PlanCheck struct {
	Tools *decision.Tools
	Write *Write
	// Was and Now are the references before and after the write.
	Was, Now references.Pair
	// Waited says that the instance is for a claim that was admitted undecided
	// before.
	Waited bool
	// Parameters are those of the new object, decoded at most once.
	Parameters func() (map[string]any, error)
}

// A Checked is what a PlanCheck found.
type Checked struct {
	review.Result

	// Defined is the plan that the instance is decided on, nil before that or if
	// it is gone.
	Defined *catalog.Definition
}

// Run holds the instance against what the cache has, and before a denial against what the API
// server has: the cache may be stale.
func (c *PlanCheck) Run(ctx context.Context) (Checked, error) {
	plans, rules := c.Tools.Resolver.Catalog, c.Tools.Policies
	checked, err := c.against(ctx, view{plans.Define, plans.InForce, rules.Refusal, rules.Full})
	if err != nil || checked.Denied == nil || !c.Tools.Resolver.MayConfirm(c.Write.Req.Namespace, checked.Denied) {
		return checked, err
	}
	return c.against(ctx, view{plans.DefineLive, plans.InForceLive, rules.ConfirmedRefusal, rules.FullLive})
}

// A view is how plans, policies and their slots are read: from the cache, or live.
type view struct {
	define  func(context.Context, resolve.Ref) (*catalog.Definition, error)
	inForce func(context.Context, resolve.Ref, string) (*catalog.Definition, error)
	policy  func(context.Context, *policy.Target, string) (*policy.Refusal, error)
	full    func(context.Context, *policies.Want) (*quota.Shortage, error)
}

// against holds the instance against what one view shows, up to the first denial.
func (c *PlanCheck) against(ctx context.Context, seen view) (checked Checked, err error) {
	checked.Rule = review.RuleNone
	if c.Now.Plan.Name != "" {
		if checked.Defined, err = seen.define(ctx, c.Now.Plan); err != nil {
			return checked, err
		}
		checked.Chosen = c.Now.Plan
	}
	names := referenceCheck{write: c.Write, was: c.Was, now: c.Now, gates: c.Tools.Options.Gates, seen: seen, defined: checked.Defined}
	if checked.Denied, err = names.refuse(ctx); err != nil || checked.Denied != nil || checked.Defined == nil {
		return checked, err
	}
	if c.Now.Plan != c.Was.Plan {
		if checked.Denied, err = c.refusePolicies(ctx, seen, checked.Defined); err != nil || checked.Denied != nil {
			return checked, err
		}
		if checked.Denied, err = c.refuseQuota(ctx, seen, checked.Defined); err != nil || checked.Denied != nil {
			return checked, err
		}
	}
	sent := schemaCheck{schemas: c.Tools.Schemas, write: c.Write, defined: checked.Defined, moved: c.Was != c.Now}
	checked.Denied, err = sent.refuse(ctx, &checked.Result, c.Parameters)
	return checked, err
}
