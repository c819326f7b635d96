package keeper

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	// recorders work at the same time. Most of a look is waiting: a consistent list
	// takes the API server up to a tenth of a second.
	recorders = 8
	// firstRepair doubles with each failure up to lastRepair: a write that a hook
	// of another refuses, or that meets another's, is soon made again, and one
	// that cannot be made costs little.
	firstRepair = 10 * time.Millisecond
	lastRepair  = 10 * time.Second
	// atOnce is when a change of a record is looked at, and soon when one that is
	// only counted. It is also the time between two writes of a type's status.
	atOnce = time.Duration(0)
	soon   = time.Second
)

// A recorder keeps the service types: which there are, which plan each records as
// its default, and what each resolves to.
type recorder struct {
	*Keeper

	queue   queue[errand]
	limiter workqueue.TypedRateLimiter[errand]
	// firstRun holds when a keeper first ran, zero until that is known. Who asks
	// takes it, and puts it back.
	firstRun chan time.Time

	mu sync.Mutex
	// reported says when the status of a type was last written.
	reported map[client.ObjectKey]time.Time
	// outlooks are what types of the cluster last resolved to: types of the same
	// name in namespaces depend on it.
	outlooks map[string]v1beta1.ServiceTypeStatus
}

// An errand is a type to look at, or a class whose types are to be looked at.
type errand struct {
	at    client.ObjectKey
	class bool
}

func typeOf(namespace, name string) errand {
	return errand{at: client.ObjectKey{Namespace: namespace, Name: name}}
}

func classOf(namespace, name string) errand {
	return errand{at: client.ObjectKey{Namespace: namespace, Name: name}, class: true}
}

// learnFirstRun is the errand after which the first run is known.
var learnFirstRun = errand{}

// newRecorder watches all that a type's record and status depend on. What is there
// already arrives as added, so that every type is looked at once.
func newRecorder(k *Keeper) *controllerSpec[errand] {
	r := &recorder{
		Keeper:   k,
		limiter:  workqueue.NewTypedItemExponentialFailureRateLimiter[errand](firstRepair, lastRepair),
		firstRun: make(chan time.Time, 1),
		reported: map[client.ObjectKey]time.Time{},
		outlooks: map[string]v1beta1.ServiceTypeStatus{},
	}
	r.firstRun <- time.Time{}
	written := predicate.ResourceVersionChangedPredicate{}
	return &controllerSpec[errand]{
		name: "recorder", workers: recorders, limiter: r.limiter, do: r.reconcile,
		begin: func(q queue[errand]) {
			r.queue = q
			q.Add(learnFirstRun)
		},
		watches: []watched[errand]{
			{&v1beta1.ClusterServiceClass{}, written, r.classChanged},
			{&v1beta1.ServiceClass{}, written, r.classChanged},
			{&v1beta1.ClusterServicePlan{}, written, r.planChanged},
			{&v1beta1.ServicePlan{}, written, r.planChanged},
			{&v1beta1.ClusterServiceType{}, written, r.typeChanged},
			{&v1beta1.ServiceType{}, written, r.typeChanged},
		},
	}
}

// enqueue has an errand done after a while; the earliest of several counts.
func (r *recorder) enqueue(e errand, after time.Duration) {
	r.queue.AddAfter(e, after)
}

// reconcile does an errand, and has it done again if there is more to do, or if it
// failed.
func (r *recorder) reconcile(ctx context.Context, e errand) (reconcile.Result, error) {
	more, err := r.do(ctx, e)
	if err != nil {
		if ctx.Err() == nil {
			r.tellFailure(e, err)
		}
		return reconcile.Result{}, err
	}
	if more {
		r.enqueue(e, atOnce)
	}
	return reconcile.Result{}, nil
}

// begun is when a keeper first ran, which is asked once.
func (r *recorder) begun(ctx context.Context) (time.Time, error) {
	var since time.Time
	select {
	case since = <-r.firstRun:
	case <-ctx.Done():
		return since, ctx.Err()
	}
	defer func() { r.firstRun <- since }()
	if !since.IsZero() {
		return since, nil
	}
	var err error
	since, err = r.readFirstRun(ctx)
	return since, err
}

func (r *recorder) do(ctx context.Context, e errand) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	firstRun, err := r.begun(ctx)
	switch {
	case err != nil || e == learnFirstRun:
		return false, err
	case e.class:
		return false, r.spread(ctx, e.at)
	}
	return r.settle(ctx, e.at, firstRun)
}

// settle makes the next move about a type, and says whether there may be another.
// What is to be written is decided from what the API server has: a cache that is
// behind would have us undo what users just did.
func (r *recorder) settle(ctx context.Context, at client.ObjectKey, firstRun time.Time) (more bool, err error) {
	v, err := r.look(ctx, r.options.Client, at)
	if err != nil {
		return false, err
	}
	// The cache does not know since when plans are annotated: with no first run
	// it never leaves a choice to the operator unseen.
	m := settle(v.standing(time.Time{}))
	if m.action != rest {
		if v, err = r.look(ctx, r.options.Live, at); err != nil {
			return false, err
		}
		m = settle(v.standing(firstRun))
	}
	if m.action == rest || m.action == confirmRecord {
		return m.action == confirmRecord, r.report(ctx, &v, m)
	}
	err = r.make(ctx, &v, m)
	if isFinal(err) {
		return false, nil
	}
	if err != nil {
		// The type's users are told of what there is meanwhile.
		if reportErr := r.report(ctx, &v, m); reportErr != nil {
			r.options.Log.V(1).Info("status not written", "type", at.String(), "cause", reportErr.Error())
		}
	}
	return err == nil, err
}

func (r *recorder) look(ctx context.Context, reader client.Reader, at client.ObjectKey) (typeView, error) {
	v, err := scope{reader: reader, namespace: at.Namespace}.look(ctx, at.Name)
	if !r.options.SuggestedPlans {
		for i := range v.plans {
			v.plans[i].Suggested = false
		}
	}
	return v, err
}
