package keeper

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// watch listens to everything that instances wait for, and last to instances:
// what the catalog held before is ignored, and every instance that waits is
// woken, after which no change is missed. The function that it returns
// ends the listening.
func (t *term) watch(ctx context.Context) (func(), error) {
	var ends []func()
	end := func() {
		for _, e := range ends {
			e()
		}
	}
	catalog := t.catalogEvents(ctx)
	for _, w := range []struct {
		object  client.Object
		handler toolscache.ResourceEventHandler
	}{
		{&v1beta1.ClusterServiceClass{}, catalog},
		{&v1beta1.ServiceClass{}, catalog},
		{&v1beta1.ClusterServicePlan{}, catalog},
		{&v1beta1.ServicePlan{}, catalog},
		{&v1beta1.ClusterServiceType{}, catalog},
		{&v1beta1.ServiceType{}, catalog},
		{&v1beta1.ServiceInstance{}, t.instanceEvents()},
	} {
		e, err := t.listen(ctx, w.object, w.handler)
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

func (t *term) catalogEvents(ctx context.Context) toolscache.ResourceEventHandlerDetailedFuncs {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if o, ok := object.(client.Object); ok && !initial {
				t.wake(ctx, o.GetNamespace(), o)
			}
		},
		UpdateFunc: func(before, after any) {
			b, wasObject := before.(client.Object)
			a, isObject := after.(client.Object)
			if !wasObject || !isObject || alike(b, a) {
				return
			}
			// Who waited for what it was may be served by its not being that any
			// more: of two defaults, one is left.
			t.wake(ctx, a.GetNamespace(), b, a)
		},
		DeleteFunc: func(object any) {
			if o, ok := lastKnown(object).(client.Object); ok {
				t.wake(ctx, o.GetNamespace(), o)
			}
		},
	}
}

func (t *term) instanceEvents() toolscache.ResourceEventHandlerFuncs {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if i, ok := object.(*v1beta1.ServiceInstance); ok && waits(i) {
				t.enqueue(client.ObjectKeyFromObject(i))
			}
		},
		UpdateFunc: func(before, after any) {
			b, wasInstance := before.(*v1beta1.ServiceInstance)
			a, isInstance := after.(*v1beta1.ServiceInstance)
			if wasInstance && isInstance && renewed(b, a) {
				t.enqueue(client.ObjectKeyFromObject(a))
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

// wake enqueues every instance that waits for what one object of the catalog is,
// in any of the versions given; each instance once.
func (t *term) wake(ctx context.Context, namespace string, versions ...client.Object) {
	s := scope{reader: t.options.Client, namespace: namespace}
	var keys []key
	for _, object := range versions {
		found, err := s.wakes(ctx, object)
		if err != nil {
			t.missed(ctx, err)
		}
		keys = append(keys, found...)
	}
	woken := map[client.ObjectKey]bool{}
	for _, k := range distinct(keys) {
		instances, err := s.waiting(ctx, k)
		if err != nil {
			t.missed(ctx, err)
		}
		for _, instance := range instances {
			if !woken[instance] {
				woken[instance] = true
				t.enqueue(instance)
			}
		}
	}
}

// missed tells of instances that may not have been woken.
func (t *term) missed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		t.options.Log.Error(err, "instances that wait may not have been woken: touch them, or restart the keeper")
	}
}
