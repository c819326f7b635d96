package offline

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/deploy/schema"
)

// A write is one create or update on its way.
type write struct {
	kind *schema.Kind
	// object is as the client sent it, and at the end as it is stored.
	object *unstructured.Unstructured
	// old is nil on a create.
	old  *unstructured.Unstructured
	user authenticationv1.UserInfo
	// nth is the number of the object among those whose names are generated.
	nth    int
	result Result
}

// write handles a write as the API server does. It is stored if nothing denies
// it and it changes something.
func (c *Cluster) write(ctx context.Context, w *write) (Result, error) {
	sent := w.object.DeepCopy()
	if w.old == nil && w.object.GetName() == "" {
		c.generated++
		w.nth = c.generated
	}
	if err := c.admit(ctx, w); err != nil {
		return Result{}, fmt.Errorf("cannot admit %s %q: %w", w.kind.Kind, sent.GetName(), err)
	}
	if w.result.Denied != nil {
		w.result.Object = sent
		return w.result, nil //nolint:nilerr // a denial is a result, not a failure
	}
	// What is read is what is stored with the schema's defaults.
	w.kind.Default(w.object.Object)
	w.result.Object = w.object
	if w.old != nil && equality.Semantic.DeepEqual(w.old.Object, w.object.Object) {
		return w.result, nil
	}
	return w.result, c.keep(ctx, w.object)
}

// admit takes a write step by step, until one denies it.
func (c *Cluster) admit(ctx context.Context, w *write) error {
	for _, step := range []func(context.Context, *write) error{decode, c.mutate, prepare, c.validate} {
		if err := step(ctx, w); err != nil || w.result.Denied != nil {
			return err
		}
	}
	return nil
}

// decode reads what a client sent, as kubectl has the API server read it: what it
// does not know is an error.
func decode(_ context.Context, w *write) error {
	unknown, err := w.kind.Coerce(w.object)
	if err == nil {
		err = strict(unknown)
	}
	if err != nil {
		w.result.Denied = apierrors.NewBadRequest(fmt.Sprintf("%[1]s in version %[2]q cannot be handled as a %[1]s: %[3]v", w.kind.Kind, w.kind.Version, err))
		return nil
	}
	w.object.SetNamespace(keyOf(w.kind, w.object).Namespace)
	w.object.SetManagedFields(nil)
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

// mutate asks the mutating phase, and does what it answers.
func (c *Cluster) mutate(ctx context.Context, w *write) error {
	answer, err := c.hooks.call(ctx, c.hooks.mutating[w.kind.Resource], w)
	if err != nil || answer == nil || w.result.Denied != nil || len(answer.Patch) == 0 {
		return err
	}
	return w.patch(answer.Patch)
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

// prepare completes the object as it is stored, and validates it by its CRD.
func prepare(ctx context.Context, w *write) error {
	if w.old == nil {
		w.prepareCreate()
	} else {
		w.prepareUpdate()
	}
	if errs := w.kind.Validate(ctx, w.object, w.old); len(errs) > 0 {
		w.result.Denied = apierrors.NewInvalid(w.kind.GroupKind(), w.object.GetName(), errs)
	}
	return nil
}

func (w *write) prepareCreate() {
	if base := w.object.GetGenerateName(); base != "" && w.object.GetName() == "" {
		w.object.SetName(generated(base, w.nth))
	}
	delete(w.object.Object, "status")
	w.object.SetGeneration(1)
	w.object.SetUID(derived(w.kind.Kind, w.object.GetNamespace(), w.object.GetName()))
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

// validate asks the validating phase.
func (c *Cluster) validate(ctx context.Context, w *write) error {
	_, err := c.hooks.call(ctx, c.hooks.validating[w.kind.Resource], w)
	return err
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
