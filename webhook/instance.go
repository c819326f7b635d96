package webhook

import (
	"encoding/json"
	"errors"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	kjson "sigs.k8s.io/json"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
)

// An instance is what admission reads of a ServiceInstance: managedFields, most
// of the status and whatever it does not know are left where they are.
type instance struct {
	Metadata objectMeta                   `json:"metadata"`
	Spec     *v1beta1.ServiceInstanceSpec `json:"spec"`
	Status   progress                     `json:"status"`

	// specless says that there was no spec at all.
	specless bool
}

type objectMeta struct {
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	Finalizers        []string          `json:"finalizers"`
	DeletionTimestamp *string           `json:"deletionTimestamp"`
}

// progress tells whether a broker was ever asked for anything.
type progress struct {
	AsyncOpInProgress          bool                      `json:"asyncOpInProgress"`
	OrphanMitigationInProgress bool                      `json:"orphanMitigationInProgress"`
	CurrentOperation           v1beta1.InstanceOperation `json:"currentOperation"`
	ProvisionStatus            v1beta1.ProvisionStatus   `json:"provisionStatus"`
	DeprovisionStatus          v1beta1.DeprovisionStatus `json:"deprovisionStatus"`
	ExternalProperties         json.RawMessage           `json:"externalProperties"`
}

// started says that an operation was started for the instance, whatever became
// of it.
func (p *progress) started() bool {
	untouched := p.DeprovisionStatus == "" || p.DeprovisionStatus == v1beta1.DeprovisionNotRequired
	return !untouched || p.AsyncOpInProgress || p.OrphanMitigationInProgress ||
		p.CurrentOperation != "" || p.ProvisionStatus == v1beta1.Provisioned || !isNull(p.ExternalProperties)
}

func (i *instance) deleting() bool { return i.Metadata.DeletionTimestamp != nil }

// An instanceWrite is one admission request for an instance.
type instanceWrite struct {
	req *admission.Request
	new *instance
	// old is nil on CREATE.
	old *instance
}

// An unreadable is an object that is no ServiceInstance: which field is wrong,
// and how, but never its value.
type unreadable struct{ field, text string }

// readInstance decodes the request.
func readInstance(req *admission.Request) (*instanceWrite, *unreadable) {
	write := &instanceWrite{req: req}
	var wrong *unreadable
	if write.new, wrong = decodeInstance(req.Object.Raw); wrong != nil {
		return nil, wrong
	}
	if req.Operation != admissionv1.Update {
		return write, nil
	}
	if write.old, wrong = decodeInstance(req.OldObject.Raw); wrong != nil {
		return nil, &unreadable{wrong.field, "the stored object cannot be read: " + wrong.text}
	}
	return write, nil
}

func decodeInstance(raw []byte) (*instance, *unreadable) {
	decoded := &instance{}
	// As the API server reads it: ServiceType is not serviceType.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, decoded); err != nil {
		return nil, describe(err)
	}
	if decoded.Spec == nil {
		decoded.Spec, decoded.specless = &v1beta1.ServiceInstanceSpec{}, true
	}
	return decoded, nil
}

// seed is what ties between equal plans are broken by: the object's name, and
// before generateName has given one the request's UID.
func (w *instanceWrite) seed() string {
	if w.req.Name == "" {
		return string(w.req.UID)
	}
	return w.req.Namespace + "/" + w.req.Name
}

// writes says whether the requester wrote the field of spec at all: an explicit
// empty value differs from an absent one, which is also what a null reads like.
func (w *instanceWrite) writes(field string) bool {
	var object struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if json.Unmarshal(w.req.Object.Raw, &object) != nil {
		return false
	}
	return !isNull(object.Spec[field])
}

// sameSpec says that two specs ask for the same, whoever asks: parameters are
// compared as JSON, and userInfo is not compared.
func sameSpec(a, b *v1beta1.ServiceInstanceSpec) bool {
	x, y := *a, *b
	if !sameParameters(x.Parameters, y.Parameters) {
		return false
	}
	x.Parameters, y.Parameters, x.UserInfo, y.UserInfo = nil, nil, nil, nil
	return equality.Semantic.DeepEqual(&x, &y)
}

func sameParameters(a, b *runtime.RawExtension) bool {
	if string(rawOf(a)) == string(rawOf(b)) {
		return true
	}
	x, errX := merge.Decode(rawOf(a))
	y, errY := merge.Decode(rawOf(b))
	if errX != nil || errY != nil || (x == nil) != (y == nil) {
		return false
	}
	return equality.Semantic.DeepEqual(x, y)
}

// rawOf is the JSON of an optional object, empty for none and for null.
func rawOf(object *runtime.RawExtension) []byte {
	if object == nil || isNull(object.Raw) {
		return nil
	}
	return object.Raw
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// requester is the user who sent the request.
func requester(req *admission.Request) *v1beta1.UserInfo {
	info := &v1beta1.UserInfo{Username: req.UserInfo.Username, UID: req.UserInfo.UID, Groups: req.UserInfo.Groups}
	if len(req.UserInfo.Extra) > 0 {
		info.Extra = make(map[string]v1beta1.ExtraValue, len(req.UserInfo.Extra))
		for key, value := range req.UserInfo.Extra {
			info.Extra[key] = v1beta1.ExtraValue(value)
		}
	}
	return info
}

// describe says what is wrong with JSON without quoting it.
func describe(err error) *unreadable {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return &unreadable{"spec", "it is not a ServiceInstance in JSON"}
	}
	// For a number that does not fit, the decoder's description goes on with it.
	kind, _, tooLong := strings.Cut(wrong.Value, " ")
	if tooLong {
		return &unreadable{wrong.Field, "it must be a whole number of at most 64 bits"}
	}
	return &unreadable{wrong.Field, "it cannot be of the type " + kind}
}
