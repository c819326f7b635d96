package keeper

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A listening is a handler and the kind that it hears of.
type listening struct {
	object  client.Object
	handler toolscache.ResourceEventHandler
}

// watch listens to everything that is waited for, then to instances, which wait
// and are waited for, and last to bindings: what there was before is ignored, and
// all who wait are woken, after which no change is missed. The function that it
// returns ends the listening.
func (t *toucher) watch(ctx context.Context) (func(), error) {
	changes := onChange(func(versions ...client.Object) { t.wake(ctx, versions...) })
	// What an instance was, and that it goes, helps no binding.
	decisions := onChange(func(versions ...client.Object) { t.wake(ctx, versions[len(versions)-1]) })
	decisions.DeleteFunc = nil
	return t.listenAll(ctx, []listening{
		{&v1beta1.ClusterServiceClass{}, changes},
		{&v1beta1.ServiceClass{}, changes},
		{&v1beta1.ClusterServicePlan{}, changes},
		{&v1beta1.ServicePlan{}, changes},
		{&v1beta1.ClusterServiceType{}, changes},
		{&v1beta1.ServiceType{}, changes},
		{&v1beta1.ProvisioningPolicy{}, changes},
		{&v1beta1.BindingPolicy{}, changes},
		{&corev1.Namespace{}, changes},
		{&v1beta1.ServiceInstance{}, t.arrivals()},
		{&v1beta1.ServiceInstance{}, decisions},
		{&v1beta1.ServiceBinding{}, t.arrivals()},
	})
}

// listenAll adds handlers to shared informers, and returns what removes them.
func (k *Keeper) listenAll(ctx context.Context, all []listening) (func(), error) {
	var ends []func()
	end := func() {
		for _, e := range ends {
			e()
		}
	}
	for _, l := range all {
		e, err := k.listen(ctx, l.object, l.handler)
		if err != nil {
			end()
			return nil, err
		}
		ends = append(ends, e)
	}
	return end, nil
}

// listen adds a handler to a shared informer, and returns what removes it.
func (k *Keeper) listen(ctx context.Context, object client.Object, handler toolscache.ResourceEventHandler) (func(), error) {
	informer, err := k.options.Informers.GetInformer(ctx, object)
	if err != nil {
		return nil, fmt.Errorf("cannot get the informer of %T: %w", object, err)
	}
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		return nil, fmt.Errorf("cannot listen to %T: %w", object, err)
	}
	return func() {
		if err := informer.RemoveEventHandler(registration); err != nil {
			k.options.Log.Error(err, "cannot stop listening", "kind", fmt.Sprintf("%T", object))
		}
	}, nil
}

// onChange tells of what happens to objects after the listening began: of an
// update both versions, unless they are alike.
func onChange(tell func(versions ...client.Object)) toolscache.ResourceEventHandlerDetailedFuncs {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if o, ok := object.(client.Object); ok && !initial {
				tell(o)
			}
		},
		UpdateFunc: func(before, after any) {
			b, wasObject := before.(client.Object)
			a, isObject := after.(client.Object)
			if wasObject && isObject && !alike(b, a) {
				// Who waited for what it was may be served by its not being that any
				// more: of two defaults, one is left.
				tell(b, a)
			}
		},
		DeleteFunc: func(object any) {
			if o, ok := lastKnown(object).(client.Object); ok {
				tell(o)
			}
		},
	}
}

// arrivals enqueues objects that begin to wait.
func (t *toucher) arrivals() toolscache.ResourceEventHandlerFuncs {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if o, ok := object.(client.Object); ok && waits(o) {
				t.enqueue(waiterOf(o))
			}
		},
		UpdateFunc: func(before, after any) {
			b, wasObject := before.(client.Object)
			a, isObject := after.(client.Object)
			if wasObject && isObject && renewed(b, a) {
				t.enqueue(waiterOf(a))
			}
		},
	}
}

// lastKnown unwraps an object whose deletion was only found out at a relist.
func lastKnown(object any) any {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return object
}

// wake enqueues everyone who waits for what one object is, in any of the versions
// given; each once.
func (t *toucher) wake(ctx context.Context, versions ...client.Object) {
	s := scopeOf(t.options.Client, versions[0])
	var keys []key
	for _, object := range versions {
		found, err := s.wakes(ctx, object)
		if err != nil {
			t.missed(ctx, err)
			return
		}
		keys = append(keys, found...)
	}
	if err := t.wakeWaiting(ctx, s, keys); err != nil {
		t.missed(ctx, err)
	}
}

// wakeEveryone makes up for wakes that failed.
func (t *toucher) wakeEveryone(ctx context.Context) {
	if err := t.wakeWaiting(ctx, scope{reader: t.options.Client}, []key{everyInstance, everyBinding}); err != nil {
		t.missed(ctx, err)
		return
	}
	t.queue.Forget(everyone)
}

func (t *toucher) wakeWaiting(ctx context.Context, s scope, keys []key) error {
	woken := map[waiter]bool{}
	for _, k := range distinct(keys) {
		waiting, err := s.waiting(ctx, k)
		if err != nil {
			return err
		}
		for _, w := range waiting {
			if !woken[w] {
				woken[w] = true
				t.enqueue(w)
			}
		}
	}
	return nil
}

// missed has everyone woken in a moment, because the cache could not be read for
// some. However many changes were missed, that is one item in the queue.
func (t *toucher) missed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	t.options.Log.Error(err, "some who wait were not woken: all are, as soon as the cache can be read")
	t.queue.AddRateLimited(everyone)
}
