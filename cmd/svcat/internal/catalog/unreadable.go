package catalog

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	scopes "github.com/defaultplan/defaultplan/webhook/catalog"
)

// Listed is what to list: the kind of the list, and of what is in it.
type Listed struct {
	List   client.ObjectList
	Object client.Object
}

// Readable calls each with every object, as Pages does, and unreadable with those of which a field is not
// of its type. The definitions of the retired catalog have no schema, so a user may store such an object,
// and a list cannot be decoded with it in it: then the objects are read one by one.
func Readable(
	ctx context.Context, reader client.Reader, of Listed,
	each func(client.Object) error, unreadable func(*unstructured.Unstructured), options ...client.ListOption,
) error {
	return pages(options, func(at []client.ListOption) (client.ObjectList, error) {
		fresh, _ := of.List.DeepCopyObject().(client.ObjectList)
		err := reader.List(ctx, fresh, at...)
		if err == nil {
			return fresh, meta.EachListItem(fresh, func(item runtime.Object) error {
				object, _ := item.(client.Object)
				return each(object)
			})
		}
		names := &metav1.PartialObjectMetadataList{}
		names.SetGroupVersionKind(kindOf(of.List))
		if answered(ctx, err) || reader.List(ctx, names, at...) != nil {
			return nil, fmt.Errorf("cannot list %s: %w", scopes.ResourceOf(of.List), err)
		}
		for i := range names.Items {
			if err := readOne(ctx, reader, client.ObjectKeyFromObject(&names.Items[i]), of.Object, each, unreadable); err != nil {
				return nil, err
			}
		}
		return names, nil
	})
}

// readOne reads one object of a kind. It may have been deleted meanwhile.
func readOne(
	ctx context.Context, reader client.Reader, at client.ObjectKey, kind client.Object,
	each func(client.Object) error, unreadable func(*unstructured.Unstructured),
) error {
	object, _ := kind.DeepCopyObject().(client.Object)
	err := reader.Get(ctx, at, object)
	if err == nil {
		return each(object)
	}
	if found := Unreadable(ctx, reader, at, kind, err); found != nil {
		unreadable(found)
		return nil
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("cannot read %s %s: %w", kindOf(kind).Kind, at, err)
}

// Unreadable is an object of a kind that a read failed for because a field is not of its type; nil if the
// read failed for another reason.
func Unreadable(ctx context.Context, reader client.Reader, at client.ObjectKey, kind client.Object, err error) *unstructured.Unstructured {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(kindOf(kind))
	if answered(ctx, err) || reader.Get(ctx, at, found) != nil {
		return nil
	}
	typed := kind.DeepCopyObject()
	text, failed := found.MarshalJSON()
	if failed != nil || kjson.UnmarshalCaseSensitivePreserveInts(text, typed) == nil {
		return nil // the request failed, and not its answer
	}
	return found
}

// answered says that an error is the API server's answer, or of a command that was interrupted.
func answered(ctx context.Context, err error) bool {
	return ctx.Err() != nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown
}

// kindOf is the kind of a typed object or list of ours.
func kindOf(object runtime.Object) schema.GroupVersionKind {
	return v1beta1.GroupVersion.WithKind(reflect.TypeOf(object).Elem().Name())
}
