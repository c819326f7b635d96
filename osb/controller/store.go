package controller

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A store writes what is recorded of instances and bindings.
type store struct {
	client client.Client
	live   client.Reader
}

// A storable resource is in the status of an object.
type storable interface {
	// object is it as it was read; it is not written to.
	object() client.Object
	// with is a copy of o, an object of the resource's kind, with a record as its status.
	with(o client.Object, record *lifecycle.Record) client.Object
	// without is a copy of o that no longer has the resource, where that is a part of its
	// object; nil: it is all of it, and its finalizer is removed instead.
	without(o client.Object) client.Object
}

// errStale is the error for an object that was changed since it was read.
var errStale = errors.New("it was changed since it was read")

// patience is the backoff for storing an outcome: what a broker did must not be
// lost because of a short outage of the API server.
var patience = wait.Backoff{Steps: 10, Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.1, Cap: 5 * time.Second}

// recordIntent writes the record that says that a call may have been made.
func (w store) recordIntent(ctx context.Context, s storable, record *lifecycle.Record) (client.Object, error) {
	return w.write(ctx, s, s.object(), record)
}

// current is a conflict where a binding was changed since it was read, as a write would be.
func (w store) current(ctx context.Context, b client.Object) error {
	var fresh v1beta1.ServiceBinding
	if err := w.live.Get(ctx, client.ObjectKeyFromObject(b), &fresh); err != nil {
		return err
	}
	if fresh.ResourceVersion != b.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{Group: v1beta1.GroupName, Resource: "servicebindings"}, b.GetName(), errStale)
	}
	return nil
}

// write stores a record as the status of an object, on the condition that the
// object is unchanged since it was read: a stale cache fails here, before any
// call is based on it.
func (w store) write(ctx context.Context, s storable, o client.Object, record *lifecycle.Record) (client.Object, error) {
	next := s.with(o, record)
	return next, w.replace(ctx, o, next)
}

// replace writes the status of the next version of an object, on the same condition.
func (w store) replace(ctx context.Context, o, next client.Object) error {
	patch := client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
	return w.client.Status().Patch(ctx, next, patch, client.FieldOwner(v1beta1.FieldOwnerController))
}

// recordOutcome replaces a call's intent by its outcome. The object may have changed
// meanwhile: as long as its status is the one that the call was decided on, the
// outcome belongs there. It returns the version that was overwritten; empty:
// none was.
func (w store) recordOutcome(ctx context.Context, s storable, stored client.Object, record *lifecycle.Record) (over string, err error) {
	err = w.withRetry(ctx, stored, func(o client.Object) error {
		if equality.Semantic.DeepEqual(s.with(o, record), o) {
			return nil
		}
		over = o.GetResourceVersion()
		_, err := w.write(ctx, s, o, record)
		return err
	})
	return over, err
}

// withRetry tries to write until it is done, the object is gone, or it is no more the
// one that was stored.
func (w store) withRetry(ctx context.Context, stored client.Object, write func(client.Object) error) error {
	final := false
	err := retry.OnError(patience, func(error) bool { return !final }, func() error {
		err := write(stored)
		final = apierrors.IsNotFound(err) || apierrors.IsInvalid(err)
		if !apierrors.IsConflict(err) {
			return err
		}
		fresh, readErr := w.same(ctx, stored)
		switch {
		case readErr == nil && fresh == nil:
			final = true
		case readErr == nil:
			stored = fresh
		}
		return err
	})
	return client.IgnoreNotFound(err)
}

// same reads an object again; nil if its status has changed.
func (w store) same(ctx context.Context, stored client.Object) (client.Object, error) {
	fresh := stored.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy is of the kind of the original
	if err := w.live.Get(ctx, client.ObjectKeyFromObject(stored), fresh); err != nil {
		return nil, err
	}
	if fresh.GetUID() != stored.GetUID() || !equality.Semantic.DeepEqual(statusOf(fresh), statusOf(stored)) {
		return nil, nil
	}
	return fresh, nil
}

// statusOf is what only the reconciler of the object writes.
func statusOf(o client.Object) any {
	switch o := o.(type) {
	case *v1beta1.ServiceInstance:
		return o.Status
	case *v1beta1.ServiceBinding: // what is told of its Service is written by a reconciler of its own
		return endpoints.Without(o.Status)
	}
	return nil
}

// removeFinalizer removes the finalizer, on the condition that the object is unchanged
// since it was read.
func (w store) removeFinalizer(ctx context.Context, o client.Object) error {
	next := o.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy is of the kind of the original
	if !controllerutil.RemoveFinalizer(next, v1beta1.FinalizerServiceCatalog) {
		return nil
	}
	patch := client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(w.client.Patch(ctx, next, patch, client.FieldOwner(v1beta1.FieldOwnerController)))
}

// addFinalizer adds the finalizer, which objects that were created without the hooks
// lack.
func (w store) addFinalizer(ctx context.Context, o client.Object) error {
	next := o.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy is of the kind of the original
	controllerutil.AddFinalizer(next, v1beta1.FinalizerServiceCatalog)
	patch := client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
	return w.client.Patch(ctx, next, patch, client.FieldOwner(v1beta1.FieldOwnerController))
}

// end releases the object of a resource, or removes a resource that is a part of its object.
func (w store) end(ctx context.Context, s storable, o client.Object) error {
	rest := s.without(o)
	if rest == nil {
		return w.removeFinalizer(ctx, o)
	}
	patch := client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(w.client.Status().Patch(ctx, rest, patch, client.FieldOwner(v1beta1.FieldOwnerController)))
}

// ended does so after a call, as long as the status is unchanged. It returns
// the version that was overwritten.
func (w store) ended(ctx context.Context, s storable, stored client.Object) (over string, err error) {
	err = w.withRetry(ctx, stored, func(o client.Object) error {
		over = o.GetResourceVersion()
		return w.end(ctx, s, o)
	})
	return over, err
}
