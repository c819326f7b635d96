package binding

import (
	"context"

	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/instance"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// ownInstance is a claim as a create of its dedicated instance. A claim is
// validated when it is decided, which happens once.
func (v *validation) ownInstance() *instance.Validation {
	own := &instance.Validation{
		Handler: &instance.Handler{Tools: v.Tools}, Write: &instance.Write{Req: v.Req, New: claimed(v.New)},
		Result: review.Result{Rule: review.RuleNone}, Now: v.now, Waited: v.Old != nil,
	}
	own.ParameterReader = func() (map[string]any, error) { return merge.Decode(parameters.Raw(own.New.Spec.Parameters)) }
	return own
}

// validateProvision denies provisionParameters that are not an object, or too
// large.
func (v *validation) validateProvision() {
	if v.New.Spec.InstanceRef != nil || v.Old != nil && parameters.Same(v.Old.Spec.ProvisionParameters, v.New.Spec.ProvisionParameters) {
		return
	}
	v.Denied = v.Denied.Also(deniedInClaimsWords(parameters.Unreadable(merge.Decode(parameters.Raw(v.New.Spec.ProvisionParameters)))))
}

// validateClaim checks a claim that is now decided against the catalog and the
// policies of both kinds. The policies are not asked again when the
// controller creates the instance.
func (v *validation) validateClaim(ctx context.Context) error {
	own := v.ownInstance()
	if err := own.ValidateConfirmed(ctx); err != nil {
		return err
	}
	inClaimsWords(&own.Result)
	v.Warnings, v.Chosen = append(v.Warnings, own.Warnings...), v.now.Plan
	if v.Denied = v.Denied.Also(own.Denied); v.Denied != nil {
		return nil
	}
	if v.Denied = refuseUnbindable(own.Defined, own.AskedField()); v.Denied != nil {
		return nil
	}
	denied, err := v.refusedClaim(ctx, own.Defined, v.Req.Namespace, own.AskedField())
	if err != nil || denied != nil {
		v.Denied = denied
		return err
	}
	if err := v.validateQuota(ctx, own.Defined, own.AskedField()); err != nil || v.Denied != nil {
		return err
	}
	if err := v.validateSecrets(ctx, &bound{defined: own.Defined}); err != nil || v.Denied != nil {
		return err
	}
	return v.validateParameters(ctx, own.Defined)
}
