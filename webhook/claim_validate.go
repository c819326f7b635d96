package webhook

import (
	"context"

	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// ownInstance is a claim as a create of its dedicated instance. A claim is
// validated when it is decided, which happens once.
func (v *bindingValidation) ownInstance() *instanceValidation {
	own := &instanceValidation{
		instances: &instances{v.commons}, instanceWrite: &instanceWrite{Req: v.Req, New: claimed(v.New)},
		Result: review.Result{Rule: review.RuleNone}, now: v.now, waited: v.Old != nil,
	}
	own.parameters = func() (map[string]any, error) { return merge.Decode(rawOf(own.New.Spec.Parameters)) }
	return own
}

// judgeProvision denies provisionParameters that are not an object, or too
// large.
func (v *bindingValidation) judgeProvision() {
	if v.New.Spec.InstanceRef != nil || v.Old != nil && sameParameters(v.Old.Spec.ProvisionParameters, v.New.Spec.ProvisionParameters) {
		return
	}
	v.Denied = v.Denied.Also(deniedInClaimsWords(unreadableParameters(merge.Decode(rawOf(v.New.Spec.ProvisionParameters)))))
}

// judgeClaim checks a claim that is now decided against the catalog and the
// policies of both kinds. The policies are not evaluated again when the
// controller creates the instance.
func (v *bindingValidation) judgeClaim(ctx context.Context) error {
	own := v.ownInstance()
	if err := own.judgeConfirmed(ctx); err != nil {
		return err
	}
	inClaimsWords(&own.Result)
	v.Warnings, v.Chosen = append(v.Warnings, own.Warnings...), v.now.plan
	if v.Denied = v.Denied.Also(own.Denied); v.Denied != nil {
		return nil
	}
	if v.Denied = own.defined.refuseUnbindable(own.askedField()); v.Denied != nil {
		return nil
	}
	denied, err := v.refusedClaim(ctx, own.defined, v.Req.Namespace, own.askedField())
	if err != nil || denied != nil {
		v.Denied = denied
		return err
	}
	if err := v.judgeQuota(ctx, own.defined, own.askedField()); err != nil || v.Denied != nil {
		return err
	}
	if err := v.judgeSecrets(ctx, &bound{defined: own.defined}); err != nil || v.Denied != nil {
		return err
	}
	return v.judgeParameters(ctx, own.defined)
}
