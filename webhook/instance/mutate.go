package instance

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Handler admits ServiceInstances.
type Handler struct{ *decision.Tools }

// An Mutation completes one write of an instance. The write is what the
// requester sent; spec, annotations and labels are what will be stored.
type Mutation struct {
	*Handler
	*Write
	review.Result

	Spec        v1beta1.ServiceInstanceSpec
	Annotations map[string]string
	// Changed says that an UPDATE changes spec, beyond what is restored.
	Changed bool
	// Settled says that this write was decided.
	Settled bool
	// Additions are what defaults add to the parameters.
	Additions []parameters.Addition
	// Defined is the plan that this write was decided on, and applied the record of
	// it.
	Defined *catalog.Definition
	Applied v1beta1.AppliedDefaults
}

// Mutate is the mutating phase.
func (h *Handler) Mutate(ctx context.Context, req *admission.Request) (review.Result, error) {
	write, wrong := review.Decode[v1beta1.ServiceInstanceSpec, Progress](req)
	if wrong != nil {
		// The schema of the CRD, which is checked next, gives the best message.
		return review.Result{Rule: review.RuleNone}, nil
	}
	m := &Mutation{Handler: h, Write: write, Spec: *write.New.Spec, Annotations: map[string]string{}, Result: review.Result{Rule: review.RuleNone}}
	return review.Mutate(ctx, req, m)
}

// Create decides a new instance, or takes a restored one, which has its
// references, as decided.
func (m *Mutation) Create(ctx context.Context) error {
	if owner, dedicated := m.New.Metadata.DedicatedTo(); dedicated {
		return m.takeDedicated(ctx, &owner)
	}
	m.Spec.UserInfo = review.Requester(m.Req)
	m.Spec.ExternalID = externalid.Mint(m.Req, m.Spec.ExternalID, &m.New.Metadata, m.Annotations)
	if m.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		// What is decided below writes its own; nothing decided has none.
		m.Annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	if !references.Of(&m.Spec.DecidedReference, m.Req.Namespace).Empty() {
		return m.TakeAsDecided(ctx)
	}
	return m.Decide(ctx, true)
}
