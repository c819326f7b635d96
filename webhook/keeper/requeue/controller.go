package requeue

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

const (
	// workers touch at the same time: the rate must be reached although each
	// touch waits for two hooks.
	workers = 4
	// firstRetry doubles with each failure up to controller.MaxRetryDelay, so
	// that waiting objects are touched soon after an outage, however long it
	// was.
	firstRetry = 250 * time.Millisecond
	// remembered is the number of objects whose last event is remembered.
	// Beyond that, an event may be repeated.
	remembered = 16384
	// settling is the delay after which an object that a touch left undecided
	// is touched again, once: the hook may have answered from a cache that did
	// not have the change yet.
	settling = 2 * time.Second
)

// A requeuer touches the instances and bindings that wait, when what they wait
// for changes.
type requeuer struct {
	options controller.Environment
	// touches counts touches by result.
	touches *prometheus.CounterVec
	// bucket bounds the rate of touches.
	bucket *rate.Limiter
	// told holds the last event of each object.
	told *lru.Cache

	queue controller.Queue[waiter]

	mu sync.Mutex
	// settles says when objects are touched a second time.
	settles map[waiter]time.Time
}

// New declares the controller. It watches everything that is waited for, and instances and bindings that
// wait. All that waits arrives as added, and is touched when everything is watched: no
// change is missed from then on.
func New(options controller.Environment, touches *prometheus.CounterVec, bucket *rate.Limiter) *controller.Spec[waiter] {
	t := &requeuer{options: options, touches: touches, bucket: bucket, told: lru.New(remembered), settles: map[waiter]time.Time{}}
	d := &controller.Spec[waiter]{
		Name: "toucher", Workers: workers,
		Limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[waiter](firstRetry, controller.MaxRetryDelay),
		Order:   newTurns(),
		Begin:   func(q controller.Queue[waiter]) { t.queue = q },
		Do:      t.reconcile,
	}
	for _, waitedFor := range []client.Object{
		&v1beta1.ClusterServiceClass{}, &v1beta1.ServiceClass{}, &v1beta1.ClusterServicePlan{}, &v1beta1.ServicePlan{},
		&v1beta1.ClusterServiceType{}, &v1beta1.ServiceType{}, &v1beta1.ProvisioningPolicy{}, &v1beta1.BindingPolicy{}, &corev1.Namespace{},
	} {
		d.Watches = append(d.Watches, controller.Watch[waiter]{Object: waitedFor, When: controller.Changes, Enqueue: t.wake})
	}
	// No binding can wait for an instance's former state, or for its deletion.
	decisions := controller.Changes
	decisions.DeleteFunc = controller.Never[event.DeleteEvent]
	d.Watches = append(d.Watches,
		controller.Watch[waiter]{Object: &v1beta1.ServiceInstance{}, When: decisions, Enqueue: func(ctx context.Context, q controller.Queue[waiter], versions ...client.Object) {
			t.wake(ctx, q, versions[len(versions)-1])
		}},
		controller.Watch[waiter]{Object: &v1beta1.ServiceInstance{}, When: arrivals, Enqueue: t.arrived},
		controller.Watch[waiter]{Object: &v1beta1.ServiceBinding{}, When: arrivals, Enqueue: t.arrived})
	return d
}

// arrivals are of objects that begin to wait.
var arrivals = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return waits(e.Object) },
	UpdateFunc: func(e event.UpdateEvent) bool { return renewed(e.ObjectOld, e.ObjectNew) },
	DeleteFunc: controller.Never[event.DeleteEvent],
}

func (t *requeuer) arrived(_ context.Context, q controller.Queue[waiter], versions ...client.Object) {
	t.enqueue(q, waiterOf(versions[len(versions)-1]))
}

// reconcile touches an object if it still waits, and handles the result.
func (t *requeuer) reconcile(ctx context.Context, w waiter) (reconcile.Result, error) {
	if w == everyone {
		return reconcile.Result{}, t.wakeEveryone(ctx)
	}
	object, err := t.read(ctx, w)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !waits(object) {
		t.settled(w)
		return reconcile.Result{}, nil
	}
	if !t.wait(ctx) {
		return reconcile.Result{}, nil
	}
	after, err := t.touch(ctx, w)
	if ended := ctx.Err(); ended != nil {
		return reconcile.Result{}, ended
	}
	result := outcomeOf(after, err)
	t.touches.WithLabelValues(string(result)).Inc()
	log := t.options.Log.WithValues("resource", string(w.kind), "object", w.at.String(), "result", string(result))
	switch result {
	case Failed:
		controller.LogCause(log.V(1), err, "touched; to be tried again")
		return reconcile.Result{}, err
	case Denied:
		controller.LogCause(log, err, "touched; not tried again until something changes")
		t.settled(w)
		t.tell(t.deniedEvent(ctx, object))
	case Undecided:
		log.V(1).Info("touched")
		return t.remainsUndecided(ctx, after), nil
	case Decided, Gone:
		log.V(1).Info("touched")
		t.settled(w)
	}
	return reconcile.Result{}, nil
}

// enqueue enqueues an object because something changed.
func (t *requeuer) enqueue(q controller.Queue[waiter], w waiter) {
	t.settled(w)
	q.Add(w)
}

// settled cancels the second touch of an object.
func (t *requeuer) settled(w waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.settles, w)
}

// untilSettled is the time until the second touch of an object; zero if it just
// had that.
func (t *requeuer) untilSettled(w waiter) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Clock.Now()
	if _, set := t.settles[w]; !set {
		t.settles[w] = now.Add(settling)
	}
	return t.settles[w].Sub(now)
}

// wait takes a token from the bucket. It returns false if ctx ended before.
func (t *requeuer) wait(ctx context.Context) bool {
	now := t.options.Clock.Now()
	delay := t.bucket.ReserveN(now, 1).DelayFrom(now)
	if delay == 0 {
		return ctx.Err() == nil
	}
	timer := t.options.Clock.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return ctx.Err() == nil
	}
}

// touch sends an empty patch, at which the hooks run, and returns the result.
func (t *requeuer) touch(ctx context.Context, w waiter) (client.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, controller.WriteTimeout)
	defer cancel()
	object := w.kind.object()
	object.SetNamespace(w.at.Namespace)
	object.SetName(w.at.Name)
	err := t.options.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte("{}")))
	return object, err
}

// remainsUndecided schedules the second touch of an object; after that it emits
// an event.
func (t *requeuer) remainsUndecided(ctx context.Context, object client.Object) reconcile.Result {
	w := waiterOf(object)
	if delay := t.untilSettled(w); delay > 0 {
		return reconcile.Result{RequeueAfter: delay}
	}
	t.settled(w)
	t.tell(t.undecidedEvent(ctx, object))
	return reconcile.Result{}
}

// outcomeOf is the outcome of a touch.
func outcomeOf(after client.Object, err error) Outcome {
	switch {
	case err == nil && controller.DecisionOn(after).Decided():
		return Decided
	case err == nil:
		return Undecided
	case apierrors.IsNotFound(err):
		return Gone
	case isVerdict(err):
		return Denied
	}
	return Failed
}

// isVerdict says whether an error is about the object and would be the same on
// a retry. Every other error is transient: an outage, a hook that cannot be
// reached, a conflict, too many requests, credentials being replaced.
func isVerdict(err error) bool {
	code := controller.StatusCode(err)
	switch code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}
