package externalid

import (
	"github.com/google/uuid"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// mintSpace is the name space of the external IDs that are minted: they are
// derived from the UID of the request, so that the handler is a function of it.
var mintSpace = uuid.MustParse("5d3c7e0a-6f0b-4b53-9c37-0f5f6f1f8a55")

// Mint returns the external ID of a new object: the given one, or an ID of its
// own, with the marker that says so. A marker that the requester wrote is made
// void: only an ID that was minted for this very object may ever be mitigated at a
// broker.
func Mint(req *admission.Request, given string, meta *review.ObjectMeta, annotations map[string]string) string {
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

// Marked says that its user wants what the broker has to be taken over as it is.
func Marked(m *review.ObjectMeta) bool { return m.Annotations[v1beta1.AnnotationAdopt] == "true" }
