package binding

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// isMinted says that the binding's ID was minted for it, or is about to be.
func isMinted(d *draft) bool {
	marker, written := d.Annotations[v1beta1.AnnotationMintedExternalID]
	if !written {
		marker = d.New.Metadata.Annotations[v1beta1.AnnotationMintedExternalID]
	}
	return d.Spec.ExternalID == "" || d.Spec.ExternalID == marker
}

// takeAsDecided admits a binding that comes with its references: a backup. Nothing
// is merged.
func (d decider) takeAsDecided(ctx context.Context) error {
	draft := d.draft
	if draft.Spec.InstanceRef == nil {
		return claimDecider{d}.takeAsDecided(ctx)
	}
	annotation := draft.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	if annotation == "" && isMinted(draft) {
		draft.Deny(forgedOnBinding(&draft.Spec.DecidedReference))
		return nil
	}
	to, denied, err := d.binder().bind(ctx, &draft.Spec)
	if err != nil {
		return err
	}
	if denied != nil {
		draft.Deny(denied)
		return nil
	}
	if waits := to.waits(); waits != "" {
		// Its references cannot be checked yet: they are taken from the
		// instance once it exists.
		draft.Spec.DecidedReference = references.Cleared(&draft.Spec.DecidedReference)
		if !isMinted(draft) {
			draft.Annotations[v1beta1.AnnotationAppliedDefaults] = annotation
		}
		d.wait(waits, true)
		return nil
	}
	now := bindingRefs(&draft.Spec, draft.Req.Namespace)
	defined, err := draft.TakeReferences(ctx, d.tools.Resolver, now.Plan, func(found *catalog.Definition) *review.Denial {
		return contradicts(&draft.Spec, now, found)
	})
	if err == nil && defined != nil {
		d.warnTaken(defined)
	}
	return err
}

// waitingRecord is the record of defaults of a restored binding that waits for
// its instance: mainly the defaults that a null removed, because those are not
// sent. A change of its spec discards the record.
func waitingRecord(d *draft) string {
	if !d.IsTouch() {
		return ""
	}
	return d.Old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
}

// forgedOnBinding refuses references on a binding that is not decided.
func forgedOnBinding(spec *v1beta1.DecidedReference) *review.Denial {
	denied := references.Forged(spec)
	denied.Remedies = nil
	return denied.Remedy("leave it out: class and plan are the instance's; a backup keeps spec.externalID or the annotation %s beside its references", v1beta1.AnnotationAppliedDefaults)
}

// contradicts denies references that do not exist, or that disagree with the
// rest of spec.
func contradicts(spec *bindingSpec, now references.Pair, defined *catalog.Definition) *review.Denial {
	said := v1beta1.ServiceInstanceSpec{PlanReference: spec.PlanReference, DecidedReference: spec.DecidedReference, ServiceType: spec.ServiceType}
	denied := references.Disagrees(&said, now, defined)
	if denied == nil {
		return nil
	}
	return denied.Ways(suggest.WhatThereIs, suggest.Plans(now.Plan.Namespace))
}
