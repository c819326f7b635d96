package instance

import (
	"cmp"
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// TakeAsDecided admits an instance that comes with its references: a backup, or
// an object of the retired catalog. Nothing is merged.
func (d Decider) TakeAsDecided(ctx context.Context) error {
	draft := d.Draft
	if draft.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] == "" && draft.New.Spec.ExternalID == "" {
		draft.Deny(references.Forged(&draft.Spec.DecidedReference))
		return nil
	}
	now := references.Of(&draft.Spec.DecidedReference, draft.Req.Namespace)
	defined, err := draft.TakeReferences(ctx, d.Tools.Resolver, now.Plan, func(found *catalog.Definition) *review.Denial {
		return disagreement(&draft.Spec, now, found, d.Tools.Options.Gates)
	})
	if err != nil || defined == nil {
		return err
	}
	if defined.Gone() {
		draft.Warnf("plan %s is %s: a broker will refuse it", defined.Title(), cmp.Or(defined.Plan.Gone, defined.Class.Gone))
	}
	draft.PreventDeletion(defined)
	draft.Warnf("taken as decided: plan %s, as the references say; no default was applied", defined.Title())
	return nil
}
