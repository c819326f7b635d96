package webhook

import (
	"context"

	"github.com/defaultplan/defaultplan/merge"
)

// ownInstance is a claim as the new instance that it asks for. A claim is judged
// while it is decided, which is once.
func (v *bindingValidation) ownInstance() *instanceValidation {
	own := &instanceValidation{
		instances: &instances{v.commons}, instanceWrite: &instanceWrite{req: v.req, new: claimed(v.new)},
		verdict: verdict{rule: ruleNone}, now: v.now, waited: v.old != nil,
	}
	own.parameters = func() (map[string]any, error) { return merge.Decode(rawOf(own.new.Spec.Parameters)) }
	return own
}

// judgeProvision refuses parameters for an instance of the claim's own that are no
// object, or too large.
func (v *bindingValidation) judgeProvision() {
	if v.new.Spec.InstanceRef != nil || v.old != nil && sameParameters(v.old.Spec.ProvisionParameters, v.new.Spec.ProvisionParameters) {
		return
	}
	v.denied = v.denied.also(unreadableParameters(merge.Decode(rawOf(v.new.Spec.ProvisionParameters))).inClaimsWords())
}

// judgeClaim holds a claim that is now decided against the catalog and the policies
// of both kinds: of its instance, no policy is judged again when that is made.
func (v *bindingValidation) judgeClaim(ctx context.Context) error {
	own := v.ownInstance()
	if err := own.judgeConfirmed(ctx); err != nil {
		return err
	}
	own.inClaimsWords()
	v.warnings, v.chosen = append(v.warnings, own.warnings...), v.now.plan
	if v.denied = v.denied.also(own.denied); v.denied != nil {
		return nil
	}
	if v.denied = own.defined.refuseUnbindable(own.askedField()); v.denied != nil {
		return nil
	}
	denied, err := v.refusedClaim(ctx, own.defined, v.req.Namespace, own.askedField())
	if err != nil || denied != nil {
		v.denied = denied
		return err
	}
	if err := v.judgeQuota(ctx, own.defined, own.askedField()); err != nil || v.denied != nil {
		return err
	}
	if err := v.judgeSecrets(ctx, &bound{defined: own.defined}); err != nil || v.denied != nil {
		return err
	}
	return v.judgeParameters(ctx, own.defined)
}
