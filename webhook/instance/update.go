package instance

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Update keeps what was decided, and decides what was not.
func (m *mutation) Update(ctx context.Context) error {
	d := m.draft
	if kept := keepFields(&d.Spec, d.Write); len(kept) > 0 {
		d.Warnf("kept %s: leaving a field out does not clear it", strings.Join(kept, ", "))
	}
	m.keepDefaults()
	restore.GuardAnnotations(&d.New.Metadata, &d.Old.Metadata, d.Annotations)
	d.Changed = !sameSpec(d.Old.Spec, &d.Spec)
	switch {
	case !d.Changed && d.Old.Spec.UserInfo != nil:
		d.Spec.UserInfo = d.Old.Spec.UserInfo
	case d.Changed, d.Spec.UserInfo != nil:
		// Also if no user is recorded: a write of userInfo is a write by a user.
		d.Spec.UserInfo = review.Requester(d.Req)
	}
	switch {
	case d.Old.Spec.Decided():
		return m.updateDecided(ctx)
	case references.Changed(&d.New.Spec.DecidedReference, &d.Old.Spec.DecidedReference, &d.Old.Spec.DecidedReference) != "":
		d.Deny(references.Forged(&d.New.Spec.DecidedReference))
		return nil
	case d.New.Deleting() || d.Old.Status.started():
		return nil
	}
	_, err := Decider{m.tools, d}.Decide(ctx, d.Changed)
	return err
}

// keepDefaults restores the defaults if an update has no parameters at all: so
// it looks when a user removes all parameters from a manifest. Parameters that
// are present, even if empty, are complete: see tellDropped.
func (m *mutation) keepDefaults() {
	d := m.draft
	if len(parameters.Raw(d.New.Spec.Parameters)) > 0 {
		return
	}
	stored := m.storedDefaults()
	kept := stored.encoded()
	if kept == nil {
		return
	}
	d.Spec.Parameters = &runtime.RawExtension{Raw: kept}
	d.Additions = append(d.Additions, parameters.Addition{Field: "parameters", Value: json.RawMessage(kept)})
	d.WarnNames("spec.parameters is left out, which drops only your own; a null drops a default, parameters: {} drops them all; kept: ", parameters.PointerNames(stored.from))
}

// tellDropped warns of the defaults that the parameters of an update drop,
// unless the update is decided again, which restores them.
func (m *mutation) tellDropped() {
	if dropped := m.storedDefaults().droppedBy(m.draft.Spec.Parameters); len(dropped) > 0 {
		m.draft.WarnNames("this update drops defaults, and none is applied again; to keep them, write them out, or patch only what changes; dropped: ", dropped)
	}
}

// storedDefaults are those of the stored instance, none where defaults are not applied.
func (m *mutation) storedDefaults() storedDefaults {
	if !m.tools.Options.Gates.Enabled(options.ParameterDefaults) {
		return storedDefaults{}
	}
	return readStored(m.draft.Old.Spec.Parameters, m.draft.Old.Metadata.Annotations)
}

// updateDecided applies the other rows of the restore table: a change of plan
// by name, and a plan that is gone before anything was sent to its broker.
func (m *mutation) updateDecided(ctx context.Context) error {
	m.updateRecord()
	d := m.draft
	if !d.Changed {
		return nil
	}
	defined, lost, err := readLostPlan(ctx, m.tools.Resolver.Catalog, d.Write)
	if err != nil {
		return err
	}
	renamed := renames(d.Write, restore.WithPlan) || renames(d.Write, restore.WithClass)
	if !lost {
		m.tellDropped()
	}
	if renamed && !lost {
		return m.replan(ctx)
	}
	d.Deny(referenceChange(references.Changed(&d.New.Spec.DecidedReference, &d.Old.Spec.DecidedReference, &d.Old.Spec.DecidedReference)))
	if d.Denied != nil || !lost {
		return nil
	}
	decider := Decider{m.tools, d}
	_, err = decider.Decide(ctx, renamed && decider.asksForAnother(defined))
	return err
}

// updateRecord removes from the record of defaults what the write changes. Where the choice filled
// in the name of the plan and the write names it, be it the same plan, the record says that it is
// named. A record that a user wrote on an object that never had one is replaced.
func (m *mutation) updateRecord() {
	const record = v1beta1.AnnotationAppliedDefaults
	d := m.draft
	was := d.Old.Metadata.Annotations[record]
	if was == "" {
		if d.New.Metadata.Annotations[record] != "" {
			d.Annotations[record] = v1beta1.AppliedDefaults{Rule: review.RuleRestored}.String()
		}
		return
	}
	if text, changed := stillApplied(was, d.Old.Spec.Parameters, d.Spec.Parameters); changed {
		d.Annotations[record] = text
	}
	applied := earlierRecord(d.Annotations, d.Old.Metadata.Annotations)
	if isByClass(resolve.Rule(applied.Rule)) && renames(d.Write, restore.WithPlan) {
		applied.Rule = string(resolve.RuleNamed)
		d.Annotations[record] = applied.String()
	}
}

// readLostPlan says whether the plan is gone and nothing was sent to its broker, so
// that the instance may be decided again. defined is a lost plan, nil if it does not exist.
// Deciding again cannot be undone, so the read is live.
func readLostPlan(ctx context.Context, plans *catalog.Catalog, w *Write) (defined *catalog.Definition, lost bool, err error) {
	if w.New.Deleting() || w.Old.Status.started() {
		return nil, false, nil
	}
	plan := references.Of(&w.Old.Spec.DecidedReference, w.Req.Namespace).Plan
	defined, err = plans.Define(ctx, plan)
	if err != nil || !defined.Gone() {
		return nil, false, err
	}
	defined, err = plans.DefineLive(ctx, plan)
	return defined, err == nil && defined.Gone(), err
}
