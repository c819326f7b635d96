package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Pauses after an error of a pass, of which each next one is twice as long. What waits for
// a broker is no error.
const (
	firstErrorPause   = 5 * time.Millisecond
	longestErrorPause = 30 * time.Second
)

// ErrorPauses are the pauses of one controller's requests.
func ErrorPauses() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstErrorPause, longestErrorPause)
}

// A waitsError ends a pass that came to a call of a broker and found no place for it.
type waitsError struct{ broker Broker }

// Error names the broker, if it is known: NAME, or NAMESPACE/NAME.
func (e *waitsError) Error() string {
	if e.broker == (Broker{}) {
		return "waits for its turn to call a broker"
	}
	return "waits for its turn to call broker " + strings.Trim(e.broker.String(), "/")
}

// Wait ends a pass that waits for its turn to call a broker.
func Wait(broker Broker) error { return &waitsError{broker} }

// AwaitedBy is the broker for which a pass waits that ended with an error, or nil.
func AwaitedBy(err error) *Broker {
	if waits := (*waitsError)(nil); errors.As(err, &waits) {
		return new(waits.broker)
	}
	return nil
}

// A Dispatcher keeps the workers of a controller free: a pass that calls a broker goes on
// without its worker, and one that waits for its turn is not there meanwhile.
type Dispatcher struct {
	passes reconcile.Reconciler
	kind   string
	queues *Queues
	pauses workqueue.TypedRateLimiter[reconcile.Request]
	// requests is the controller's own
	requests workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// NewDispatcher returns the dispatcher of one kind's reconciler.
func NewDispatcher(passes reconcile.Reconciler, kind string, queues *Queues) *Dispatcher {
	return &Dispatcher{passes: passes, kind: kind, queues: queues, pauses: ErrorPauses()}
}

// Source gives the dispatcher the queue of its controller.
func (d *Dispatcher) Source() source.Source {
	return source.Func(func(_ context.Context, requests workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		d.requests = requests
		return nil
	})
}

// What came of a pass.
type passed struct {
	result reconcile.Result
	err    error
}

// Reconcile begins a pass, and returns when it ended or came to a call.
func (d *Dispatcher) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	item := Item{Kind: d.kind, NamespacedName: request.NamespacedName}
	pass, begun := d.queues.Begin(item, func(p *Pass) { d.run(ctx, p, request, nil) })
	if !begun {
		return reconcile.Result{}, nil
	}
	pass.OnPause(func() { d.requests.Add(request) }) // its object says what it waits for
	ended := make(chan passed, 1)
	go d.run(ctx, pass, request, ended)
	select {
	case <-pass.Entered():
		return reconcile.Result{}, nil
	case got := <-ended:
		return got.result, got.err
	}
}

// run takes a request through a pass. What comes of it goes to the worker that waits for
// the end of the pass, or where none does, to the controller's queue.
func (d *Dispatcher) run(ctx context.Context, p *Pass, request reconcile.Request, ended chan<- passed) {
	got := d.try(NewContext(ctx, p), request)
	broker := AwaitedBy(got.err)
	switch {
	case broker != nil:
		got.err = nil // what else the pass has to come back for is not a matter of the broker
	case got.err == nil:
		d.pauses.Forget(request)
	default:
		got.result = reconcile.Result{} // the pause after an error counts, and a controller warns of both
	}
	again := p.End(broker)
	select {
	case <-p.Entered():
		d.requeue(ctx, request, got, again)
	default:
		ended <- got
	}
}

// try makes one pass. A panic is an error of this pass, as in every controller.
func (d *Dispatcher) try(ctx context.Context, request reconcile.Request) (got passed) {
	defer func() {
		if r := recover(); r != nil {
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", r), "a pass panicked", "stack", string(debug.Stack()))
			got = passed{err: fmt.Errorf("panic: %v [recovered]", r)}
		}
	}()
	got.result, got.err = d.passes.Reconcile(ctx, request)
	return got
}

// requeue does with what came of a pass what a controller does.
func (d *Dispatcher) requeue(ctx context.Context, request reconcile.Request, got passed, again bool) {
	switch {
	case got.err != nil:
		log.FromContext(ctx).Error(got.err, "Reconciler error")
		d.requests.AddAfter(request, d.pauses.When(request))
	case got.result.RequeueAfter > 0:
		d.requests.AddAfter(request, got.result.RequeueAfter)
	}
	if again {
		d.requests.Add(request)
	}
}

// ConflictPause is the time for the cache to learn of what changed.
const ConflictPause = 200 * time.Millisecond

// AfterConflict is the result of a reconcile. A conflict is no error: the object changed since
// it was read, and is reconciled again once the cache has that.
func AfterConflict(result reconcile.Result, err error) (reconcile.Result, error) {
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: ConflictPause}, nil
	}
	if err != nil { // the pause after an error counts, and a controller warns of both
		return reconcile.Result{}, err
	}
	return result, nil
}
