package instance

import (
	"cmp"
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// TakeAsDecided admits an instance that comes with its references: a backup, or
// an object of the retired catalog. Nothing is merged.
func (m *Mutation) TakeAsDecided(ctx context.Context) error {
	annotation := m.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	if annotation == "" && m.New.Spec.ExternalID == "" {
		m.Deny(references.Forged(&m.Spec.DecidedReference))
		return nil
	}
	now := references.Of(&m.Spec.DecidedReference, m.Req.Namespace)
	defined, err := m.Resolver.Catalog.Define(ctx, now.Plan)
	if err != nil {
		return err
	}
	denied := m.disagreement(&m.Spec, now, defined)
	if denied != nil && defined != nil && m.Resolver.MayConfirm(m.Req.Namespace, denied) {
		if defined, err = m.Resolver.Catalog.DefineLive(ctx, now.Plan); err != nil {
			return err
		}
		denied = m.disagreement(&m.Spec, now, defined)
	}
	if denied != nil {
		m.Deny(denied)
		return nil
	}
	applied, err := v1beta1.ParseAppliedDefaults(annotation)
	if err != nil {
		applied = v1beta1.AppliedDefaults{}
	}
	applied.Rule, applied.Class, applied.Plan = review.RuleRestored, cmp.Or(defined.Class.ExternalName, defined.Class.Name), cmp.Or(defined.Plan.ExternalName, defined.Plan.Name)
	m.Annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	m.Rule, m.Chosen = review.RuleRestored, now.Plan
	m.Audit("rule", review.RuleRestored)
	m.Audit("plan", defined.Title())
	if defined.Gone() {
		m.Warnf("plan %s is %s: a broker will refuse it", defined.Title(), cmp.Or(defined.Plan.Gone, defined.Class.Gone))
	}
	m.Warnf("taken as decided: plan %s, as the references say; no default was applied", defined.Title())
	return nil
}
