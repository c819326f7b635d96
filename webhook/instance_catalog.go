package webhook

import (
	"context"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// judgeConfirmed holds the instance against the catalog and the policies.
func (v *instanceValidation) judgeConfirmed(ctx context.Context) error {
	err := v.judgeCatalog(ctx, view{v.resolver.catalog.define, v.resolver.catalog.inForce, v.policies.judge, v.policies.full})
	if err != nil || v.Denied == nil || !v.resolver.mayConfirm(v.Req.Namespace, v.Denied) {
		return err
	}
	// The cache may be stale: a denial is confirmed by a live read.
	v.Denied, v.Warnings = nil, nil
	return v.judgeCatalog(ctx, view{v.resolver.catalog.defineLive, v.resolver.catalog.inForceLive, v.policies.confirm, v.policies.fullLive})
}

// A view is how plans, policies and their slots are read: from the cache, or live.
type view struct {
	define  func(context.Context, resolve.Ref) (*definition, error)
	inForce func(context.Context, resolve.Ref, string) (*definition, error)
	policy  func(context.Context, *policy.Target, string) (*policy.Refusal, error)
	full    func(context.Context, *want) (*quota.Shortage, error)
}

// judgeCatalog holds the instance against the plan that it refers to, as the view
// shows it.
func (v *instanceValidation) judgeCatalog(ctx context.Context, seen view) error {
	if v.now.plan.Name != "" {
		defined, err := seen.define(ctx, v.now.plan)
		if err != nil {
			return err
		}
		v.defined, v.Chosen = defined, v.now.plan
	}
	if v.Old == nil {
		v.judgeCreate()
	} else if err := v.judgeUpdate(ctx, seen); err != nil {
		return err
	}
	if v.Denied != nil {
		return nil
	}
	if err := v.judgePolicies(ctx, seen); err != nil || v.Denied != nil {
		return err
	}
	return v.judgeParameters(ctx)
}
