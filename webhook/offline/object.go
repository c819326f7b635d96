package offline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/deploy/schema"
)

// A write is one create or update on its way, or with no object a deletion.
type write struct {
	kind *schema.Kind
	// object is as the client sent it, and at the end as it is stored.
	object *unstructured.Unstructured
	// old is nil on a create.
	old                  *unstructured.Unstructured
	user                 authenticationv1.UserInfo
	at                   metav1.Time
	tracked, status, dry bool
	// nth is the number of the object among those whose names are generated.
	nth    int
	result Result
}

// errModified is the API server's conflict.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

func (w *write) resource() runtimeschema.GroupResource {
	return runtimeschema.GroupResource{Group: w.kind.Group, Resource: w.kind.Resource}
}

// refused is the result of a write that does not come to admission.
func (w *write) refused(why *apierrors.StatusError) Result {
	return Result{Object: w.object, Denied: why}
}

// conflict says that the write is of another version or object than the stored one.
func (w *write) conflict() *apierrors.StatusError {
	if uid := w.object.GetUID(); uid != "" && uid != w.old.GetUID() {
		other := fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", uid, w.old.GetUID()) //nolint:staticcheck,err113 // the API server's words
		return apierrors.NewConflict(w.resource(), w.object.GetName(), other)
	}
	if version := w.object.GetResourceVersion(); version != "" && version != w.old.GetResourceVersion() {
		return apierrors.NewConflict(w.resource(), w.object.GetName(), errModified)
	}
	return nil
}

// decode reads what a client sent, as kubectl has the API server read it: what it
// does not know is an error.
func decode(_ context.Context, w *write) error {
	unknown, err := w.kind.Coerce(w.object)
	if err == nil && len(unknown) > 0 && w.old != nil {
		// What was stored by another version is pruned when it is read, and not sent.
		var stored []string
		stored, err = w.kind.Coerce(w.old)
		unknown = slices.DeleteFunc(unknown, func(path string) bool { return slices.Contains(stored, path) })
	}
	if err == nil {
		err = strict(unknown)
	}
	if err != nil {
		w.result.Denied = apierrors.NewBadRequest(fmt.Sprintf("%[1]s in version %[2]q cannot be handled as a %[1]s: %[3]v", w.kind.Kind, w.kind.Version, err))
		return nil
	}
	w.object.SetNamespace(keyOf(w.kind, w.object).Namespace)
	if !w.tracked {
		w.object.SetManagedFields(nil)
	}
	w.systemFields()
	return nil
}

// strict is the error of fields that are not known, nil for none.
func strict(unknown []string) error {
	if len(unknown) == 0 {
		return nil
	}
	errs := make([]error, len(unknown))
	for i, path := range unknown {
		errs[i] = fmt.Errorf("unknown field %q", path)
	}
	return runtime.NewStrictDecodingError(errs)
}

// systemFields sets the metadata that clients cannot write: none on a create,
// and the old values on an update.
func (w *write) systemFields() {
	before := w.old
	if before == nil {
		before = &unstructured.Unstructured{Object: map[string]any{}}
	}
	w.object.SetUID(before.GetUID())
	w.object.SetResourceVersion(before.GetResourceVersion())
	w.object.SetCreationTimestamp(before.GetCreationTimestamp())
	w.object.SetDeletionTimestamp(before.GetDeletionTimestamp())
	w.object.SetDeletionGracePeriodSeconds(before.GetDeletionGracePeriodSeconds())
	w.object.SetGeneration(before.GetGeneration())
	if w.object.GetGeneration() == 0 {
		unstructured.RemoveNestedField(w.object.Object, "metadata", "generation")
	}
}

// patch applies a JSON patch by the API server's own library.
func (w *write) patch(operations []byte) error {
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		return fmt.Errorf("cannot decode the patch: %w", err)
	}
	raw, err := w.object.MarshalJSON()
	if err != nil {
		return fmt.Errorf("cannot encode the object: %w", err)
	}
	if raw, err = patch.Apply(raw); err != nil {
		return fmt.Errorf("cannot apply the patch: %w", err)
	}
	patched := &unstructured.Unstructured{}
	if err := patched.UnmarshalJSON(raw); err != nil {
		return fmt.Errorf("cannot read the patched object: %w", err)
	}
	w.kind.Default(patched.Object)
	w.object = patched
	return nil
}

func (w *write) prepareCreate() {
	if base := w.object.GetGenerateName(); base != "" && w.object.GetName() == "" {
		w.object.SetName(generated(base, w.nth))
	}
	delete(w.object.Object, "status")
	w.object.SetGeneration(1)
	w.object.SetUID(derived(w.kind.Kind, w.object.GetNamespace(), w.object.GetName()))
	if !w.at.IsZero() {
		w.object.SetCreationTimestamp(w.at)
	}
}

// prepareStatus leaves of a write its status and managedFields.
func (w *write) prepareStatus() {
	status, has := w.object.Object["status"]
	fields := w.object.GetManagedFields()
	w.object = w.old.DeepCopy()
	if delete(w.object.Object, "status"); has {
		w.object.Object["status"] = status
	}
	if w.tracked {
		w.object.SetManagedFields(fields)
	}
}

func (w *write) prepareUpdate() {
	delete(w.object.Object, "status")
	if status, ok := w.old.Object["status"]; ok {
		w.object.Object["status"] = status
	}
	if !sameButMetadata(w.object.Object, w.old.Object) {
		w.object.SetGeneration(w.old.GetGeneration() + 1)
	}
}

// sameButMetadata says that two objects differ in nothing but metadata.
func sameButMetadata(a, b map[string]any) bool {
	x, y := maps.Clone(a), maps.Clone(b)
	delete(x, "metadata")
	delete(y, "metadata")
	return equality.Semantic.DeepEqual(x, y)
}

// review is the AdmissionReview of the write.
func (w *write) review() (*admissionv1.AdmissionReview, error) {
	object, err := raw(w.object)
	if err != nil {
		return nil, err
	}
	request := &admissionv1.AdmissionRequest{
		UID:  w.uid(),
		Kind: metav1.GroupVersionKind(w.kind.GroupVersionKind), Resource: metav1.GroupVersionResource(w.kind.GroupVersion().WithResource(w.kind.Resource)),
		Name: w.object.GetName(), Namespace: w.object.GetNamespace(), Operation: admissionv1.Create,
		UserInfo: w.user, Object: object, DryRun: new(bool),
	}
	if w.old != nil {
		request.Operation = admissionv1.Update
		if request.OldObject, err = raw(w.old); err != nil {
			return nil, err
		}
	}
	review := &admissionv1.AdmissionReview{Request: request}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	return review, nil
}

// uid is the request's: the same for the same write.
func (w *write) uid() types.UID {
	words := []string{"request", w.kind.Kind, w.object.GetNamespace()}
	switch {
	case w.old != nil:
		words = append(words, w.object.GetName(), w.old.GetResourceVersion())
	case w.nth > 0:
		words = append(words, w.object.GetGenerateName(), strconv.Itoa(w.nth))
	default:
		words = append(words, w.object.GetName())
	}
	return derived(words...)
}

func raw(object *unstructured.Unstructured) (runtime.RawExtension, error) {
	text, err := object.MarshalJSON()
	if err != nil {
		return runtime.RawExtension{}, fmt.Errorf("cannot encode the object: %w", err)
	}
	return runtime.RawExtension{Raw: text}, nil
}
