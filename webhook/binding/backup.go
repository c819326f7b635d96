package binding

import (
	"cmp"
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// minted says that the binding's ID was minted for it, or is about to be.
func (m *mutation) minted() bool {
	marker, written := m.annotations[v1beta1.AnnotationMintedExternalID]
	if !written {
		marker = m.New.Metadata.Annotations[v1beta1.AnnotationMintedExternalID]
	}
	return m.spec.ExternalID == "" || m.spec.ExternalID == marker
}

// takeAsDecided admits a binding that comes with its references: a backup. Nothing
// is merged.
func (m *mutation) takeAsDecided(ctx context.Context) error {
	if m.spec.InstanceRef == nil {
		return m.takeClaimAsDecided(ctx)
	}
	annotation := m.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	if annotation == "" && m.minted() {
		m.Deny(forgedOnBinding(&m.spec.DecidedReference))
		return nil
	}
	to, denied, err := m.bind(ctx, m.binder(), &m.spec)
	if err != nil {
		return err
	}
	if denied != nil {
		m.Deny(denied)
		return nil
	}
	if waits := to.waits(); waits != "" {
		// Its references cannot be checked yet: they are taken from the
		// instance once it exists.
		m.spec.DecidedReference = v1beta1.DecidedReference{
			ClusterServiceClassRef: references.Emptied(m.spec.ClusterServiceClassRef), ClusterServicePlanRef: references.Emptied(m.spec.ClusterServicePlanRef),
			ServiceClassRef: references.Emptied(m.spec.ServiceClassRef), ServicePlanRef: references.Emptied(m.spec.ServicePlanRef),
		}
		if !m.minted() {
			m.annotations[v1beta1.AnnotationAppliedDefaults] = annotation
		}
		m.wait(waits, true)
		return nil
	}
	now := bindingRefs(&m.spec, m.Req.Namespace)
	defined, err := m.Resolver.Catalog.Define(ctx, now.Plan)
	if err != nil {
		return err
	}
	denied = m.contradicts(now, defined)
	if denied != nil && defined != nil && m.Resolver.MayConfirm(m.Req.Namespace, denied) {
		if defined, err = m.Resolver.Catalog.DefineLive(ctx, now.Plan); err != nil {
			return err
		}
		denied = m.contradicts(now, defined)
	}
	if denied != nil {
		m.Deny(denied)
		return nil
	}
	m.restored(annotation, defined)
	return nil
}

// waitingRecord is the record of defaults of a restored binding that waits for
// its instance: mainly the defaults that a null removed, because those are not
// sent. A change of its spec discards the record.
func (m *mutation) waitingRecord() string {
	if m.Old == nil || m.changed {
		return ""
	}
	return m.Old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
}

// forgedOnBinding refuses references on a binding that is not decided.
func forgedOnBinding(spec *v1beta1.DecidedReference) *review.Denial {
	denied := references.Forged(spec)
	denied.Remedies = nil
	return denied.Remedy("leave it out: class and plan are the instance's; a backup keeps spec.externalID or the annotation %s beside its references", v1beta1.AnnotationAppliedDefaults)
}

// contradicts denies references that do not exist, or that disagree with the
// rest of spec.
func (m *mutation) contradicts(now references.Pair, defined *catalog.Definition) *review.Denial {
	said := v1beta1.ServiceInstanceSpec{PlanReference: m.spec.PlanReference, DecidedReference: m.spec.DecidedReference, ServiceType: m.spec.ServiceType}
	denied := references.Disagrees(&said, now, defined)
	if denied == nil {
		return nil
	}
	return denied.Ways(suggest.WhatThereIs, suggest.Plans(now.Plan.Namespace))
}

// restored records a binding to which nothing was added.
func (m *mutation) restored(annotation string, defined *catalog.Definition) {
	applied := parameters.Applied(map[string]string{v1beta1.AnnotationAppliedDefaults: annotation})
	applied.Rule, applied.Class, applied.Plan = review.RuleRestored, cmp.Or(defined.Class.ExternalName, defined.Class.Name), cmp.Or(defined.Plan.ExternalName, defined.Plan.Name)
	m.annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	m.Rule, m.Chosen = review.RuleRestored, defined.Plan.Ref
	m.Audit("rule", review.RuleRestored)
	m.Audit("plan", defined.Title())
	m.Warnf("taken as it is: plan %s; no default was applied", defined.Title())
}
