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
	draft, resolver := d.Draft, d.Tools.Resolver
	annotation := draft.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	if annotation == "" && draft.New.Spec.ExternalID == "" {
		draft.Deny(references.Forged(&draft.Spec.DecidedReference))
		return nil
	}
	now := references.Of(&draft.Spec.DecidedReference, draft.Req.Namespace)
	defined, err := resolver.Catalog.Define(ctx, now.Plan)
	if err != nil {
		return err
	}
	defined, denied, err := resolver.Confirmed(ctx, draft.Req.Namespace, defined, func(found *catalog.Definition) *review.Denial {
		return disagreement(&draft.Spec, now, found, d.Tools.Options.Gates)
	})
	if err != nil {
		return err
	}
	if denied != nil {
		draft.Deny(denied)
		return nil
	}
	draft.RecordRestored(annotation, defined)
	if defined.Gone() {
		draft.Warnf("plan %s is %s: a broker will refuse it", defined.Title(), cmp.Or(defined.Plan.Gone, defined.Class.Gone))
	}
	draft.Warnf("taken as decided: plan %s, as the references say; no default was applied", defined.Title())
	return nil
}
