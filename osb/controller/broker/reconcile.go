package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/metrics"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/controller/relist"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/controller/tracing"
)

// A catalogFetcher fetches the catalog of a broker with its current
// credentials. Given the etag of the last one, nil without an error means that
// nothing changed. An error before the call is no *osb.Error.
type catalogFetcher func(ctx context.Context, broker client.Object, etag string) (*osb.Catalog, error)

// Options are the dependencies and settings of the broker reconcilers.
// All but metrics and scope are required.
type Options struct {
	// Client writes, and reads from the cache.
	Client client.Client
	Engine *relist.Engine
	Fetch  catalogFetcher
	// Recorder makes the events of brokers.
	Recorder clientevents.EventRecorder
	Clock    clock.PassiveClock
	// Interval is the time between two relists of a broker that does not say.
	Interval time.Duration
	// Gone is called with a broker that no longer exists.
	Gone func(Key)
	// Metrics count relists; nil: they are not counted.
	Metrics *metrics.Counters
	// Patience is how long a broker's named controller has to handle it, before
	// status says that none has.
	Patience time.Duration
	// Scope is the part of the cluster whose brokers are handled.
	Scope scope.Scope
	// Secrets are kept from going before their brokers.
	Secrets SecretKeeper
}

// A reconciler syncs classes and plans with the catalogs of the brokers
// of one kind.
type reconciler struct {
	Options

	// newBroker is an empty broker of the kind.
	newBroker func() client.Object

	// held are the catalogs of the brokers of both kinds.
	held *heldCatalogs

	mutex sync.Mutex
	asked map[types.NamespacedName]bool
	// relists are the running relists; calling one cancels it.
	relists map[types.NamespacedName]context.CancelFunc
}

func newReconciler(options Options, newBroker func() client.Object, held *heldCatalogs) *reconciler {
	return &reconciler{Options: options, newBroker: newBroker, held: held, asked: map[types.NamespacedName]bool{}, relists: map[types.NamespacedName]context.CancelFunc{}}
}

// Times of a broker's reconciler.
const (
	// markedPause is the time from marking an offering to its deletion: all
	// webhooks have seen the mark by then.
	markedPause = 10 * time.Second
	// shrankPause is the time after which a catalog that lost most of what it listed is
	// read again, before anything is deleted.
	shrankPause = time.Minute
	// sweepPause is the time between two sweeps of unused offerings.
	sweepPause = time.Minute
	// firstFetch is the timeout for the first catalog of a broker, shorter than
	// for a broker that has answered before.
	firstFetch = 10 * time.Second
)

// Reconcile syncs a broker's classes and plans with its catalog, if a relist is
// due.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := r.newBroker()
	err := r.Client.Get(ctx, request.NamespacedName, object)
	if apierrors.IsNotFound(err) {
		gone := Key{Namespace: request.Namespace, Name: request.Name}
		r.Metrics.Forget(gone.At())
		r.held.drop(gone)
		r.begins(request.NamespacedName) // what was asked for is not to be done any more
		r.Gone(gone)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("cannot read broker %q: %w", request.Name, err)
	}
	b := brokerOf(object)
	switch {
	case b.Spec.ControllerName != r.Scope.Name:
		wait, err := scope.TellUnseen(ctx, r.Client, r.Scope, object, scope.Unseen{By: b.Spec.ControllerName, Patience: r.Patience, Now: r.Clock.Now()})
		return queue.AfterConflict(reconcile.Result{RequeueAfter: wait}, err)
	case object.GetDeletionTimestamp() != nil:
		return r.delete(ctx, b)
	}
	err = r.hold(ctx, b)
	if err == nil {
		err = r.keepSecret(ctx, b)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	if last := b.Status.LastCatalogRetrievalTime; last != nil && b.ready() { // another process may have taken it over
		r.Metrics.TookOver(request.NamespacedName, last.Time)
	}
	now := r.Clock.Now()
	if due, ever := relistDue(b, now, r.Interval); !r.isAsked(request.NamespacedName) && (!ever || now.Before(due)) {
		return r.sweep(ctx, b, now)
	}
	if !queue.FromContext(ctx).Enter(request.NamespacedName) {
		return reconcile.Result{}, queue.Wait(keyOfBroker(object).At())
	}
	r.begins(request.NamespacedName)
	return r.relist(ctx, b, now)
}

// hold adds the finalizer, if it is absent: admission adds it to new brokers only.
func (r *reconciler) hold(ctx context.Context, b Broker) error {
	if slices.Contains(b.object.GetFinalizers(), v1beta1.FinalizerServiceCatalog) {
		return nil
	}
	return r.setFinalizers(ctx, b, append(slices.Clone(b.object.GetFinalizers()), v1beta1.FinalizerServiceCatalog))
}

func (r *reconciler) setFinalizers(ctx context.Context, b Broker, finalizers []string) error {
	changed, _ := b.object.DeepCopyObject().(client.Object)
	changed.SetFinalizers(finalizers)
	patch := client.MergeFromWithOptions(b.object, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, changed, patch, client.FieldOwner(v1beta1.FieldOwnerController)); err != nil {
		return fmt.Errorf("cannot set the finalizers of %s: %w", keyOfBroker(b.object), err)
	}
	b.object.SetResourceVersion(changed.GetResourceVersion())
	b.object.SetFinalizers(finalizers)
	return nil
}

// ask makes the next pass relist, whenever the last relist was.
func (r *reconciler) ask(key Key) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.asked[types.NamespacedName{Namespace: key.Namespace, Name: key.Name}] = true
}

func (r *reconciler) isAsked(at types.NamespacedName) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.asked[at]
}

// begins marks a requested relist as started: a later request causes another
// one.
func (r *reconciler) begins(at types.NamespacedName) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.asked, at)
}

// sweep removes what is marked and not used any more, while no relist is due; nothing of a
// catalog that shrank until it was read again.
func (r *reconciler) sweep(ctx context.Context, b Broker, now time.Time) (reconcile.Result, error) {
	if _, shrank := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionCatalogShrank); shrank {
		return r.next(b, now, 0), nil
	}
	of, _ := relist.BrokerOf(b.object) // restrictions do not matter here
	// It is recorded before anything is deleted, so that another process knows
	// of it if this one ends. A deletion that is always denied does not cause
	// more frequent relists.
	remaining, deleted, err := r.Engine.Sweep(ctx, of, func() error { return r.relistMoved(ctx, b, now.Add(sweepPause)) })
	if deleted > 0 {
		err = errors.Join(err, r.relistMoved(ctx, b, now))
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	pause := time.Duration(0)
	if remaining > 0 {
		pause = sweepPause
	}
	return r.next(b, now, pause), nil
}

// relistMoved notes when a broker is relisted of whose plans some moved: they are left out until their names are free. If the
// catalog before the last one was not complete either, that is no sooner after it than any other relist.
func (r *reconciler) relistMoved(ctx context.Context, b Broker, at time.Time) error {
	complete, _ := v1beta1.FindCondition(b.Status.Conditions, v1beta1.ConditionCatalogComplete)
	if complete.Reason != reasonPlansMoved {
		return nil
	}
	last := b.Status.LastCatalogRetrievalTime
	if last != nil && complete.LastTransitionTime.Before(last) && at.Before(last.Add(shortestRelist)) {
		at = last.Add(shortestRelist)
	}
	if planned := b.Status.NextRetry; planned != nil && planned.Time.Before(at) {
		return nil
	}
	return r.note(ctx, b, func(after Broker) { after.Status.NextRetry = new(metav1.NewTime(at)) })
}

// next is when a broker is reconciled again: when a relist is due, or after a
// pause, if that is not 0.
func (r *reconciler) next(b Broker, now time.Time, pause time.Duration) reconcile.Result {
	due, ever := relistDue(b, now, r.Interval)
	wait := max(due.Sub(now), time.Second)
	switch {
	case !ever:
		wait = pause
	case pause > 0:
		wait = min(wait, pause)
	}
	return reconcile.Result{RequeueAfter: wait}
}

// relist fetches the catalog, applies it, and reports in status.
func (r *reconciler) relist(ctx context.Context, b Broker, began time.Time) (reconcile.Result, error) {
	ctx, span := tracing.Start(ctx, "relist")
	defer span.End()
	tracing.Name(span, b.object)
	working, end := r.untilDeleted(ctx, b)
	a := r.attempt(working, b)
	deleted := working.Err() != nil && ctx.Err() == nil
	end()
	if deleted { // its deletion brings the next pass
		return reconcile.Result{}, nil
	}
	a.began, a.ended = began, r.Clock.Now()
	if ctx.Err() != nil {
		// The process ends. What it could not do is not the broker's fault.
		return reconcile.Result{}, fmt.Errorf("cannot relist %s: %w", keyOfBroker(b.object), ctx.Err())
	}
	r.Metrics.Relisted(keyOfBroker(b.object).At(), a.counted())
	changed, _ := b.object.DeepCopyObject().(client.Object)
	after := brokerOf(changed)
	a.record(after)
	if err := r.store(ctx, b, after); err != nil {
		return reconcile.Result{}, err
	}
	if a.failure != nil {
		log.FromContext(ctx).Info("the catalog could not be taken over", "broker", keyOfBroker(b.object).String(), "why", a.failure.Error())
	}
	pause := time.Duration(0)
	if a.result.Removed > 0 {
		pause = markedPause
	}
	return r.next(after, a.ended, pause), nil
}

// untilDeleted is the context of a relist. It ends when the deletion of the
// broker starts, because the deletion must not wait for a broker that does not
// answer, or for a large catalog. The function ends it otherwise.
func (r *reconciler) untilDeleted(ctx context.Context, b Broker) (context.Context, context.CancelFunc) {
	at := client.ObjectKeyFromObject(b.object)
	working, cancel := context.WithCancel(ctx)
	r.mutex.Lock()
	r.relists[at] = cancel
	r.mutex.Unlock()
	// The cache has a deletion whose event came before.
	now := r.newBroker()
	if err := r.Client.Get(ctx, at, now); apierrors.IsNotFound(err) || err == nil && now.GetDeletionTimestamp() != nil {
		cancel()
	}
	return working, func() {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		delete(r.relists, at)
		cancel()
	}
}

// endRelist ends the relist of a broker that is being deleted.
func (r *reconciler) endRelist(o client.Object) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if cancel := r.relists[client.ObjectKeyFromObject(o)]; cancel != nil {
		cancel()
	}
}

// attempt fetches the catalog and applies it.
func (r *reconciler) attempt(ctx context.Context, b Broker) attempt {
	of, err := relist.BrokerOf(b.object)
	if err != nil {
		return attempt{failure: err, stage: restricting}
	}
	catalog, etag, err := r.catalog(ctx, b)
	if err != nil {
		return attempt{failure: err, stage: stageOf(b, err)}
	}
	result, err := r.Engine.Relist(ctx, of, catalog, func(p relist.Progress) error { return r.reportProgress(ctx, b, p) })
	if err == nil {
		err = result.Err()
	}
	if err == nil && len(result.Skipped) == 0 && etag != "" {
		r.held.hold(b, catalog)
	} else {
		r.held.drop(keyOfBroker(b.object)) // it is to be sent again whether it changes or not
	}
	return attempt{result: result, fetched: true, etag: etag, failure: err, stage: syncing}
}

// catalog is the broker's current catalog, with its validator. The request is
// only conditional if this process applied the last catalog completely, for the
// current spec.
func (r *reconciler) catalog(ctx context.Context, b Broker) (*osb.Catalog, string, error) {
	held, etag := r.held.of(b), ""
	if held != nil && held.ETag == b.Status.CatalogETag {
		etag = held.ETag
	}
	if b.Status.LastCatalogRetrievalTime == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, firstFetch)
		defer cancel()
	}
	catalog, err := r.Fetch(ctx, b.object, etag)
	if err != nil {
		return nil, "", err
	}
	if catalog == nil {
		return held, etag, nil
	}
	return catalog, catalog.ETag, nil
}
