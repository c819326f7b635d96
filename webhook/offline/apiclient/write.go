package apiclient

import (
	"context"
	"fmt"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/deploy/schema"
	"github.com/defaultplan/defaultplan/webhook/offline"
)

// A write is one create, update or patch on its way.
type write struct {
	*Client

	// into becomes what is stored.
	into  client.Object
	kind  *schema.Kind
	owner *owner
	// live is what is stored, nil for nothing.
	live        *unstructured.Unstructured
	manager     string
	dry, status bool
}

// named is an object of that kind and name alone.
func (w *write) named() *unstructured.Unstructured {
	named := &unstructured.Unstructured{Object: map[string]any{}}
	named.SetGroupVersionKind(w.kind.GroupVersionKind)
	named.SetNamespace(w.into.GetNamespace())
	named.SetName(w.into.GetName())
	return named
}

// encode is an object as it is sent.
func (w *write) encode(object client.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", w.kind.Kind, object.GetName(), err)
	}
	sent := &unstructured.Unstructured{Object: content}
	sent.SetGroupVersionKind(w.kind.GroupVersionKind)
	return sent, nil
}

// notFound is the API server's error of an object that is not there.
func (w *write) notFound() error {
	return apierrors.NewNotFound(runtimeschema.GroupResource{Group: w.kind.Group, Resource: w.kind.Resource}, w.into.GetName())
}

func (w *write) create(ctx context.Context, object *unstructured.Unstructured) error {
	result, err := w.cluster.Create(ctx, w.request(object))
	return w.take(result, err)
}

func (w *write) update(ctx context.Context, object *unstructured.Unstructured) error {
	if w.live == nil {
		return w.notFound()
	}
	result, err := w.cluster.Update(ctx, w.request(object))
	return w.take(result, err)
}

func (w *write) request(object *unstructured.Unstructured) offline.Request {
	return offline.Request{Object: object, User: w.user, At: w.now(), Tracked: true, Status: w.status, DryRun: w.dry}
}

// take makes the object what is stored, unless the write was denied.
func (w *write) take(result offline.Result, err error) error {
	switch {
	case err != nil:
		return err
	case result.Denied != nil:
		return result.Denied
	}
	return read(w.kind, result.Object, w.into)
}

// patch sends a patch. Server-side apply creates what is not there.
func (w *write) patch(ctx context.Context, of types.PatchType, data []byte, force bool) error {
	if of == types.ApplyPatchType {
		object, err := w.owner.applied(w.kind, w.live, data, w.manager, force, w.status)
		switch {
		case err != nil:
			return err
		case w.live != nil:
			return w.update(ctx, object)
		case w.status:
			return w.notFound()
		}
		return w.create(ctx, object)
	}
	if w.live == nil {
		return w.notFound()
	}
	object, err := w.patched(of, data)
	if err != nil {
		return err
	}
	return w.update(ctx, w.owner.updated(w.live, object, w.manager, w.status))
}

// patched is what is stored, with a patch applied to it by the API server's own library.
func (w *write) patched(of types.PatchType, data []byte) (*unstructured.Unstructured, error) {
	live, err := w.live.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", w.kind.Kind, w.live.GetName(), err)
	}
	switch of {
	case types.MergePatchType:
		live, err = jsonpatch.MergePatch(live, data)
	case types.JSONPatchType:
		var operations jsonpatch.Patch
		if operations, err = jsonpatch.DecodePatch(data); err == nil {
			live, err = operations.Apply(live)
		}
	default:
		return nil, fmt.Errorf("cannot patch %s %q by %q; allowed are merge patches, JSON patches and server-side apply", w.kind.Kind, w.live.GetName(), of)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("cannot patch %s %q: %v", w.kind.Kind, w.live.GetName(), err))
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(live); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("cannot patch %s %q: it would be no object", w.kind.Kind, w.live.GetName()))
	}
	return object, nil
}

// empty makes an object the zero value of its type.
func empty(object client.Object) error {
	value := reflect.ValueOf(object)
	if value.Kind() != reflect.Pointer || value.IsNil() {
		return fmt.Errorf("cannot read into %T: it is no pointer", object)
	}
	value.Elem().SetZero()
	return nil
}
