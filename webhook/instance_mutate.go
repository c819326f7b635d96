package webhook

import (
	"context"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

type labelSelector = metav1.LabelSelector

// mintSpace is the UUID namespace of generated external IDs: they are derived
// from the UID of the request, so that the handler is deterministic.
var mintSpace = uuid.MustParse("5d3c7e0a-6f0b-4b53-9c37-0f5f6f1f8a55")

// instances admits ServiceInstances.
type instances struct{ *commons }

// An instanceMutation completes one write of an instance. The write is what the
// requester sent; spec, annotations and labels are what will be stored.
type instanceMutation struct {
	*instances
	*instanceWrite
	review.Result

	spec        v1beta1.ServiceInstanceSpec
	annotations map[string]string
	// changed says that an UPDATE changes spec, beyond what is restored.
	changed bool
	// settled says that this write was decided.
	settled bool
	// additions are what defaults add to the parameters.
	additions []addition
	// defined is the plan that this write was decided on, and applied the record of
	// it.
	defined *definition
	applied v1beta1.AppliedDefaults
}

// mutate is the mutating phase.
func (h *instances) mutate(ctx context.Context, req *admission.Request) (review.Result, error) {
	write, wrong := review.Decode[v1beta1.ServiceInstanceSpec, progress](req)
	if wrong != nil {
		// The schema of the CRD, which is checked next, gives the best message.
		return review.Result{Rule: review.RuleNone}, nil
	}
	m := &instanceMutation{instances: h, instanceWrite: write, spec: *write.New.Spec, annotations: map[string]string{}, Result: review.Result{Rule: review.RuleNone}}
	return review.Mutate(ctx, req, m)
}

// Create decides a new instance, or takes a restored one, which has its
// references, as decided.
func (m *instanceMutation) Create(ctx context.Context) error {
	if owner, dedicated := m.New.Metadata.DedicatedTo(); dedicated {
		return m.takeDedicated(ctx, &owner)
	}
	m.spec.UserInfo = requester(m.Req)
	m.spec.ExternalID = mint(m.Req, m.spec.ExternalID, &m.New.Metadata, m.annotations)
	if m.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		// What is decided below writes its own; nothing decided has none.
		m.annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	if !refsOf(&m.spec.DecidedReference, m.Req.Namespace).empty() {
		return m.takeAsDecided(ctx)
	}
	return m.decide(ctx, true)
}

// mint returns the external ID of a new object: the given one, or a generated
// one, which it marks by an annotation. A marker that the requester wrote is
// discarded: orphan mitigation is only safe for an ID that was generated for
// this object.
func mint(req *admission.Request, given string, meta *review.ObjectMeta, annotations map[string]string) string {
	if given == "" {
		minted := uuid.NewSHA1(mintSpace, []byte(req.UID)).String()
		annotations[v1beta1.AnnotationMintedExternalID] = minted
		return minted
	}
	if meta.Annotations[v1beta1.AnnotationMintedExternalID] != "" {
		annotations[v1beta1.AnnotationMintedExternalID] = ""
	}
	return given
}
