package review

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

// An Object is what admission reads of an object with a spec S, of whose status
// it looks at P: managedFields, the rest of the status and whatever it does not
// know are left where they are.
type Object[S, P any] struct {
	Metadata ObjectMeta `json:"metadata"`
	Spec     *S         `json:"spec"`
	Status   P          `json:"status"`

	// Specless says that there was no spec at all.
	Specless bool `json:"-"`
}

// ObjectMeta is what admission reads of metadata.
type ObjectMeta struct {
	UID               types.UID         `json:"uid"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	Finalizers        []string          `json:"finalizers"`
	DeletionTimestamp *string           `json:"deletionTimestamp"`

	OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
}

// DedicatedTo is the binding whose own an instance of this metadata is; false where
// it is no binding's own.
func (m *ObjectMeta) DedicatedTo() (metav1.OwnerReference, bool) {
	if len(m.OwnerReferences) == 0 {
		return metav1.OwnerReference{}, false
	}
	return (&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{OwnerReferences: m.OwnerReferences}}).DedicatedTo()
}

// Deleting says that the object is being deleted.
func (o *Object[S, P]) Deleting() bool { return o.Metadata.DeletionTimestamp != nil }

// A Write is one admission request for an object.
type Write[S, P any] struct {
	// Req is the request itself.
	Req *admission.Request
	// New is the object as it is to be stored.
	New *Object[S, P]
	// Old is nil on CREATE.
	Old *Object[S, P]
}

// An Unreadable is an object that is not of its kind: which field is wrong, and
// how, but never its value.
type Unreadable struct{ Field, Text string }

// Denial denies the object; resource is what kubectl explains.
func (u *Unreadable) Denial(resource string) *Denial {
	return Invalid("Unreadable", u.Field, "%s", u.Text).Remedy("kubectl explain %s", resource)
}

// Decode decodes the objects of a request.
func Decode[S, P any](req *admission.Request) (*Write[S, P], *Unreadable) {
	decoded := &Write[S, P]{Req: req}
	var wrong *Unreadable
	if decoded.New, wrong = decodeObject[S, P](req.Object.Raw); wrong != nil {
		return nil, wrong
	}
	if req.Operation != admissionv1.Update {
		return decoded, nil
	}
	if decoded.Old, wrong = decodeObject[S, P](req.OldObject.Raw); wrong != nil {
		return nil, &Unreadable{wrong.Field, "the stored object cannot be read: " + wrong.Text}
	}
	return decoded, nil
}

func decodeObject[S, P any](raw []byte) (*Object[S, P], *Unreadable) {
	decoded := &Object[S, P]{}
	// As the API server reads it: ServiceType is not serviceType.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, decoded); err != nil {
		return nil, DescribeJSON(err)
	}
	if decoded.Spec == nil {
		decoded.Spec, decoded.Specless = new(S), true
	}
	return decoded, nil
}

// Before is the spec that is stored, an empty one on CREATE.
func (w *Write[S, P]) Before() *S {
	if w.Old == nil {
		return new(S)
	}
	return w.Old.Spec
}

// Seed is what ties between equal plans are broken by: the object's name, and
// before generateName has given one the request's UID.
func (w *Write[S, P]) Seed() string {
	if w.Req.Name == "" {
		return string(w.Req.UID)
	}
	return w.Req.Namespace + "/" + w.Req.Name
}

// Writes says whether the requester wrote the field of spec at all: an explicit
// empty value differs from an absent one, which is also what a null reads like.
func (w *Write[S, P]) Writes(field string) bool {
	var object struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if json.Unmarshal(w.Req.Object.Raw, &object) != nil {
		return false
	}
	raw := object.Spec[field]
	return len(raw) > 0 && string(raw) != "null"
}

// DescribeJSON says what is wrong with JSON without quoting it.
func DescribeJSON(err error) *Unreadable {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return &Unreadable{"spec", "it cannot be read as JSON of its kind"}
	}
	// For a number that does not fit, the decoder's description goes on with it.
	kind, _, tooLong := strings.Cut(wrong.Value, " ")
	if tooLong {
		return &Unreadable{wrong.Field, "it must be a whole number of at most 64 bits"}
	}
	return &Unreadable{wrong.Field, "it cannot be of the type " + kind}
}
