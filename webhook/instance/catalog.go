package instance

import (
	"context"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/policies"
)

// ValidateConfirmed holds the instance against the catalog and the policies.
func (v *Validation) ValidateConfirmed(ctx context.Context) error {
	err := v.validateCatalog(ctx, view{v.Resolver.Catalog.Define, v.Resolver.Catalog.InForce, v.Policies.Refusal, v.Policies.Full})
	if err != nil || v.Denied == nil || !v.Resolver.MayConfirm(v.Req.Namespace, v.Denied) {
		return err
	}
	// The cache may be stale: a denial is confirmed by a live read.
	v.Denied, v.Warnings = nil, nil
	return v.validateCatalog(ctx, view{v.Resolver.Catalog.DefineLive, v.Resolver.Catalog.InForceLive, v.Policies.ConfirmedRefusal, v.Policies.FullLive})
}

// A view is how plans, policies and their slots are read: from the cache, or live.
type view struct {
	define  func(context.Context, resolve.Ref) (*catalog.Definition, error)
	inForce func(context.Context, resolve.Ref, string) (*catalog.Definition, error)
	policy  func(context.Context, *policy.Target, string) (*policy.Refusal, error)
	full    func(context.Context, *policies.Want) (*quota.Shortage, error)
}

// validateCatalog holds the instance against the plan that it refers to, as the view
// shows it.
func (v *Validation) validateCatalog(ctx context.Context, seen view) error {
	if v.Now.Plan.Name != "" {
		defined, err := seen.define(ctx, v.Now.Plan)
		if err != nil {
			return err
		}
		v.Defined, v.Chosen = defined, v.Now.Plan
	}
	if v.Old == nil {
		v.validateCreate()
	} else if err := v.validateUpdate(ctx, seen); err != nil {
		return err
	}
	if v.Denied != nil {
		return nil
	}
	if err := v.validatePolicies(ctx, seen); err != nil || v.Denied != nil {
		return err
	}
	return v.validateParameters(ctx)
}
