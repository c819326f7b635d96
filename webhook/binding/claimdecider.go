package binding

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/instance"
)

// A claimDecider decides a claim: its dedicated instance, then the binding to it.
type claimDecider struct{ binding decider }

// ownInstance is the write of a claim as that of the instance that it asks for.
func (c claimDecider) ownInstance() instance.Decider {
	draft := c.binding.draft
	own := decision.NewDraft(&instance.Write{Req: draft.Req, New: claimed(draft.New)})
	own.Spec, own.Changed = draft.Spec.OwnInstance(), draft.Changed
	own.Spec.ExternalID = draft.Spec.ExternalID
	if draft.Old != nil {
		own.Old = claimed(draft.Old)
	}
	return instance.Decider{Tools: c.binding.tools, Draft: own}
}

// decide decides both, or neither. With refuse, a failure is a denial; without, the claim
// stays undecided.
func (c claimDecider) decide(ctx context.Context, refuse bool) error {
	own, draft := c.ownInstance(), c.binding.draft
	decided, err := own.Decide(ctx, refuse)
	if err != nil {
		return err
	}
	inClaimsWords(&own.Draft.Result)
	if decided == nil {
		draft.Denied, draft.Rule, draft.Warnings, draft.Audits = own.Draft.Denied, own.Draft.Rule, own.Draft.Warnings, own.Draft.Audits
		return nil
	}
	field := instance.AskedFieldOf(decided.Applied.Rule, &own.Draft.Spec)
	denied := refuseUnbindable(decided.Defined, field)
	if denied == nil && !refuse {
		// If policies may deny this write, the validating phase denies it.
		if denied, err = policiesOf(c.binding.tools, draft.Req.Namespace).refuseClaim(ctx, decided.Defined, field); err != nil {
			return err
		}
	}
	if denied != nil {
		c.binding.hold(denied, refuse)
		return nil
	}
	return c.complete(ctx, own.Draft, decided, refuse)
}

// complete completes a claim whose dedicated instance is decided.
func (c claimDecider) complete(ctx context.Context, own *instance.Draft, decided *instance.Decision, refuse bool) error {
	draft, of := c.binding.draft, &decided.Applied
	applied := v1beta1.AppliedDefaults{Rule: of.Rule, Class: of.Class, Plan: of.Plan}
	if len(of.From)+len(of.Removed) > 0 {
		applied.Provision = &v1beta1.AppliedProvision{From: of.From, Removed: of.Removed}
	}
	if err := c.binding.finish(ctx, decided.Defined, &applied, refuse); err != nil || !draft.Settled {
		return err
	}
	draft.Spec.PlanReference = own.Spec.PlanReference
	preventDeletion(draft, own)
	for _, added := range own.Additions {
		added.Field = "provisionParameters"
		draft.Additions = append(draft.Additions, added)
	}
	draft.Warnings = append(own.Warnings, draft.Warnings...)
	return nil
}

// takeAsDecided admits a claim that comes with its references: a restored
// backup. Nothing is merged. Its instance is created again, because the binding's
// UID is a new one.
func (c claimDecider) takeAsDecided(ctx context.Context) error {
	own, draft := c.ownInstance(), c.binding.draft
	// One record covers both, instance and binding.
	if record := draft.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]; record != "" {
		own.Draft.New.Metadata.Annotations = map[string]string{v1beta1.AnnotationAppliedDefaults: record}
	}
	if err := own.TakeAsDecided(ctx); err != nil {
		return err
	}
	inClaimsWords(&own.Draft.Result)
	draft.Result = own.Draft.Result
	preventDeletion(draft, own.Draft)
	if record, ok := own.Draft.Annotations[v1beta1.AnnotationAppliedDefaults]; ok {
		draft.Annotations[v1beta1.AnnotationAppliedDefaults] = record
	}
	return nil
}

// preventDeletion annotates a claim as its own instance, which goes with it.
func preventDeletion(claim *draft, own *instance.Draft) {
	if value, is := own.Annotations[v1beta1.AnnotationPreventDeletion]; is {
		claim.Annotations[v1beta1.AnnotationPreventDeletion] = value
	}
}
