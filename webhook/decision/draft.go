package decision

import (
	"context"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A Draft is one write of an instance or binding, of spec S, as the mutating phase completes it.
// The write is what the requester sent; Spec, Annotations and Additions are what will be stored.
type Draft[S, P any] struct {
	*review.Write[S, P]
	review.Result

	Spec        S
	Annotations map[string]string
	// Additions are what defaults add to the parameters.
	Additions []parameters.Addition
	// Changed says that an UPDATE changes spec, beyond what is restored.
	Changed bool
	// Settled says that this write was decided.
	Settled bool
}

// NewDraft returns a draft that stores what the requester sent.
func NewDraft[S, P any](write *review.Write[S, P]) *Draft[S, P] {
	return &Draft[S, P]{Write: write, Result: review.Result{Rule: review.RuleNone}, Spec: *write.New.Spec, Annotations: map[string]string{}}
}

// IsTouch says that an UPDATE does not change spec. It is never denied for what else is wrong.
func (d *Draft[S, P]) IsTouch() bool { return d.Old != nil && !d.Changed }

// RecordDefaults adds the defaults to the parameters, and their record.
func (d *Draft[S, P]) RecordDefaults(applied *v1beta1.AppliedDefaults, merged *merge.Result) {
	d.Annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	d.Additions = append(d.Additions, parameters.AdditionsOf(merged)...)
	if len(applied.From) > 0 {
		d.Warnf("defaults set %s", parameters.Names(applied.From))
	}
}

// TakeReferences admits an object that comes with its references to a plan, unless refuse denies
// them. It returns the plan, nil with a denial.
func (d *Draft[S, P]) TakeReferences(ctx context.Context, resolver *Resolver, plan resolve.Ref, refuse func(*catalog.Definition) *review.Denial) (*catalog.Definition, error) {
	defined, err := resolver.Catalog.Define(ctx, plan)
	if err != nil {
		return nil, err
	}
	defined, denied, err := resolver.Confirmed(ctx, d.Req.Namespace, defined, refuse)
	if err != nil {
		return nil, err
	}
	if denied != nil {
		d.Deny(denied)
		return nil, nil
	}
	d.RecordRestored(d.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults], defined)
	return defined, nil
}

// RecordRestored records an object that came with its references: nothing was added to it.
// annotation is its record of defaults so far.
func (d *Draft[S, P]) RecordRestored(annotation string, defined *catalog.Definition) {
	applied := parameters.Applied(map[string]string{v1beta1.AnnotationAppliedDefaults: annotation})
	parameters.RecordChoice(&applied, review.RuleRestored, &defined.Class, &defined.Plan)
	d.Annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	d.Decide(review.RuleRestored, defined.Plan.Ref, defined.Title())
}

// PatchSpec adds to the patch what differs from the given spec, the defaults, and the
// annotations.
func (d *Draft[S, P]) PatchSpec(fields []restore.Field[S], given *S) {
	if d.New.Specless {
		d.Patch.Add(struct{}{}, "spec")
	}
	restore.PatchFields(&d.Patch, fields, &d.Spec, given)
	for _, added := range d.Additions {
		d.Patch.AddAt("/spec/"+added.Field+added.Pointer, added.Value)
	}
	d.Patch.AddEntries(d.New.Metadata.Annotations, d.Annotations, "metadata", "annotations")
}

// PatchFinalizer adds our finalizer to an object that is new or decided now, and to one that the
// write replaces by a manifest, which never has it: without it, a deletion would leave
// resources at the broker. A write that only removes the finalizer is intended, and leaves spec
// the same.
func (d *Draft[S, P]) PatchFinalizer(same func(a, b *S) bool) {
	if d.Old == nil || d.Settled || d.New.Metadata.DropsFinalizer(&d.Old.Metadata) && !same(d.Old.Spec, d.New.Spec) {
		d.Patch.AddFinalizer(d.New.Metadata.Finalizers)
	}
}
