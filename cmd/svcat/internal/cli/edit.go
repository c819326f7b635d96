package cli

import (
	"context"
	"reflect"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Edit patches an object with what edit makes of it, also if another client writes it at
// the same time: then edit is called again, with the object as it is now. What edit
// refuses is not written.
func Edit[T client.Object](ctx context.Context, c client.Client, write *WriteFlags, object T, edit func(T) error) error {
	return EditBy(ctx, c, write, object, edit, func(before T) client.Patch {
		return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	})
}

// EditBy is Edit with a patch of its own kind, made from the object as it was. It holds the
// resourceVersion of that.
func EditBy[T client.Object](ctx context.Context, c client.Client, write *WriteFlags, object T, edit func(T) error, patch func(before T) client.Patch) error {
	first := true
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if !first {
			if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				return err
			}
		}
		first = false
		before, _ := object.DeepCopyObject().(T)
		if err := edit(object); err != nil {
			return err
		}
		return write.Patch(ctx, c, object, patch(before))
	})
}

// CopyInto makes one object another of the same kind.
func CopyInto(into, from client.Object) {
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from).Elem())
}
