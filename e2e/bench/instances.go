package main

import (
	"context"
	"fmt"
	"slices"
	"syscall"
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
	"github.com/defaultplan/defaultplan/e2e/bench/review"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

const (
	// The goals are shares of the rate of creates beside raw hooks that do not patch.
	instancesGoal = 0.18
	bindingsGoal  = 0.15
	// marketPatience bounds what is waited for at a market.
	marketPatience  = 10 * time.Minute
	marketNamespace = "default"
	marketType      = "type-00000"
	marketPlan      = "service-00000-plan-00001"
	// askedOfRaw is what instances say that raw hooks admit.
	askedOfRaw = review.Spec(`"serviceType":"` + marketType + `"`)
)

// measureInstances measures how long a thousand instances take to be Ready that say only
// a type, and as many bindings, at a broker that answers at once. On two cores the API
// server, the webhook, the broker and this program share what there is. The rates are compared with
// that of creates beside raw hooks that do not patch, before and after, while the controller is
// stopped.
func measureInstances(ctx context.Context, b *bench) error {
	return onMarket(ctx, b.bin, 1, catalog.PlansPerFamily, func(m *market) error {
		if err := m.register(ctx); err != nil {
			return err
		}
		if err := m.choose(ctx); err != nil {
			return err
		}
		raw, err := newRawCreates(ctx, m, b.size.instances.batches, b.size.creates.batch)
		if err != nil {
			return err
		}
		races := []race{
			{what: "instances by type to Ready", goal: instancesGoal, count: b.size.instances.count, object: func(i int) client.Object {
				instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: marketNamespace, Name: fmt.Sprintf("instance-%05d", i)}}
				instance.Spec.ServiceType = marketType
				return instance
			}},
			{what: "bindings to Ready", goal: bindingsGoal, count: b.size.instances.count, object: func(i int) client.Object {
				binding := &api.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: marketNamespace, Name: fmt.Sprintf("binding-%05d", i)}}
				binding.Spec.InstanceRef = &api.InstanceReference{Name: fmt.Sprintf("instance-%05d", i)}
				return binding
			}},
		}
		for i := range races {
			if err := races[i].run(ctx, m); err != nil {
				return err
			}
		}
		if err := raw.measure(ctx); err != nil {
			return err
		}
		for i := range races {
			races[i].tell(b, raw)
		}
		return nil
	})
}

// rawCreates are the creates beside raw hooks that the races are compared with.
type rawCreates struct {
	market         *market
	poster         *poster
	batches, count int
	rates          []float64
}

// newRawCreates starts the raw hooks and measures a first time.
func newRawCreates(ctx context.Context, m *market, batches, count int) (*rawCreates, error) {
	s := &site{Stack: m.Stack, inventory: inventory{m.Client()}}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if err := s.teach(ctx, askedOfRaw); err != nil {
		return nil, err
	}
	if err := s.divide(ctx); err != nil {
		return nil, err
	}
	p, err := newPoster(s, "raw")
	if err != nil {
		return nil, err
	}
	r := &rawCreates{market: m, poster: p, batches: batches, count: count}
	return r, r.measure(ctx)
}

// measure creates without the controller, which would have work with what the raw hooks left
// undecided, and removes what it created.
func (r *rawCreates) measure(ctx context.Context) error {
	if err := r.market.controller.Stop(ctx, syscall.SIGTERM); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	var costs []measure.Usage
	batch := r.poster.creating(rawNamespace, askedOfRaw, r.count, &costs)
	for i := range r.batches + 1 {
		rate, err := batch(ctx)
		if err != nil {
			return err
		}
		if i > 0 { // the first does not count
			r.rates = append(r.rates, rate)
		}
	}
	if err := r.market.Client().DeleteAllOf(ctx, &api.ServiceInstance{}, client.InNamespace(rawNamespace)); err != nil {
		return fmt.Errorf("cannot remove the instances of the raw hooks: %w", err)
	}
	return r.market.controller.Start(ctx) //nolint:wrapcheck // it says what failed
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

// A race creates objects and waits until all are Ready.
type race struct {
	what   string
	goal   float64
	count  int
	object func(int) client.Object

	took  time.Duration
	spent requests
	used  measure.Usage
}

func (r *race) run(ctx context.Context, m *market) error {
	before, err := m.requests(ctx)
	if err != nil {
		return err
	}
	used, err := m.used(brokerCommandName)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := m.readyAll(ctx, r.count, r.object); err != nil {
		return err
	}
	r.took = time.Since(began)
	now, err := m.used(brokerCommandName)
	if err != nil {
		return err
	}
	r.used = now.Since(used)
	after, err := m.requests(ctx)
	r.spent = after.since(before)
	return err
}

// tell adds the rows of a race.
func (r *race) tell(b *bench, raw *rawCreates) {
	count, creates := float64(r.count), measure.Quantile(raw.rates, .5)
	rate := count / r.took.Seconds()
	b.table.Add(measure.Row{
		What: fmt.Sprintf("%d %s, beside raw creates", r.count, r.what), Value: rate / creates, Bound: measure.AtLeast, Goal: r.goal,
		Detail: fmt.Sprintf("%.0f/s (%.1f s in all) against %.0f/s of creates beside raw hooks that do not patch (%.0f to %.0f/s before and after), with %d creators on the same cores",
			rate, r.took.Seconds(), creates, slices.Min(raw.rates), slices.Max(raw.rates), creators),
	})
	b.table.Add(measure.Row{What: "  status writes of one", Value: r.spent.objects("PATCH", "status") / count, Detail: "requests of one: " + r.spent.per(count)})
	b.table.Add(measure.Row{What: "  processor time of one", Value: milliseconds(r.used.Total()) / count, Unit: "ms", Detail: r.used.Each(r.count).Words(inMicroseconds)})
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
