package binding

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/instance"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// ownInstance is the write of a claim as that of the instance that it asks for.
func (m *mutation) ownInstance() *instance.Mutation {
	own := &instance.Mutation{
		Handler: &instance.Handler{Tools: m.Tools}, Write: &instance.Write{Req: m.Req, New: claimed(m.New)},
		Result: review.Result{Rule: review.RuleNone}, Annotations: map[string]string{}, Changed: m.changed,
		Spec: m.spec.OwnInstance(),
	}
	own.Spec.ExternalID = m.spec.ExternalID
	if m.Old != nil {
		own.Old = claimed(m.Old)
	}
	return own
}

// decideClaim decides the dedicated instance of a claim, then the binding to
// it: both or neither. With refuse, a failure is a denial; without, the claim
// stays undecided.
func (m *mutation) decideClaim(ctx context.Context, refuse bool) error {
	own := m.ownInstance()
	if err := own.Decide(ctx, refuse); err != nil {
		return err
	}
	inClaimsWords(&own.Result)
	if own.Denied != nil || !own.Settled {
		m.Denied, m.Rule, m.Warnings, m.Audits = own.Denied, own.Rule, own.Warnings, own.Audits
		return nil
	}
	field := instance.AskedFieldOf(own.Applied.Rule, &own.Spec)
	denied := refuseUnbindable(own.Defined, field)
	if denied == nil && !refuse {
		// If policies may deny this write, the validating phase denies it.
		var err error
		if denied, err = m.refusedClaim(ctx, own.Defined, m.Req.Namespace, field); err != nil {
			return err
		}
	}
	if denied != nil {
		m.hold(denied, refuse)
		return nil
	}
	return m.completeClaim(ctx, own, refuse)
}

// completeClaim completes a claim whose dedicated instance is decided.
func (m *mutation) completeClaim(ctx context.Context, own *instance.Mutation, refuse bool) error {
	of := &own.Applied
	applied := v1beta1.AppliedDefaults{Rule: of.Rule, Class: of.Class, Plan: of.Plan}
	if len(of.From)+len(of.Removed) > 0 {
		applied.Provision = &v1beta1.AppliedProvision{From: of.From, Removed: of.Removed}
	}
	if err := m.finish(ctx, own.Defined, &applied, refuse); err != nil || !m.settled {
		return err
	}
	m.spec.PlanReference, m.ownAdditions = own.Spec.PlanReference, own.Additions
	m.Warnings = append(own.Warnings, m.Warnings...)
	return nil
}

// takeClaimAsDecided admits a claim that comes with its references: a restored
// backup. Nothing is merged. Its instance is created again, because the binding's
// UID is a new one.
func (m *mutation) takeClaimAsDecided(ctx context.Context) error {
	own := m.ownInstance()
	// One record covers both, instance and binding.
	if record := m.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]; record != "" {
		own.New.Metadata.Annotations = map[string]string{v1beta1.AnnotationAppliedDefaults: record}
	}
	if err := own.TakeAsDecided(ctx); err != nil {
		return err
	}
	inClaimsWords(&own.Result)
	m.Result = own.Result
	if record, ok := own.Annotations[v1beta1.AnnotationAppliedDefaults]; ok {
		m.annotations[v1beta1.AnnotationAppliedDefaults] = record
	}
	return nil
}
