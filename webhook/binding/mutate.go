package binding

import (
	"context"
	"strings"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Handler admits ServiceBindings.
type Handler struct {
	tools *decision.Tools
	reads instanceReads
}

// NewHandler returns the handler of both phases.
func NewHandler(tools *decision.Tools, now clock.PassiveClock) *Handler {
	return &Handler{tools: tools, reads: newInstanceReads(now)}
}

// A mutation completes one write of a binding.
type mutation struct {
	tools *decision.Tools
	reads instanceReads
	draft *draft
}

// Mutate is the mutating phase.
func (h *Handler) Mutate(ctx context.Context, req *admission.Request) (review.Result, error) {
	write, wrong := review.Decode[bindingSpec, progress](req)
	if wrong != nil {
		// The schema of the CRD, which is checked next, gives the best message.
		return review.Result{Rule: review.RuleNone}, nil
	}
	m := &mutation{h.tools, h.reads, decision.NewDraft(write)}
	return review.Mutate(ctx, req, m, &m.draft.Result)
}

// Create decides a new binding, or takes a restored one, which has its
// references, as decided.
func (m *mutation) Create(ctx context.Context) error {
	d := m.draft
	d.Spec.UserInfo = review.Requester(d.Req)
	d.Spec.ExternalID = externalid.Mint(d.Req, d.Spec.ExternalID, &d.New.Metadata, d.Annotations)
	nameSecret(&d.Spec, d.Req.Name)
	m.warnHasty()
	if d.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		d.Annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	if misshapen(&d.Spec, d.Req.Namespace) != nil {
		// The validating phase denies it.
		return nil
	}
	if !references.Of(&d.Spec.DecidedReference, d.Req.Namespace).Empty() {
		return decider{m.tools, m.reads, d}.takeAsDecided(ctx)
	}
	return decider{m.tools, m.reads, d}.decide(ctx, true)
}

// Update keeps what was decided, and decides what was not.
func (m *mutation) Update(ctx context.Context) error {
	d := m.draft
	settled := settledBinding(d.Old)
	kept := keepFields(&d.Spec, d.Write)
	rotation := keepRequests(d.Old.Spec.Rotation, d.Spec.Rotation)
	back := rotation != d.Spec.Rotation
	d.Spec.Rotation = rotation
	restore.GuardAnnotations(&d.New.Metadata, &d.Old.Metadata, d.Annotations)
	d.Changed = !sameBindingSpec(d.Old.Spec, &d.Spec)
	if d.Changed && !settled && d.Old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		d.Annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	switch {
	case d.Old.Spec.UserInfo != nil && (!d.Changed || settled):
		// A user who requests a rotation does not become the binding's user:
		// the controller checks the permissions of userInfo.
		d.Spec.UserInfo = d.Old.Spec.UserInfo
	case d.Changed, d.Spec.UserInfo != nil:
		d.Spec.UserInfo = review.Requester(d.Req)
	}
	if len(kept) > 0 && (d.Changed || !settled) {
		// Old clients write a decided binding like that, without intent.
		d.Warnf("kept %s: leaving a field out does not clear it", strings.Join(kept, ", "))
	}
	m.warnHasty()
	if back && d.Changed {
		d.Warnf("kept spec.rotation.requests: it counts requests and does not go back")
	}
	switch {
	case settled:
		return nil
	case references.Changed(&d.New.Spec.DecidedReference, &d.Old.Spec.DecidedReference, &d.Old.Spec.DecidedReference) != "":
		d.Deny(forgedOnBinding(&d.New.Spec.DecidedReference))
		return nil
	case d.New.Deleting() || misshapen(&d.Spec, d.Req.Namespace) != nil:
		// A touch of a binding that was stored without the hooks is not denied.
		return nil
	}
	return decider{m.tools, m.reads, d}.decide(ctx, d.Changed)
}

// warnHasty warns of a new time between rotations that is below the minimum.
func (m *mutation) warnHasty() {
	if isHasty(m.draft.Before().Rotation, m.draft.Spec.Rotation) {
		m.draft.Warnf("spec.rotation.every is %s, and credentials are kept for a minute at least", m.draft.Spec.Rotation.Every.Duration)
	}
}

// BuildPatch writes down what admission adds to the write.
func (m *mutation) BuildPatch() {
	d := m.draft
	given := d.New.Spec
	if wrote, kept := given.Rotation, d.Spec.Rotation; wrote != nil && kept != nil && wrote.Requests != kept.Requests {
		// A count that is kept is patched by itself: the times beside it are to stay as they are written.
		d.Patch.Add(kept.Requests, "spec", fieldRotation, "requests")
		other := *given
		other.Rotation, given = kept, &other
	}
	d.PatchSpec(patchedFields, given)
	if d.Spec.InstanceRef == nil && d.New.Spec.InstanceRef != nil {
		d.Patch.Remove("spec", "instanceRef")
	}
	d.PatchFinalizer(sameBindingSpec)
}
