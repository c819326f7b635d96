package apiclient

import (
	"encoding/json"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	definitions "github.com/defaultplan/defaultplan/deploy/schema"
)

// An owner records which manager owns which fields of the objects of a kind, by the API
// server's own library.
type owner struct {
	whole, status *managedfields.FieldManager
}

// of is the record of writes to the whole object, or to its status alone.
func (o *owner) of(status bool) *managedfields.FieldManager {
	if status {
		return o.status
	}
	return o.whole
}

// owners are those of the kinds that were written, by resource. They are made once for all
// clients: a definition never changes.
var owners sync.Map

func ownerOf(kind *definitions.Kind) (*owner, error) {
	made, _ := owners.LoadOrStore(kind.Resource, sync.OnceValues(func() (*owner, error) { return newOwner(kind) }))
	return made.(func() (*owner, error))() //nolint:forcetypeassert // it was stored above
}

func newOwner(kind *definitions.Kind) (*owner, error) {
	converter, err := managedfields.NewTypeConverter(modelsOf(kind), false)
	if err != nil {
		return nil, fmt.Errorf("cannot convert objects of %q: %w", kind.Resource, err)
	}
	o := &owner{}
	version := fieldpath.APIVersion(kind.GroupVersion().String())
	for _, of := range []struct {
		manager     **managedfields.FieldManager
		subresource string
		reset       *fieldpath.Set
	}{
		{&o.whole, "", fieldpath.NewSet(fieldpath.MakePathOrDie("status"))},
		{&o.status, "status", fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))},
	} {
		reset := fieldpath.NewExcludeFilterSetMap(map[fieldpath.APIVersion]*fieldpath.Set{version: of.reset})
		*of.manager, err = managedfields.NewDefaultCRDFieldManager(converter, asIs{}, asIs{}, asIs{}, kind.GroupVersionKind, kind.GroupVersion(), of.subresource, reset)
		if err != nil {
			return nil, fmt.Errorf("cannot record the owners of fields of %q: %w", kind.Resource, err)
		}
	}
	return o, nil
}

// updated is an object with its managers after an update by one of them; live is nil at a
// create.
func (o *owner) updated(live, object *unstructured.Unstructured, manager string, status bool) *unstructured.Unstructured {
	if live == nil {
		live = &unstructured.Unstructured{Object: map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind()}}
	}
	// UpdateNoErrors logs what does not fit the schema with its values. Admission refuses that,
	// and says so without them.
	updated, err := o.of(status).Update(live, object, manager)
	if done, is := updated.(*unstructured.Unstructured); is && err == nil {
		return done
	}
	object.SetManagedFields(live.GetManagedFields())
	return object
}

// applied is an object after a server-side apply; live is nil where there is none. The
// error may be a conflict, as clients see it.
func (o *owner) applied(kind *definitions.Kind, live *unstructured.Unstructured, patch []byte, manager string, force, status bool) (*unstructured.Unstructured, error) {
	wanted := &unstructured.Unstructured{}
	if err := json.Unmarshal(patch, &wanted.Object); err != nil {
		return nil, apierrors.NewBadRequest("cannot decode an apply: it is no JSON object")
	}
	if live == nil {
		live = &unstructured.Unstructured{Object: map[string]any{"apiVersion": wanted.GetAPIVersion(), "kind": wanted.GetKind()}}
		live.SetName(wanted.GetName())
		live.SetNamespace(wanted.GetNamespace())
	}
	if wanted.GetUID() != "" && wanted.GetUID() != live.GetUID() {
		mismatch := fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object has it", wanted.GetUID()) //nolint:err113 // as the API server says it
		return nil, apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Resource}, wanted.GetName(), mismatch)
	}
	done, err := o.of(status).Apply(live, wanted, manager, force)
	if err != nil {
		return nil, err //nolint:wrapcheck // clients compare it
	}
	object, ok := done.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("cannot apply %s %q: it became %T", kind.Kind, wanted.GetName(), done)
	}
	return object, nil
}

// asIs is what an API server with one version of a kind does to convert, default and make
// objects: nothing. Defaults are filled in at admission.
type asIs struct{}

// Convert converts nothing.
func (asIs) Convert(in, out, _ any) error { return fmt.Errorf("cannot convert %T to %T", in, out) }

// ConvertToVersion leaves the only version.
func (asIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

// ConvertFieldLabel leaves a label.
func (asIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default fills in nothing.
func (asIs) Default(runtime.Object) {}

// New is an empty object.
func (asIs) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	made := &unstructured.Unstructured{Object: map[string]any{}}
	made.SetGroupVersionKind(kind)
	return made, nil
}
