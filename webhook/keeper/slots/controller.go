package slots

import (
	"context"
	"sync"
	"time"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

const (
	// slotsInterval is the time between two full sweeps, which find what no
	// event reported.
	slotsInterval = 5 * time.Minute
	// shortly is the delay of a round after a request for a slot or a deletion,
	// later that after other changes, and muchLater that after changes of the
	// catalog, which often come in large numbers: one round handles many
	// events. A large namespace waits longer: see slotAllocator.pauses.
	shortly, later, muchLater = 20 * time.Millisecond, 250 * time.Millisecond, time.Second
)

// everywhere is the queue's item for all namespaces.
const everywhere = ""

// A slotAllocator grants the slots of policies with limits, namespace by namespace: it
// alone writes status.slots.
type slotAllocator struct {
	options controller.Environment

	queue controller.Queue[string]

	mu sync.Mutex
	// pauses are the minimum times between two rounds of a namespace: as with
	// reports, a multiple of the duration of its last round. Requests for slots
	// and deletions do not wait for it.
	pauses map[string]time.Duration
}

// New declares the controller. It watches all that needs slots, and all that
// decides what does.
func New(options controller.Environment) *controller.Spec[string] {
	s := &slotAllocator{options: options, pauses: map[string]time.Duration{}}
	here := func(_ context.Context, q controller.Queue[string], versions ...client.Object) {
		q.AddAfter(versions[0].GetName(), shortly)
	}
	everywhereAfter := func(when time.Duration) func(context.Context, controller.Queue[string], ...client.Object) {
		return func(_ context.Context, q controller.Queue[string], _ ...client.Object) { q.AddAfter(everywhere, when) }
	}
	return &controller.Spec[string]{
		Name: "slotter", Workers: 1, Do: s.reconcile,
		Limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[string](shortly, controller.MaxRetryDelay),
		Begin: func(q controller.Queue[string]) {
			s.queue = q
			q.Add(everywhere)
		},
		Watches: []controller.Watch[string]{
			{Object: &v1beta1.ClusterServiceClass{}, When: controller.Changes, Enqueue: everywhereAfter(muchLater)},
			{Object: &v1beta1.ServiceClass{}, When: controller.Changes, Enqueue: everywhereAfter(muchLater)},
			{Object: &v1beta1.ClusterServicePlan{}, When: controller.Changes, Enqueue: everywhereAfter(muchLater)},
			{Object: &v1beta1.ServicePlan{}, When: controller.Changes, Enqueue: everywhereAfter(muchLater)},
			{Object: &corev1.Namespace{}, When: controller.Changes, Enqueue: here},
			{Object: &v1beta1.ProvisioningPolicy{}, When: controller.Changes, Enqueue: everywhereAfter(shortly)},
			{Object: &v1beta1.ProvisioningPolicy{}, When: updates, Enqueue: granted},
			{Object: &v1beta1.ServiceInstance{}, When: writes, Enqueue: s.requested},
			{Object: &v1beta1.ServiceBinding{}, When: writes, Enqueue: s.requested},
		},
	}
}

// reconcile runs a round for a namespace, or enqueues the namespaces that need
// one.
func (s *slotAllocator) reconcile(ctx context.Context, namespace string) (reconcile.Result, error) {
	var err error
	again := false
	result := reconcile.Result{}
	if namespace == everywhere {
		result.RequeueAfter = slotsInterval
		err = s.sweep(ctx)
	} else {
		again, err = s.timed(ctx, namespace)
	}
	switch {
	case apierrors.IsConflict(err): // a policy was written since it was read
		return reconcile.Result{RequeueAfter: shortly}, nil
	case err != nil:
		if ctx.Err() == nil {
			controller.LogCause(s.options.Log.WithValues("namespace", namespace), err, "slots not granted; to be tried again")
		}
		return reconcile.Result{}, err
	case again:
		s.queue.Add(namespace)
	}
	return result, nil
}

// timed runs a round and records how long it took.
func (s *slotAllocator) timed(ctx context.Context, namespace string) (bool, error) {
	began := s.options.Clock.Now()
	again, err := s.round(ctx, namespace)
	pause := min(controller.PauseShare*s.options.Clock.Since(began), controller.MaxRetryDelay)
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.pauses, namespace); pause > later {
		s.pauses[namespace] = pause
	}
	return again, err
}

// pause is the delay of a round after an event that neither requests nor frees
// a slot.
func (s *slotAllocator) pause(namespace string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(later, s.pauses[namespace])
}

// writes are of objects that came, were written or went.
var writes = predicate.And(predicate.ResourceVersionChangedPredicate{}, predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
})

// updates are of objects that were there before.
var updates = predicate.Funcs{CreateFunc: controller.Never[event.CreateEvent], DeleteFunc: controller.Never[event.DeleteEvent]}

// requested enqueues the namespace of an object that was created, changed or
// deleted.
func (s *slotAllocator) requested(_ context.Context, q controller.Queue[string], versions ...client.Object) {
	at, when := versions[0].GetNamespace(), shortly
	if len(versions) == 2 && versions[0].GetGeneration() == versions[1].GetGeneration() && versions[0].GetUID() == versions[1].GetUID() {
		when = s.pause(at) // the cache does not hold what went on
	}
	q.AddAfter(at, when)
}

// granted enqueues namespaces whose slots another client wrote: the former
// keeper, or one that should not have.
func granted(_ context.Context, q controller.Queue[string], versions ...client.Object) {
	b, wasPolicy := versions[0].(*v1beta1.ProvisioningPolicy)
	a, isPolicy := versions[1].(*v1beta1.ProvisioningPolicy)
	if !wasPolicy || !isPolicy {
		return
	}
	was, is := slotsByNamespace(&b.Status), slotsByNamespace(&a.Status)
	for namespace := range was {
		if !apiequality.Semantic.DeepEqual(was[namespace], is[namespace]) {
			q.AddAfter(namespace, later)
		}
		delete(is, namespace)
	}
	for namespace := range is {
		q.AddAfter(namespace, later)
	}
}

func slotsByNamespace(status *v1beta1.PolicyStatus) map[string]*v1beta1.PolicySlots {
	slots := make(map[string]*v1beta1.PolicySlots, len(status.Slots))
	for i := range status.Slots {
		slots[status.Slots[i].Namespace] = &status.Slots[i]
	}
	return slots
}

// sweep enqueues every namespace with an object that may need a slot, or had
// one.
func (s *slotAllocator) sweep(ctx context.Context) error {
	all := catalog.Scope{Reader: s.options.Client}
	var policies v1beta1.ProvisioningPolicyList
	if err := all.List(ctx, &policies, nil); err != nil {
		return err
	}
	namespaces := map[string]bool{}
	limits := false
	for i := range policies.Items {
		p := &policies.Items[i]
		limits = limits || p.Spec.MaxInstances != nil || p.Spec.MaxBindings != nil
		for namespace := range slotsByNamespace(&p.Status) {
			namespaces[namespace] = true
		}
	}
	if limits {
		if err := s.inhabited(ctx, namespaces); err != nil {
			return err
		}
	}
	for namespace := range namespaces {
		s.queue.Add(namespace)
	}
	return nil
}

// inhabited adds the namespaces in which there are instances or bindings.
func (s *slotAllocator) inhabited(ctx context.Context, namespaces map[string]bool) error {
	all := catalog.Scope{Reader: s.options.Client}
	var instances v1beta1.ServiceInstanceList
	if err := all.List(ctx, &instances, nil); err != nil {
		return err
	}
	for i := range instances.Items {
		namespaces[instances.Items[i].Namespace] = true
	}
	var bindings v1beta1.ServiceBindingList
	if err := all.List(ctx, &bindings, nil); err != nil {
		return err
	}
	for i := range bindings.Items {
		namespaces[bindings.Items[i].Namespace] = true
	}
	return nil
}
