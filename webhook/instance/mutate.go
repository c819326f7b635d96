package instance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Handler admits ServiceInstances.
type Handler struct{ Tools *decision.Tools }

// A mutation completes one write of an instance.
type mutation struct {
	tools *decision.Tools
	draft *Draft
}

// Mutate is the mutating phase.
func (h *Handler) Mutate(ctx context.Context, req *admission.Request) (review.Result, error) {
	write, wrong := review.Decode[v1beta1.ServiceInstanceSpec, Progress](req)
	if wrong != nil {
		// The schema of the CRD, which is checked next, gives the best message.
		return review.Result{Rule: review.RuleNone}, nil
	}
	m := &mutation{h.Tools, decision.NewDraft(write)}
	return review.Mutate(ctx, req, m, &m.draft.Result)
}

// Create decides a new instance, or takes a restored one, which has its
// references, as decided.
func (m *mutation) Create(ctx context.Context) error {
	d := m.draft
	if owner, dedicated := d.New.Metadata.DedicatedTo(); dedicated {
		return m.takeDedicated(ctx, &owner)
	}
	d.Spec.UserInfo = review.Requester(d.Req)
	d.Spec.ExternalID = externalid.Mint(d.Req, d.Spec.ExternalID, &d.New.Metadata, d.Annotations)
	if d.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		// What is decided below writes its own; nothing decided has none.
		d.Annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	decider := Decider{m.tools, d}
	if !references.Of(&d.Spec.DecidedReference, d.Req.Namespace).Empty() {
		return decider.TakeAsDecided(ctx)
	}
	_, err := decider.Decide(ctx, true)
	return err
}

// takeDedicated admits a dedicated instance as the binding specifies it:
// nothing is merged, and its user is the binding's.
func (m *mutation) takeDedicated(ctx context.Context, owner *metav1.OwnerReference) error {
	d := m.draft
	denied, err := ownersOf(m.tools).refuse(ctx, d.Write, owner)
	if err != nil {
		return err
	}
	if denied != nil {
		d.Deny(denied)
		return nil
	}
	d.Spec.ExternalID = externalid.Mint(d.Req, "", &d.New.Metadata, d.Annotations)
	applied := parameters.Applied(d.New.Metadata.Annotations)
	d.Decide(applied.Rule, references.Of(&d.Spec.DecidedReference, d.Req.Namespace).Plan, applied.Class+"/"+applied.Plan)
	d.Audit("own-of", owner.Name)
	return nil
}

// BuildPatch writes down what admission adds to the write.
func (m *mutation) BuildPatch() {
	d := m.draft
	d.PatchSpec(patchedFields, d.New.Spec)
	d.Patch.AddEntries(d.New.Metadata.Labels, references.HashedLabels(&d.Spec.DecidedReference, d.New.Metadata.Labels), "metadata", "labels")
	d.PatchFinalizer(sameSpec)
}
