package webhook

import (
	"context"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

type labelSelector = metav1.LabelSelector

// mintSpace is the name space of the external IDs that are minted: they are
// derived from the UID of the request, so that the handler is a function of it.
var mintSpace = uuid.MustParse("5d3c7e0a-6f0b-4b53-9c37-0f5f6f1f8a55")

// instances admits ServiceInstances.
type instances struct{ *commons }

// An instanceMutation makes one write of an instance whole. The write is what
// the requester sent; spec, annotations and labels are what will be stored.
type instanceMutation struct {
	*instances
	*instanceWrite
	verdict

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

// mutate is the mutating half.
func (h *instances) mutate(ctx context.Context, req *admission.Request) (verdict, error) {
	write, wrong := readWrite[v1beta1.ServiceInstanceSpec, progress](req)
	if wrong != nil {
		// The schema of the CRD, which is checked next, says best what is wrong.
		return verdict{rule: ruleNone}, nil
	}
	m := &instanceMutation{instances: h, instanceWrite: write, spec: *write.new.Spec, annotations: map[string]string{}, verdict: verdict{rule: ruleNone}}
	return mutate(ctx, req, m)
}

// create decides a new instance, or takes one as decided that comes with its
// references.
func (m *instanceMutation) create(ctx context.Context) error {
	if owner, dedicated := m.new.Metadata.dedicatedTo(); dedicated {
		return m.takeDedicated(ctx, &owner)
	}
	m.spec.UserInfo = requester(m.req)
	m.spec.ExternalID = mint(m.req, m.spec.ExternalID, &m.new.Metadata, m.annotations)
	if m.new.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		// What is decided below writes its own; nothing decided has none.
		m.annotations[v1beta1.AnnotationAppliedDefaults] = ""
	}
	if !refsOf(&m.spec.DecidedReference, m.req.Namespace).empty() {
		return m.takeAsDecided(ctx)
	}
	return m.decide(ctx, true)
}

// mint returns the external ID of a new object: the given one, or an ID of its
// own, with the marker that says so. A marker that the requester wrote is made
// void: only an ID that was minted for this very object may ever be mitigated at a
// broker.
func mint(req *admission.Request, given string, meta *objectMeta, annotations map[string]string) string {
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
