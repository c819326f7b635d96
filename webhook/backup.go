package webhook

import (
	"cmp"
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// takeAsDecided admits an instance that comes with its references: a backup, or
// an object of the retired catalog. Nothing is merged.
func (m *instanceMutation) takeAsDecided(ctx context.Context) error {
	annotation := m.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	if annotation == "" && m.New.Spec.ExternalID == "" {
		m.Deny(forgedReference(&m.spec.DecidedReference))
		return nil
	}
	now := refsOf(&m.spec.DecidedReference, m.Req.Namespace)
	defined, err := m.resolver.catalog.define(ctx, now.plan)
	if err != nil {
		return err
	}
	denied := m.disagreement(&m.spec, now, defined)
	if denied != nil && defined != nil && m.resolver.mayConfirm(m.Req.Namespace, denied) {
		if defined, err = m.resolver.catalog.defineLive(ctx, now.plan); err != nil {
			return err
		}
		denied = m.disagreement(&m.spec, now, defined)
	}
	if denied != nil {
		m.Deny(denied)
		return nil
	}
	applied, err := v1beta1.ParseAppliedDefaults(annotation)
	if err != nil {
		applied = v1beta1.AppliedDefaults{}
	}
	applied.Rule, applied.Class, applied.Plan = ruleRestored, cmp.Or(defined.Class.ExternalName, defined.Class.Name), cmp.Or(defined.Plan.ExternalName, defined.Plan.Name)
	m.annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	m.Rule, m.Chosen = ruleRestored, now.plan
	m.Audit("rule", ruleRestored)
	m.Audit("plan", defined.title())
	if defined.gone() {
		m.Warnf("plan %s is %s: a broker will refuse it", defined.title(), cmp.Or(defined.Plan.Gone, defined.Class.Gone))
	}
	m.Warnf("taken as decided: plan %s, as the references say; no default was applied", defined.title())
	return nil
}
