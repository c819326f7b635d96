package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

const (
	fairGoal = 2
	// tenants are the namespaces: whose brokers hang, or whose instances fail, and the other.
	hostileTenant, otherTenant = "tenant-hostile", "tenant-other"
	sharedBroker, ownBroker    = "shared", "own"
	benchLabel                 = "bench.example.com/round"
	// allowLoopback is the flag of a controller that lets brokers of a namespace be on this machine.
	allowLoopback = "--allow-broker-addresses=127.0.0.0/8"
)

// measureFair measures what one tenant's brokers and instances are to another tenant's: brokers that hang, and
// thousands of instances that fail at a broker that both use.
func measureFair(ctx context.Context, b *bench) error {
	if err := onFair(ctx, b, func(f *fair) error { return f.measureHanging(ctx, b) }); err != nil {
		return err
	}
	return onFair(ctx, b, func(f *fair) error { return f.measureFailing(ctx, b) })
}

// fair is a market with two tenants and brokers for both.
type fair struct {
	market

	brokers *fairBrokers
}

// startFair starts it on a stack with these options, and a controller with further flags.
func startFair(ctx context.Context, options stack.Options, flags ...string) (*fair, ending, error) {
	ctx, cancel := context.WithCancel(ctx)
	started, err := stack.Start(ctx, options)
	if err != nil {
		cancel()
		return nil, nil, err //nolint:wrapcheck // it says what failed
	}
	f := &fair{market: market{Stack: started}}
	end := leave(options.Dir, func() error {
		cancel() // what hangs lets the controller end
		return f.stop(context.WithoutCancel(ctx))
	})
	if err := f.open(ctx, flags); err != nil {
		return nil, nil, end(err)
	}
	return f, end, nil
}

// open starts the brokers and the controller, and makes the tenants.
func (f *fair) open(ctx context.Context, flags []string) (err error) {
	if f.brokers, err = startFairBrokers(ctx); err != nil {
		return err
	}
	if f.controller, err = f.StartController(ctx, stack.ControllerOptions{Args: append(flags, allowLoopback)}); err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	for _, name := range []string{hostileTenant, otherTenant} {
		if err := f.Client().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return fmt.Errorf("cannot create namespace %q: %w", name, err)
		}
	}
	shared := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: sharedBroker}}
	shared.Spec.URL = f.brokers.serving(sharedBroker)
	if err := f.registers(ctx, shared); err != nil {
		return err
	}
	return f.registers(ctx, f.local(otherTenant, ownBroker, f.brokers.serving(ownBroker)))
}

func (f *fair) local(namespace, name, url string) *api.ServiceBroker {
	broker := &api.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	broker.Spec.URL = url
	return broker
}

// registers makes a broker known and waits until its catalog was taken over.
func (f *fair) registers(ctx context.Context, broker client.Object) error {
	if err := f.Client().Create(ctx, broker); err != nil {
		return fmt.Errorf("cannot register a broker: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, marketPatience)
	defer cancel()
	return wait.Eventually(ctx, func() (bool, error) {
		if err := f.Client().Get(ctx, client.ObjectKeyFromObject(broker), broker); err != nil {
			return false, fmt.Errorf("cannot read the broker: %w", err)
		}
		return isReady(broker), nil
	})
}

func isReady(o client.Object) bool {
	var conditions []api.Condition
	switch o := o.(type) {
	case *api.ClusterServiceBroker:
		conditions = o.Status.Conditions
	case *api.ServiceBroker:
		conditions = o.Status.Conditions
	case *api.ServiceInstance:
		conditions = o.Status.Conditions
	case *api.ServiceBinding:
		conditions = o.Status.Conditions
	}
	ready, _ := api.FindCondition(conditions, api.ConditionReady)
	return ready.Status == api.ConditionTrue
}

// measureHanging: 50 brokers of one namespace hang, with more instances than the controller makes calls.
func (f *fair) measureHanging(ctx context.Context, b *bench) error {
	size := b.size.fair
	for n := range size.brokers {
		if err := f.registers(ctx, f.local(hostileTenant, fmt.Sprintf("hanging-%d", n), f.brokers.hanging(n))); err != nil {
			return err
		}
	}
	for n := range size.brokers * size.each {
		instance := f.instance(hostileTenant, fmt.Sprintf("hanging-%d", n), "")
		instance.Spec.ServiceClassExternalName, instance.Spec.ServicePlanExternalName = hangingService(n%size.brokers), goodPlan
		if err := f.Client().Create(ctx, instance); err != nil {
			return fmt.Errorf("cannot create an instance: %w", err)
		}
	}
	before, err := f.requests(ctx)
	if err != nil {
		return err
	}
	times, err := f.provisions(ctx, "beside-hanging", size.good)
	if err != nil {
		return err
	}
	after, err := f.requests(ctx)
	if err != nil {
		return err
	}
	b.table.Add(measure.Row{
		What: fmt.Sprintf("beside %d hanging brokers, to Ready", size.brokers), Value: times.worst().Seconds(), Unit: "s", Bound: measure.AtMost, Goal: fairGoal,
		Detail: fmt.Sprintf("the slowest of %d instances of another namespace, at two healthy brokers; median %.2f s; %d instances hang", len(times), times.median().Seconds(), size.brokers*size.each),
	})
	b.table.Add(measure.Row{
		What: "  live reads of one", Value: after.since(before).reads() / float64(len(times)), Bound: measure.AtMost, Goal: fairGoal,
		Detail: "GETs and LISTs of everybody, meanwhile",
	})
	return nil
}

// measureFailing: thousands of instances of a plan that always fails, beside good ones of another namespace.
func (f *fair) measureFailing(ctx context.Context, b *bench) error {
	size := b.size.fair
	alone, err := f.provisions(ctx, "alone", size.good)
	if err != nil {
		return err
	}
	if err := f.crowd(ctx, "failing", failingPlan, size.failing); err != nil {
		return err
	}
	beside, err := f.provisions(ctx, "beside-failing", size.good)
	if err != nil {
		return err
	}
	b.table.Add(measure.Row{
		What: fmt.Sprintf("beside %d failing instances, p99 to Ready", size.failing), Value: beside.p99().Seconds() / alone.p99().Seconds(), Unit: "×", Bound: measure.AtMost, Goal: fairGoal,
		Detail: fmt.Sprintf("%.2f s against %.2f s alone, of %d at the same broker and %d at another, created one after the other", beside.p99().Seconds(), alone.p99().Seconds(), size.good, size.good),
	})
	return nil
}

// times are how long instances took to be Ready.
type times []time.Duration

func (t times) worst() time.Duration  { return slices.Max(t) }
func (t times) median() time.Duration { return slices.Sorted(slices.Values(t))[len(t)/2] }
func (t times) p99() time.Duration    { return slices.Sorted(slices.Values(t))[(99*len(t)+99)/100-1] }

// provisions creates the other tenant's instances, one after the other at the shared broker and at its own, and says how
// long each took from its creation to Ready.
func (f *fair) provisions(ctx context.Context, round string, good int) (times, error) {
	ctx, cancel := context.WithTimeout(ctx, marketPatience)
	defer cancel()
	watching, err := f.Client().Watch(ctx, &api.ServiceInstanceList{}, client.InNamespace(otherTenant), client.MatchingLabels{benchLabel: round})
	if err != nil {
		return nil, fmt.Errorf("cannot watch: %w", err)
	}
	defer watching.Stop()
	var mu sync.Mutex
	began := map[string]time.Time{}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		for n := range 2 * good {
			instance := f.instance(otherTenant, fmt.Sprintf("%s-%d", round, n), round)
			if n%2 == 0 {
				instance.Spec.ClusterServiceClassExternalName, instance.Spec.ClusterServicePlanExternalName = servingService(sharedBroker), goodPlan
			} else {
				instance.Spec.ServiceClassExternalName, instance.Spec.ServicePlanExternalName = servingService(ownBroker), goodPlan
			}
			mu.Lock()
			began[instance.Name] = time.Now()
			mu.Unlock()
			if err := f.Client().Create(ctx, instance); err != nil {
				return fmt.Errorf("cannot create an instance: %w", err)
			}
		}
		return nil
	})
	taken := map[string]time.Duration{}
	for len(taken) < 2*good {
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%d of %d instances are Ready: %w", len(taken), 2*good, context.Cause(ctx)), group.Wait())
		case event, open := <-watching.ResultChan():
			instance, is := event.Object.(*api.ServiceInstance)
			if !open || !is {
				return nil, errors.Join(errWatchEnded, group.Wait())
			}
			mu.Lock()
			since := time.Since(began[instance.Name])
			mu.Unlock()
			if _, known := taken[instance.Name]; !known && isReady(instance) {
				taken[instance.Name] = since
			}
		}
	}
	all := make(times, 0, len(taken))
	for _, one := range taken {
		all = append(all, one)
	}
	return all, group.Wait() //nolint:wrapcheck // it says what failed
}

var errWatchEnded = errors.New("the watch ended")

func (f *fair) instance(namespace, name, round string) *api.ServiceInstance {
	instance := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if round != "" {
		instance.Labels = map[string]string{benchLabel: round}
	}
	return instance
}

// stop ends the controller at once: what hangs would be waited for.
func (f *fair) stop(ctx context.Context) error {
	var err error
	if f.controller != nil {
		err = f.controller.Stop(ctx, syscall.SIGKILL)
	}
	return errors.Join(err, f.Stop()) //nolint:contextcheck // it stops even if ctx ended
}
