package defaults

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

const (
	// defaultRecorders is the number of workers. They mostly wait: a consistent
	// list takes the API server up to a tenth of a second.
	defaultRecorders = 8
	// firstRepair doubles with each failure up to lastRepair: a write that
	// another hook denies, or that conflicts, is retried soon, and one that
	// cannot succeed costs little.
	firstRepair = 10 * time.Millisecond
	lastRepair  = 10 * time.Second
	// atOnce is the delay after a change that affects a record, and soon that
	// after one that only changes counts. soon is also the time between two
	// writes of a type's status.
	atOnce = time.Duration(0)
	soon   = time.Second
)

// Options are the dependencies and settings of the controller.
type Options struct {
	controller.Environment

	// Lease is the keeper's Lease, which records when a keeper first ran.
	Lease *resourcelock.LeaseLock
	// Writes counts what is written.
	Writes *prometheus.CounterVec
	// SuggestedPlans lets the status of types count what brokers suggest.
	SuggestedPlans bool
}

// stubborn is the number of successive failures after which an error is logged
// for the operator.
const stubborn = 8

// A defaultRecorder maintains the service types: it creates and deletes them,
// records the default plan of each, and writes what each resolves to.
type defaultRecorder struct {
	controller.Environment

	queue      controller.Queue[workItem]
	limiter    workqueue.TypedRateLimiter[workItem]
	firstRun   *firstRunRecord
	dependents dependents
	viewer     viewer
	writer     writer
	reporter   reporter
}

// A workItem is a type to reconcile, or a class whose types are to be enqueued.
type workItem struct {
	at    client.ObjectKey
	class bool
}

func typeOf(namespace, name string) workItem {
	return workItem{at: client.ObjectKey{Namespace: namespace, Name: name}}
}

func classOf(namespace, name string) workItem {
	return workItem{at: client.ObjectKey{Namespace: namespace, Name: name}, class: true}
}

// learnFirstRun is the work item after which the first run is known.
var learnFirstRun = workItem{}

// New declares the controller. It watches all that a type's record and status depend on.
// Existing objects arrive as added, so that every type is reconciled once.
func New(options Options) *controller.Spec[workItem] {
	see := viewer{suggested: options.SuggestedPlans}
	r := &defaultRecorder{
		Environment: options.Environment,
		limiter:     workqueue.NewTypedItemExponentialFailureRateLimiter[workItem](firstRepair, lastRepair),
		firstRun:    newFirstRunRecord(options.Lease, options.Clock),
		dependents:  dependents{options.Client},
		viewer:      see,
		writer:      writer{options.Environment, options.Writes},
		reporter: reporter{
			Environment: options.Environment, viewer: see, writes: options.Writes,
			reported: map[client.ObjectKey]time.Time{}, resolved: map[string]v1beta1.ServiceTypeStatus{},
		},
	}
	written := predicate.ResourceVersionChangedPredicate{}
	return &controller.Spec[workItem]{
		Name: "recorder", Workers: defaultRecorders, Limiter: r.limiter, Do: r.reconcile,
		Begin: func(q controller.Queue[workItem]) {
			r.queue, r.reporter.queue = q, q
			q.Add(learnFirstRun)
		},
		Watches: []controller.Watch[workItem]{
			{Object: &v1beta1.ClusterServiceClass{}, When: written, Enqueue: classChanged},
			{Object: &v1beta1.ServiceClass{}, When: written, Enqueue: classChanged},
			{Object: &v1beta1.ClusterServicePlan{}, When: written, Enqueue: r.dependents.planChanged},
			{Object: &v1beta1.ServicePlan{}, When: written, Enqueue: r.dependents.planChanged},
			{Object: &v1beta1.ClusterServiceType{}, When: written, Enqueue: typeChanged},
			{Object: &v1beta1.ServiceType{}, When: written, Enqueue: typeChanged},
		},
	}
}

// reconcile handles a work item, and requeues it if there is more to do, or if
// it failed.
func (r *defaultRecorder) reconcile(ctx context.Context, w workItem) (reconcile.Result, error) {
	more, err := r.do(ctx, w)
	if err != nil {
		if ctx.Err() == nil {
			r.logFailure(w, err)
		}
		return reconcile.Result{}, err
	}
	if more {
		r.queue.AddAfter(w, atOnce)
	}
	return reconcile.Result{}, nil
}

func (r *defaultRecorder) do(ctx context.Context, w workItem) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, controller.WriteTimeout)
	defer cancel()
	firstRun, err := r.firstRun.at(ctx)
	switch {
	case err != nil || w == learnFirstRun:
		return false, err
	case w.class:
		return false, r.dependents.spread(ctx, r.queue, w.at)
	}
	return r.settle(ctx, w.at, firstRun)
}

// settle takes the next action about a type, and says whether there may be another.
// What is to be written is decided from what the API server has: a cache that is
// behind would have us undo what users just did.
func (r *defaultRecorder) settle(ctx context.Context, at client.ObjectKey, firstRun time.Time) (more bool, err error) {
	v, err := r.viewer.view(ctx, r.Client, at)
	if err != nil {
		return false, err
	}
	// The cache does not know since when plans are annotated: with no first run
	// it never leaves a choice to the operator unseen.
	a := settle(v.state(time.Time{}))
	if a.verb != rest {
		if v, err = r.viewer.view(ctx, r.Live, at); err != nil {
			return false, err
		}
		a = settle(v.state(firstRun))
	}
	if a.verb == rest || a.verb == confirmRecord {
		return a.verb == confirmRecord, r.reporter.report(ctx, &v, a)
	}
	err = r.writer.make(ctx, &v, a)
	if isFinal(err) {
		return false, nil
	}
	if err != nil {
		// The status reports the current state meanwhile.
		if reportErr := r.reporter.report(ctx, &v, a); reportErr != nil {
			r.Log.V(1).Info("status not written", "type", at.String(), "cause", reportErr.Error())
		}
	}
	return err == nil, err
}

// logFailure logs why a work item failed. Denials of other hooks and outages
// pass, so only a lasting failure is logged for the operator.
func (r *defaultRecorder) logFailure(w workItem, err error) {
	log, message := r.Log.WithValues("type", w.at.String()), "service type not settled; to be tried again"
	if w == learnFirstRun {
		lease := r.firstRun.lease.LeaseMeta
		log, message = r.Log.WithValues("lease", lease.Namespace+"/"+lease.Name), "first run not known; to be tried again"
	}
	if r.limiter.NumRequeues(w)%stubborn != stubborn-1 {
		log = log.V(1)
	}
	controller.LogCause(log, err, message)
}
