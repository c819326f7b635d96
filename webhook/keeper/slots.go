package keeper

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	// slotsInterval is how often all is looked at anew: what no event told of is
	// found in that time.
	slotsInterval = 5 * time.Minute
	// shortly is when a namespace is looked at in which something is asked for or gone,
	// and later where something went on: many events are looked at once.
	// When the catalog changes, much of it may. A large namespace is looked at later
	// still: see slotter.pauses.
	shortly, later, muchLater = 20 * time.Millisecond, 250 * time.Millisecond, time.Second
)

// everywhere is the queue's item for all namespaces.
const everywhere = ""

// A slotter grants the slots of policies with limits, namespace by namespace: it
// alone writes status.slots.
type slotter struct {
	*Keeper

	queue workqueue.TypedRateLimitingInterface[string]

	mu sync.Mutex
	// pauses are how long a namespace is left alone though something goes on in it: as
	// with reports, so many times as long as its last round took. Whoever asks for
	// something, or is gone, does not wait for that.
	pauses map[string]time.Duration
}

func newSlotter(k *Keeper) *slotter {
	return &slotter{
		Keeper: k,
		pauses: map[string]time.Duration{},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](shortly, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[string]{Clock: k.options.Clock}),
	}
}

// run works until ctx ends. When it returns, nothing of it is running.
func (s *slotter) run(ctx context.Context) error {
	defer s.queue.ShutDown()
	end, err := s.watch(ctx)
	if err != nil {
		return err
	}
	defer end()
	defer context.AfterFunc(ctx, s.queue.ShutDown)()
	s.queue.Add(everywhere)
	for {
		namespace, shutDown := s.queue.Get()
		if shutDown {
			return nil
		}
		s.process(ctx, namespace)
		s.queue.Done(namespace)
	}
}

func (s *slotter) process(ctx context.Context, namespace string) {
	var err error
	again := false
	if namespace == everywhere {
		err = s.sweep(ctx)
		s.queue.AddAfter(everywhere, slotsInterval)
	} else {
		again, err = s.timed(ctx, namespace)
	}
	switch {
	case ctx.Err() != nil:
	case apierrors.IsConflict(err): // somebody wrote a policy since it was read
		s.queue.AddAfter(namespace, shortly)
	case err != nil:
		logCause(s.options.Log.WithValues("namespace", namespace), err, "slots not granted; to be tried again")
		s.queue.AddRateLimited(namespace)
	case again:
		s.queue.Add(namespace)
	default:
		s.queue.Forget(namespace)
	}
}

// timed does a round and remembers how long it took.
func (s *slotter) timed(ctx context.Context, namespace string) (bool, error) {
	began := s.options.Clock.Now()
	again, err := s.round(ctx, namespace)
	pause := min(reportShare*s.options.Clock.Since(began), lastRetry)
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.pauses, namespace); pause > later {
		s.pauses[namespace] = pause
	}
	return again, err
}

// pause is how long to wait after news of a namespace that ask for nothing.
func (s *slotter) pause(namespace string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(later, s.pauses[namespace])
}

// watch listens to all that needs slots, and to all that says who does.
func (s *slotter) watch(ctx context.Context) (func(), error) {
	every := onChange(func(...client.Object) { s.queue.AddAfter(everywhere, muchLater) })
	limits := onChange(func(...client.Object) { s.queue.AddAfter(everywhere, shortly) })
	here := onChange(func(versions ...client.Object) { s.queue.AddAfter(versions[0].GetName(), shortly) })
	return s.listenAll(ctx, []listening{
		{&v1beta1.ClusterServiceClass{}, every},
		{&v1beta1.ServiceClass{}, every},
		{&v1beta1.ClusterServicePlan{}, every},
		{&v1beta1.ServicePlan{}, every},
		{&corev1.Namespace{}, here},
		{&v1beta1.ProvisioningPolicy{}, limits},
		{&v1beta1.ProvisioningPolicy{}, s.grants()},
		{&v1beta1.ServiceInstance{}, s.claims()},
		{&v1beta1.ServiceBinding{}, s.claims()},
	})
}

// claims has a namespace looked at in which an object came, changed or went.
func (s *slotter) claims() toolscache.ResourceEventHandlerDetailedFuncs {
	at := func(object any, when time.Duration) {
		if o, ok := lastKnown(object).(client.Object); ok {
			s.queue.AddAfter(o.GetNamespace(), when)
		}
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if !initial {
				at(object, shortly)
			}
		},
		UpdateFunc: func(before, after any) {
			b, wasObject := before.(client.Object)
			a, isObject := after.(client.Object)
			switch {
			case !wasObject || !isObject || b.GetResourceVersion() == a.GetResourceVersion():
			case b.GetGeneration() != a.GetGeneration() || b.GetUID() != a.GetUID():
				at(after, shortly)
			default: // the cache does not hold what went on
				at(after, s.pause(a.GetNamespace()))
			}
		},
		DeleteFunc: func(object any) { at(object, shortly) },
	}
}

// grants has namespaces looked at whose slots somebody wrote: the keeper before this
// one, or somebody who should not have.
func (s *slotter) grants() toolscache.ResourceEventHandlerFuncs {
	return toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		b, wasPolicy := before.(*v1beta1.ProvisioningPolicy)
		a, isPolicy := after.(*v1beta1.ProvisioningPolicy)
		if !wasPolicy || !isPolicy {
			return
		}
		was, is := slotsByNamespace(&b.Status), slotsByNamespace(&a.Status)
		for namespace := range was {
			if !apiequality.Semantic.DeepEqual(was[namespace], is[namespace]) {
				s.queue.AddAfter(namespace, later)
			}
			delete(is, namespace)
		}
		for namespace := range is {
			s.queue.AddAfter(namespace, later)
		}
	}}
}

func slotsByNamespace(status *v1beta1.PolicyStatus) map[string]*v1beta1.PolicySlots {
	slots := make(map[string]*v1beta1.PolicySlots, len(status.Slots))
	for i := range status.Slots {
		slots[status.Slots[i].Namespace] = &status.Slots[i]
	}
	return slots
}

// sweep has every namespace looked at in which there is something that may need a
// slot, or had one.
func (s *slotter) sweep(ctx context.Context) error {
	all := scope{reader: s.options.Client}
	var policies v1beta1.ProvisioningPolicyList
	if err := all.listAll(ctx, &policies); err != nil {
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
func (s *slotter) inhabited(ctx context.Context, namespaces map[string]bool) error {
	all := scope{reader: s.options.Client}
	var instances v1beta1.ServiceInstanceList
	if err := all.listAll(ctx, &instances); err != nil {
		return err
	}
	for i := range instances.Items {
		namespaces[instances.Items[i].Namespace] = true
	}
	var bindings v1beta1.ServiceBindingList
	if err := all.listAll(ctx, &bindings); err != nil {
		return err
	}
	for i := range bindings.Items {
		namespaces[bindings.Items[i].Namespace] = true
	}
	return nil
}
