package inuse

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
)

const (
	// lagPause is the time for the caches of all webhooks to get the deletion
	// of an object: until then an instance may still be decided on it. It is
	// also the time between two live checks of what the cache does not have
	// yet.
	lagPause = 2 * time.Second
	// reasonDeletionWaits is the reason of the condition InUse.
	reasonDeletionWaits = "DeletionWaits"
)

// A reconciler manages the finalizer of the objects of one kind.
type reconciler struct {
	kind kind
	// client reads from a cache.
	client client.Client
	live   client.Reader
	clock  clock.PassiveClock
	// mine says whether this controller handles what is of a broker.
	mine func(ctx context.Context, target *v1beta1.BrokerTarget, namespace string) (bool, error)
}

// Reconcile takes one object through one pass.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	o := r.kind.newObject()
	if err := r.client.Get(ctx, request.NamespacedName, o); err != nil {
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("cannot read %T %q: %w", o, request.Name, err)
	}
	target := o.GetBroker()
	if mine, err := r.mine(ctx, &target, o.GetNamespace()); err != nil || !mine {
		return reconcile.Result{}, err
	}
	result, err := r.pass(ctx, o)
	return queue.AfterConflict(result, client.IgnoreNotFound(err))
}

func (r *reconciler) pass(ctx context.Context, o v1beta1.OfferingObject) (reconcile.Result, error) {
	held := controllerutil.ContainsFinalizer(o, v1beta1.FinalizerServiceCatalog)
	switch {
	case !userDefined(o): // a broker took it over
		return reconcile.Result{}, r.setHeld(ctx, o, false)
	case o.GetDeletionTimestamp() == nil:
		used, err := r.kind.used(ctx, r.client, o)
		if err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, r.setHeld(ctx, o, used)
	case !held: // another's finalizer keeps it, and none can be added any more
		return reconcile.Result{}, nil
	}
	return r.wait(ctx, o)
}

// wait removes the finalizer of an object that is being deleted, or reports
// what it waits for.
func (r *reconciler) wait(ctx context.Context, o v1beta1.OfferingObject) (reconcile.Result, error) {
	found, err := r.kind.usersOf(ctx, r.client, o)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !found.none() {
		return reconcile.Result{}, r.tell(ctx, o, v1beta1.Condition{
			Type: v1beta1.ConditionInUse, Status: v1beta1.ConditionTrue, Reason: reasonDeletionWaits, Message: found.message(&r.kind, o),
		})
	}
	if wait := o.GetDeletionTimestamp().Add(lagPause).Sub(r.clock.Now()); wait > 0 {
		return reconcile.Result{RequeueAfter: min(wait, lagPause)}, nil
	}
	if used, err := r.kind.used(ctx, r.live, o); used || err != nil {
		return reconcile.Result{RequeueAfter: lagPause}, err
	}
	return reconcile.Result{}, r.setHeld(ctx, o, false)
}

// setHeld puts the finalizer on an object, or takes it off.
func (r *reconciler) setHeld(ctx context.Context, o v1beta1.OfferingObject, held bool) error {
	next, _ := o.DeepCopyObject().(v1beta1.OfferingObject)
	change := controllerutil.RemoveFinalizer
	if held {
		change = controllerutil.AddFinalizer
	}
	if !change(next, v1beta1.FinalizerServiceCatalog) {
		return nil
	}
	patch := client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, next, patch, client.FieldOwner(v1beta1.FieldOwnerController)); err != nil {
		return fmt.Errorf("cannot write the finalizer of %T %q: %w", o, o.GetName(), err)
	}
	return nil
}

// tell writes a condition, if it changed.
func (r *reconciler) tell(ctx context.Context, o v1beta1.OfferingObject, condition v1beta1.Condition) error {
	next, _ := o.DeepCopyObject().(v1beta1.OfferingObject)
	conditions := next.GetConditions()
	if told, _ := v1beta1.FindCondition(*conditions, condition.Type); told.Message == condition.Message && told.ObservedGeneration == o.GetGeneration() {
		return nil
	}
	*conditions = v1beta1.SetCondition(*conditions, condition, o.GetGeneration(), metav1.NewTime(r.clock.Now()))
	patch := client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, next, patch, client.FieldOwner(v1beta1.FieldOwnerController)); err != nil {
		return fmt.Errorf("cannot write the status of %T %q: %w", o, o.GetName(), err)
	}
	return nil
}
