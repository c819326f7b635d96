package endpoints

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A Reconciler writes the Services of bindings, of the endpoints that their status has. It
// makes no calls to brokers.
type Reconciler struct {
	Services Services
	// Cache has the bindings, and the metadata of the objects that the controller made.
	Cache client.Reader
	// Mine says whether this controller handles a binding.
	Mine func(ctx context.Context, b *v1beta1.ServiceBinding) (bool, error)
	// Pause is how long a binding rests until its Service is compared again, at least:
	// longer where many rest.
	Pause func(b *v1beta1.ServiceBinding) time.Duration
	// Forget is of a binding that does not rest.
	Forget func(at client.ObjectKey)

	refusals refusals
}

// Reconcile brings the Service of one binding to what its status says of endpoints.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.Forget(request.NamespacedName)
	b := &v1beta1.ServiceBinding{}
	if err := r.Cache.Get(ctx, request.NamespacedName, b); err != nil {
		if apierrors.IsNotFound(err) { // its Service goes with it
			r.refusals.forget(request.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("cannot read binding %q: %w", request.Name, err)
	}
	if mine, err := r.Mine(ctx, b); err != nil || !mine {
		return reconcile.Result{}, err
	}
	if b.DeletionTimestamp != nil || len(b.Status.Endpoints) == 0 {
		return queue.AfterConflict(reconcile.Result{}, client.IgnoreNotFound(r.withdraw(ctx, b)))
	}
	pause := r.Pause(b)
	if wait := r.refusals.wait(b, r.Services.Rules.Clock.Now()); wait > 0 {
		return reconcile.Result{RequeueAfter: min(wait, pause)}, nil
	}
	err := r.store(ctx, b, r.expose(ctx, b, pause).tell)
	const spread = 10
	pause += time.Duration(rand.Int64N(int64(pause)/spread + 1)) //nolint:gosec // it spreads reads
	return queue.AfterConflict(reconcile.Result{RequeueAfter: pause}, client.IgnoreNotFound(err))
}

// store writes into the status of a binding, if that is still as it was read.
func (r *Reconciler) store(ctx context.Context, b *v1beta1.ServiceBinding, tell func(*v1beta1.ServiceBindingStatus, int64)) error {
	next := b.DeepCopy()
	tell(&next.Status, b.Generation)
	if equality.Semantic.DeepEqual(next.Status, b.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(b, client.MergeFromWithOptimisticLock{})
	return r.Services.Client.Status().Patch(ctx, next, patch, client.FieldOwner(v1beta1.FieldOwnerController))
}

// expose makes the Service of the endpoints, or says why there is none; then none is there.
// After a refusal the next write waits, pause at most.
func (r *Reconciler) expose(ctx context.Context, b *v1beta1.ServiceBinding, pause time.Duration) *outcome {
	o := &outcome{at: metav1.Time{Time: r.Services.Rules.Clock.Now()}.Rfc3339Copy()}
	found := stated(b.Status.Endpoints)
	target, refusal, err := r.target(ctx, b, &found, pause)
	if err == nil && refusal != nil {
		err = r.unexpose(ctx, b)
	}
	switch {
	case err != nil:
		o.service = b.Status.Service
		o.condition = unknown(ReasonServiceNotWritten, "the Service %q could not be written; it is tried again", ServiceName(b))
		logger := log.FromContext(ctx)
		if known, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionEndpoints); known.Message == o.condition.Message {
			logger = logger.V(1) // it was logged when it began
		}
		logger.Info("the Service of a binding could not be written; it is tried again", "why", err.Error(), "uid", b.UID)
	case refusal != nil:
		o.condition = withoutService(refusal.Reason, found.refusalOf(refusal))
	default:
		r.refusals.forget(client.ObjectKeyFromObject(b))
		o.service = ServiceName(b)
		o.condition = exposed(o.service, found.leadTo(target))
	}
	return o
}

// target finds out what endpoints lead to, and brings the Service there.
func (r *Reconciler) target(ctx context.Context, b *v1beta1.ServiceBinding, found *Discovered, pause time.Duration) (*expose.Target, *expose.Refusal, error) {
	rules, err := r.Services.Rules.Current(ctx)
	target, refusal := expose.Of(found.Endpoints, rules)
	switch {
	case refusal != nil: // what more is known would not allow it
		return nil, refusal, nil
	case err != nil:
		return nil, nil, err
	}
	l := &leading{binding: b, target: target, trusted: !found.mapped && ofClusterBroker(b)}
	refusal, err = r.Services.bring(ctx, l)
	if refusal != nil && l.wrote {
		r.refusals.add(b, r.Services.Rules.Clock.Now(), pause)
	}
	return target, refusal, err
}

// ofClusterBroker says that the binding is at a broker of the cluster, whose addresses need
// no right of the binding's user.
func ofClusterBroker(b *v1beta1.ServiceBinding) bool {
	record := lifecycle.OfBinding(b).Record
	target := record.Target()
	return target != nil && target.ClusterServiceBrokerName != ""
}

// unexpose removes a Service that there was: what may not be, or is not any more, is not
// left to lead anywhere. Without the right to look at Services, none was made.
func (r *Reconciler) unexpose(ctx context.Context, b *v1beta1.ServiceBinding) error {
	err := r.Services.removeAll(ctx, b)
	if b.Status.Service == "" && apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// withdraw removes the Service of a binding that has no endpoints any more, or is deleted.
// One that status does not tell of, because a crash came between, is found in the cache.
func (r *Reconciler) withdraw(ctx context.Context, b *v1beta1.ServiceBinding) error {
	said, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionEndpoints)
	// A refusal was said by the Validator; these conditions are of a Service.
	stale := slices.Contains([]string{ReasonExposed, ReasonServiceNotWritten, ReasonDisabled}, said.Reason)
	if b.Status.Service == "" && !stale {
		left, err := r.left(ctx, b)
		if err != nil || !left {
			return err
		}
	}
	if err := r.Services.removeAll(ctx, b); err != nil {
		return err
	}
	return r.store(ctx, b, func(status *v1beta1.ServiceBindingStatus, _ int64) {
		status.Service = ""
		if stale {
			status.Conditions = v1beta1.RemoveCondition(status.Conditions, v1beta1.ConditionEndpoints)
		}
	})
}

// left says that the cache has a Service or an EndpointSlice of a binding.
func (r *Reconciler) left(ctx context.Context, b *v1beta1.ServiceBinding) (bool, error) {
	if invalidName(b) != nil {
		return false, nil
	}
	service := &metav1.PartialObjectMetadata{}
	service.SetGroupVersionKind(owned.Service)
	err := r.Cache.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: ServiceName(b)}, service)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("cannot read Service %q: %w", ServiceName(b), err)
	}
	if err == nil && metav1.IsControlledBy(service, b) {
		return true, nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind("EndpointSliceList"))
	err = r.Cache.List(ctx, list, client.InNamespace(b.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: ServiceName(b)})
	if err != nil {
		return false, fmt.Errorf("cannot list EndpointSlices of Service %q: %w", ServiceName(b), err)
	}
	return slices.ContainsFunc(list.Items, func(slice metav1.PartialObjectMetadata) bool { return metav1.IsControlledBy(&slice, b) }), nil
}

// Watched are the kinds that the Reconciler watches: of each the objects that the controller
// made.
func Watched() []client.Object {
	return []client.Object{&corev1.Service{}, &discoveryv1.EndpointSlice{}}
}
