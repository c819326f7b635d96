package webhook

import (
	"encoding/json"
	"errors"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	kjson "sigs.k8s.io/json"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A written is what admission reads of an object with a spec S, of whose status
// it looks at P: managedFields, the rest of the status and whatever it does not
// know are left where they are.
type written[S, P any] struct {
	Metadata objectMeta `json:"metadata"`
	Spec     *S         `json:"spec"`
	Status   P          `json:"status"`

	// specless says that there was no spec at all.
	specless bool
}

type objectMeta struct {
	UID               types.UID         `json:"uid"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	Finalizers        []string          `json:"finalizers"`
	DeletionTimestamp *string           `json:"deletionTimestamp"`

	OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
}

// dedicatedTo is the binding whose own an instance of this metadata is; false where
// it is nobody's own.
func (m *objectMeta) dedicatedTo() (metav1.OwnerReference, bool) {
	if len(m.OwnerReferences) == 0 {
		return metav1.OwnerReference{}, false
	}
	return (&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{OwnerReferences: m.OwnerReferences}}).DedicatedTo()
}

func (o *written[S, P]) deleting() bool { return o.Metadata.DeletionTimestamp != nil }

// A write is one admission request for an object.
type write[S, P any] struct {
	req *admission.Request
	new *written[S, P]
	// old is nil on CREATE.
	old *written[S, P]
}

// An unreadable is an object that is not of its kind: which field is wrong, and
// how, but never its value.
type unreadable struct{ field, text string }

// readWrite decodes the request.
func readWrite[S, P any](req *admission.Request) (*write[S, P], *unreadable) {
	decoded := &write[S, P]{req: req}
	var wrong *unreadable
	if decoded.new, wrong = decodeWritten[S, P](req.Object.Raw); wrong != nil {
		return nil, wrong
	}
	if req.Operation != admissionv1.Update {
		return decoded, nil
	}
	if decoded.old, wrong = decodeWritten[S, P](req.OldObject.Raw); wrong != nil {
		return nil, &unreadable{wrong.field, "the stored object cannot be read: " + wrong.text}
	}
	return decoded, nil
}

func decodeWritten[S, P any](raw []byte) (*written[S, P], *unreadable) {
	decoded := &written[S, P]{}
	// As the API server reads it: ServiceType is not serviceType.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, decoded); err != nil {
		return nil, describe(err)
	}
	if decoded.Spec == nil {
		decoded.Spec, decoded.specless = new(S), true
	}
	return decoded, nil
}

// seed is what ties between equal plans are broken by: the object's name, and
// before generateName has given one the request's UID.
func (w *write[S, P]) seed() string {
	if w.req.Name == "" {
		return string(w.req.UID)
	}
	return w.req.Namespace + "/" + w.req.Name
}

// writes says whether the requester wrote the field of spec at all: an explicit
// empty value differs from an absent one, which is also what a null reads like.
func (w *write[S, P]) writes(field string) bool {
	var object struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if json.Unmarshal(w.req.Object.Raw, &object) != nil {
		return false
	}
	return !isNull(object.Spec[field])
}

// describe says what is wrong with JSON without quoting it.
func describe(err error) *unreadable {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return &unreadable{"spec", "it cannot be read as JSON of its kind"}
	}
	// For a number that does not fit, the decoder's description goes on with it.
	kind, _, tooLong := strings.Cut(wrong.Value, " ")
	if tooLong {
		return &unreadable{wrong.Field, "it must be a whole number of at most 64 bits"}
	}
	return &unreadable{wrong.Field, "it cannot be of the type " + kind}
}
