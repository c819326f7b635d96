package binding

import (
	"context"

	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/instance"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/schema"
)

// refuseClaim validates a claim that is now decided against the catalog and the
// policies of both kinds. The policies are not asked again when the
// controller creates the instance. A claim is validated when it is decided, which happens once:
// its instance is validated as at its creation.
func (v *validation) refuseClaim(ctx context.Context) (*review.Denial, error) {
	w := v.write
	own := &instance.PlanCheck{Tools: v.tools, Write: &instance.Write{Req: w.Req, New: claimed(w.New)}, Now: v.now, Waited: w.Old != nil}
	own.Parameters = func() (map[string]any, error) { return merge.Decode(parameters.Raw(own.Write.New.Spec.Parameters)) }
	checked, err := own.Run(ctx)
	if err != nil {
		return nil, err
	}
	inClaimsWords(&checked.Result)
	v.decided.Warnings, v.decided.Chosen = append(v.decided.Warnings, checked.Warnings...), v.now.Plan
	if checked.Denied != nil {
		return checked.Denied, nil
	}
	defined, field := checked.Defined, own.AskedField()
	if denied := refuseUnbindable(defined, field); denied != nil {
		return denied, nil
	}
	if denied, err := policiesOf(v.tools, w.Req.Namespace).refuseClaim(ctx, defined, field); err != nil || denied != nil {
		return denied, err
	}
	if denied, err := v.refuseQuota(ctx, defined, field); err != nil || denied != nil {
		return denied, err
	}
	if denied, err := v.secrets(defined).refuse(ctx); err != nil || denied != nil {
		return denied, err
	}
	return v.refuseParameters(ctx, defined)
}

// secrets asks about the Secrets that transforms name; defined is the plan of the binding's
// instance, nil if it is not known.
func (v *validation) secrets(defined *catalog.Definition) *transformReview {
	asked := &transformReview{
		access: v.tools.Access, plans: v.tools.Resolver.Catalog,
		namespace: v.write.Req.Namespace, user: v.user(), now: v.write.New.Spec.SecretTransforms,
	}
	if defined != nil {
		asked.plan = defined.Plan.Ref
	}
	if v.write.Old != nil {
		asked.before = askedBefore(v.write.Old)
	}
	return asked
}

// refuseQuota holds a new binding against the limits for bindings. One that was undecided
// waits for its slot.
func (v *validation) refuseQuota(ctx context.Context, defined *catalog.Definition, field string) (*review.Denial, error) {
	if v.write.Old != nil {
		return nil, nil
	}
	w := policies.Want{Kind: quota.Bindings, Defined: defined, Namespace: v.write.Req.Namespace, Uid: v.write.New.Metadata.UID}
	return v.tools.Resolver.RefusedOver(ctx, w, field)
}

// refuseParameters holds what the broker would be sent against the plan's schema
// for bindings.
func (v *validation) refuseParameters(ctx context.Context, defined *catalog.Definition) (*review.Denial, error) {
	if !v.tools.Schemas.Checked() || adopts(v.write) {
		return nil, nil
	}
	values, err := v.parameters()
	if err != nil {
		return nil, nil //nolint:nilerr // the shape is validated before
	}
	spec, applied := v.write.New.Spec, parameters.Applied(v.write.New.Metadata.Annotations)
	if v.write.Old != nil && !unmarked(v.write) && applied.Rule == review.RuleRestored {
		// It was bound without the hooks.
		return nil, nil
	}
	denied, err := v.tools.Schemas.Validate(ctx, &v.decided, defined, schema.Question{
		Which: schema.ForBinding, Sent: merge.Without(values, parameters.Removed(&applied)), Partial: len(spec.ParametersFrom) > 0, From: applied.From,
	})
	if err != nil || denied == nil {
		return nil, err
	}
	return denied.Ways(defined.ToSee()), nil
}
