package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

const (
	provisioned   = 1000
	instancesGoal = 50
	// marketPatience bounds what is waited for at a market.
	marketPatience  = 10 * time.Minute
	marketNamespace = "default"
	marketType      = "type-00000"
	marketPlan      = "service-00000-plan-00001"
)

// measureInstances measures how long a thousand instances take to be Ready that say only
// a type, and as many bindings, at a broker that answers at once. On two cores the API
// server, the webhook, the broker and this program share what there is.
func measureInstances(ctx context.Context, b *bench) error {
	return onMarket(ctx, b.bin, 1, catalog.PlansPerFamily, func(m *market) error {
		if err := m.register(ctx); err != nil {
			return err
		}
		if err := m.choose(ctx); err != nil {
			return err
		}
		if err := m.race(ctx, b, "instances by type to Ready", func(i int) client.Object {
			instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: marketNamespace, Name: fmt.Sprintf("instance-%05d", i)}}
			instance.Spec.ServiceType = marketType
			return instance
		}); err != nil {
			return err
		}
		return m.race(ctx, b, "bindings to Ready", func(i int) client.Object {
			binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: marketNamespace, Name: fmt.Sprintf("binding-%05d", i)}}
			binding.Spec.InstanceRef = &api.InstanceReference{Name: fmt.Sprintf("instance-%05d", i)}
			return binding
		})
	})
}

// choose makes a plan the default of the type, and waits until that is recorded.
func (m *market) choose(ctx context.Context) error {
	plan := &api.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: marketPlan}}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"true"}}}`, api.AnnotationDefaultPlan)
	if err := m.Client().Patch(ctx, plan, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return fmt.Errorf("cannot choose the default: %w", err)
	}
	record := &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: marketType}}
	return wait.Eventually(ctx, func() (bool, error) {
		err := m.Client().Get(ctx, client.ObjectKeyFromObject(record), record)
		return err == nil && record.Spec.DefaultPlanRef != nil && record.Status.Confirmed, err
	})
}

// race creates objects and waits until all are Ready.
func (m *market) race(ctx context.Context, b *bench, what string, object func(int) client.Object) error {
	before, err := m.requests(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := m.readyAll(ctx, provisioned, object); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := m.requests(ctx)
	if err != nil {
		return err
	}
	b.table.Add(measure.Row{
		What: fmt.Sprintf("%d %s", provisioned, what), Value: provisioned / took.Seconds(), Unit: "/s", Bound: measure.AtLeast, Goal: instancesGoal,
		Detail: fmt.Sprintf("%.1f s in all, with %d creators on the same cores", took.Seconds(), creators),
	})
	spent := after.since(before)
	b.table.Add(measure.Row{What: "  status writes of one", Value: spent.perObject("PATCH", "status"), Detail: spent.String()})
	return nil
}

// readyAll creates so many objects, and returns when the last is Ready.
func (m *market) readyAll(ctx context.Context, count int, object func(int) client.Object) error {
	ctx, cancel := context.WithTimeout(ctx, marketPatience)
	defer cancel()
	names := map[string]bool{}
	for i := range count {
		names[object(i).GetName()] = true
	}
	group, ctx := errgroup.WithContext(ctx)
	for c := range creators {
		group.Go(func() error {
			for i := c; i < count; i += creators {
				if err := m.Client().Create(ctx, object(i)); err != nil {
					return fmt.Errorf("cannot create %q: %w", object(i).GetName(), err)
				}
			}
			return nil
		})
	}
	_, bindings := object(0).(*api.ServiceBinding)
	group.Go(func() error { return m.awaitReady(ctx, bindings, names) })
	return group.Wait()
}

// awaitReady returns when all that are named were seen Ready. An API server may end a
// watch at any time: then it starts over.
func (m *market) awaitReady(ctx context.Context, bindings bool, names map[string]bool) error {
	for len(names) > 0 {
		list := client.ObjectList(&api.ServiceInstanceList{})
		if bindings {
			list = &api.ServiceBindingList{}
		}
		if err := m.Client().List(ctx, list, client.InNamespace(marketNamespace)); err != nil {
			return fmt.Errorf("cannot list: %w", err)
		}
		if err := meta.EachListItem(list, func(o runtime.Object) error { strike(o, names); return nil }); err != nil {
			return fmt.Errorf("cannot list: %w", err)
		}
		since := &client.ListOptions{Namespace: marketNamespace, Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
		watching, err := m.Client().Watch(ctx, list, since)
		if err != nil {
			return fmt.Errorf("cannot watch: %w", err)
		}
		err = followReady(ctx, watching, names)
		watching.Stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// followReady follows a watch until all were seen Ready, or it ends.
func followReady(ctx context.Context, watching watch.Interface, names map[string]bool) error {
	for len(names) > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d are not Ready: %w", len(names), context.Cause(ctx))
		case event, open := <-watching.ResultChan():
			if !open {
				return nil
			}
			strike(event.Object, names)
		}
	}
	return nil
}

// strike takes an object that is Ready off the list.
func strike(o runtime.Object, names map[string]bool) {
	var conditions []api.Condition
	name := ""
	switch o := o.(type) {
	case *api.ServiceInstance:
		conditions, name = o.Status.Conditions, o.Name
	case *api.ServiceBinding:
		conditions, name = o.Status.Conditions, o.Name
	}
	if ready, _ := api.FindCondition(conditions, api.ConditionReady); ready.Status == api.ConditionTrue {
		delete(names, name)
	}
}
