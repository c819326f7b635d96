package decision

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/component-base/featuregate"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A Resolver runs resolve.Plan: on the cache to allow, and on a live read
// before a denial.
type Resolver struct {
	Catalog  *catalog.Catalog
	policies *policies.Reader
	gates    featuregate.FeatureGate
	Confirms catalog.Limiter
}

// Resolve chooses the plan that req means. Before a denial it reads the
// candidates live, unless they were, because a plan may just have been applied.
func (r *Resolver) Resolve(ctx context.Context, req resolve.Request) (resolve.Choice, error) {
	if err := req.Validate(); err != nil {
		return resolve.Choice{}, fmt.Errorf("cannot choose a plan: %w", err)
	}
	choice, live, err := r.Catalog.Choose(ctx, req, r.see)
	var refused *resolve.Error
	if live || !errors.As(err, &refused) || saysRequestItself(refused.Reason) {
		return choice, err
	}
	if !r.Confirms.Allow(req.Namespace) {
		refused.Detail += catalog.Unconfirmed
		return choice, refused
	}
	return r.Catalog.Confirm(ctx, req, r.see)
}

// Refuse evaluates the policies for a choice; the error may be a *policies.RefusedError.
// A selector has skipped the plans that they deny.
func (r *Resolver) Refuse(ctx context.Context, req resolve.Request, choice *resolve.Choice) error {
	if req.Selector != nil && choice.Plan.Denied == "" {
		return nil
	}
	target := policy.TargetOf(choice.Class, choice.Plan)
	refused, err := r.Refusal(ctx, &target, req.Namespace)
	if err != nil {
		return fmt.Errorf("cannot hold the choice against the policies: %w", err)
	}
	if refused == nil {
		return nil
	}
	refused.Subject = planTitle(&choice.Class, &choice.Plan)
	return refused
}

// Refusal is the policies' denial of a target in a namespace, nil for none. It
// is confirmed by a live read, unless the namespace exceeds its rate.
func (r *Resolver) Refusal(ctx context.Context, target *policy.Target, namespace string) (*policies.RefusedError, error) {
	found, err := r.policies.Refusal(ctx, target, namespace)
	confirmed := err == nil && found != nil && r.Confirms.Allow(namespace)
	if confirmed {
		found, err = r.policies.Confirm(ctx, found, target, namespace)
	}
	if err != nil || found == nil {
		return nil, err
	}
	return &policies.RefusedError{Refusal: found, Namespace: namespace, Unconfirmed: !confirmed}, nil
}

// planTitle is a plan as denials call it.
func planTitle(class *resolve.ClassEntry, plan *resolve.PlanEntry) string {
	return "plan " + cmp.Or(class.ExternalName, class.Name) + "/" + cmp.Or(plan.ExternalName, plan.Name)
}

// MayConfirm says whether denied, which the cache led to, may be held against the
// API server. Where the namespace asks too often, denied says that it was not.
func (r *Resolver) MayConfirm(namespace string, denied *review.Denial) bool {
	if r.Confirms.Allow(namespace) {
		return true
	}
	denied.Causes[len(denied.Causes)-1].Message += catalog.Unconfirmed
	return false
}

// Confirmed calls refuse with the plan that the cache has, which is nil where there is none. Before
// a denial stands, the plan is read from the API server and refuse is called again. It returns the
// plan that was used last, and its denial if there is one.
func (r *Resolver) Confirmed(ctx context.Context, namespace string, defined *catalog.Definition, refuse func(*catalog.Definition) *review.Denial) (*catalog.Definition, *review.Denial, error) {
	denied := refuse(defined)
	if denied == nil || defined == nil || !r.MayConfirm(namespace, denied) {
		return defined, denied, nil
	}
	defined, err := r.Catalog.DefineLive(ctx, defined.Plan.Ref)
	if err != nil {
		return nil, nil, err
	}
	return defined, refuse(defined), nil
}

// saysRequestItself says that no state of the catalog would help.
func saysRequestItself(reason resolve.Reason) bool {
	return reason == resolve.NothingNamed || reason == resolve.InvalidReference || reason == resolve.InvalidSelector
}

// see is the filter by policies and feature gates.
func (r *Resolver) see(ctx context.Context, req *resolve.Request, found *catalog.Slice, toRefuse bool) error {
	r.closed(found)
	switch {
	case req.Selector != nil && toRefuse:
		rules, err := r.policies.ReadLive(ctx, policy.KindProvisioning)
		if err != nil {
			return err
		}
		return r.markDenied(ctx, found, func(*policy.Target) ([]policy.Rule, error) { return rules, nil }, r.policies.Place(ctx, req.Namespace, r.policies.Live))
	case req.Selector != nil, toRefuse:
		return r.markDenied(ctx, found, r.policies.Set.RulesFor, r.policies.Place(ctx, req.Namespace, r.policies.Cached, r.policies.Live))
	}
	return nil
}

// lookEvery is after how many plans a loop over them looks whether it is still waited for.
const lookEvery = 256

// markDenied marks the plans that policies keep from a place.
func (r *Resolver) markDenied(ctx context.Context, found *catalog.Slice, rulesFor func(*policy.Target) ([]policy.Rule, error), place func() (policy.Place, error)) error {
	classes := make(map[resolve.Ref]*resolve.ClassEntry, len(found.Classes))
	for i := range found.Classes {
		classes[found.Classes[i].Ref] = &found.Classes[i]
	}
	plans := make([]resolve.PlanEntry, len(found.Plans))
	for i, plan := range found.Plans {
		if i%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		plans[i] = plan
		class := classes[resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}]
		if class == nil {
			continue
		}
		target := policy.TargetOf(*class, plan)
		rules, err := rulesFor(&target)
		if err != nil {
			return err
		}
		refusal, err := r.policies.Apply(ctx, rules, &target, place)
		if err != nil {
			return err
		}
		if refusal != nil {
			plans[i].Denied = refusal.Policies[0]
		}
	}
	found.Plans = plans
	return nil
}

// closed hides from resolve what a feature gate that is off keeps closed.
func (r *Resolver) closed(found *catalog.Slice) {
	defaults, suggestions := r.gates.Enabled(options.ServiceTypes), r.gates.Enabled(options.ServiceTypes) && r.gates.Enabled(options.SuggestedPlans)
	if defaults && suggestions {
		return
	}
	plans := make([]resolve.PlanEntry, len(found.Plans))
	for i, plan := range found.Plans {
		plan.Default = plan.Default && defaults
		plan.Suggested = plan.Suggested && suggestions
		plans[i] = plan
	}
	found.Plans = plans
	if !defaults {
		found.Records = nil
	}
}

// RefusedOver refuses what has no chance of a slot now: its namespace has all that a
// policy grants it. This only spares users a long wait. It is no lock, and what it lets
// through has no slot yet: see resolve/quota.
func (r *Resolver) RefusedOver(ctx context.Context, w policies.Want, field string) (*review.Denial, error) {
	short, err := r.policies.Full(ctx, &w)
	if err != nil || short == nil {
		return nil, err
	}
	denied := w.Refuse(short, field)
	if !r.MayConfirm(w.Namespace, denied) {
		return denied, nil
	}
	if short, err = r.policies.FullLive(ctx, &w); err != nil || short == nil {
		return nil, err
	}
	return w.Refuse(short, field), nil
}
