package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/catalog"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/dependents"
	"github.com/defaultplan/defaultplan/osb/controller/deposit"
	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/events"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
	"github.com/defaultplan/defaultplan/osb/controller/inuse"
	"github.com/defaultplan/defaultplan/osb/controller/metrics"
	"github.com/defaultplan/defaultplan/osb/controller/options"
	"github.com/defaultplan/defaultplan/osb/controller/owned"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/controller/platform"
	"github.com/defaultplan/defaultplan/osb/controller/policies"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/controller/relist"
	"github.com/defaultplan/defaultplan/osb/controller/requests"
	"github.com/defaultplan/defaultplan/osb/controller/resync"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
	"github.com/defaultplan/defaultplan/osb/controller/watches"
	"github.com/defaultplan/defaultplan/resolve/quota"
)

// Setup adds the controllers to a manager.
func Setup(ctx context.Context, mgr manager.Manager, o *options.Options) error {
	mgr = scope.Restrict(requests.Bound(mgr), o.Scope())
	if err := scope.CheckPolicies(ctx, mgr.GetAPIReader(), o.Scope()); err != nil {
		return err
	}
	if err := errors.Join(indexes.Add(ctx, mgr.GetFieldIndexer()), watches.AddIndexes(ctx, mgr.GetFieldIndexer())); err != nil {
		return err
	}
	clusterID, err := platform.FindClusterID(ctx, mgr.GetAPIReader(), o.ClusterID)
	if err != nil {
		return err
	}
	counted, err := metrics.New(crmetrics.Registry)
	if err != nil {
		return err
	}
	queues := queue.New(o.Calls.Limits(o.Calls.Calls, options.CallsPerBroker))
	if err := crmetrics.Registry.Register(&metrics.Census{Reader: mgr.GetClient(), Queues: queues, Scope: o.Scope(), Clock: clock.RealClock{}, Elected: mgr.Elected()}); err != nil {
		return fmt.Errorf("cannot register metrics: %w", err)
	}
	network, err := newNetworkRules(mgr, o)
	if err != nil {
		return err
	}
	rules, err := o.BrokerRules()
	if err != nil {
		return err
	}
	known := &broker.Clients{
		Reader: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: clock.RealClock{}, Guard: &broker.Guard{Given: rules, Around: network.Current},
		Scope: o.Scope(), Reread: o.SecretInterval, Metrics: counted,
		Secrets: broker.SecretKeeper{Client: mgr.GetClient(), Live: mgr.GetAPIReader()},
		Queues:  queues,
		Config:  osb.Config{Timeout: o.CallTimeout, APIVersion: o.APIVersion, Wrap: o.Wrap},
	}
	if err := mgr.Add(known.Queues); err != nil {
		return fmt.Errorf("cannot set up the queues of the brokers: %w", err)
	}
	recorder, err := events.NewRecorder(ctx, mgr, o.Scope().Named(events.Source), o.CallTimeout+requests.Timeout)
	if err != nil {
		return err
	}
	p := parts{
		mgr: mgr, options: o, brokers: known, metrics: counted, network: network, recorder: recorder,
		platform:   &platform.Profile{Reader: mgr.GetClient(), ClusterID: clusterID, Annotations: o.ContextAnnotations},
		parameters: parameters.NewReader(mgr.GetAPIReader()),
	}
	return p.add(ctx)
}

// parts are the dependencies that the controllers share.
type parts struct {
	mgr      manager.Manager
	options  *options.Options
	brokers  *broker.Clients
	metrics  *metrics.Counters
	platform *platform.Profile
	network  *endpoints.NetworkRules
	recorder clientevents.EventRecorder
	// parameters are read by instances and bindings: they share the compiled schemas.
	parameters parameters.Reader
}

func (p *parts) engine() *engine {
	return &engine{
		store:   store{client: p.mgr.GetClient(), live: p.mgr.GetAPIReader()},
		brokers: p.brokers, events: &events.Events{Recorder: p.recorder}, metrics: p.metrics, clock: clock.RealClock{},
		timeout: p.options.CallTimeout, maxPolling: p.options.MaxPolling, maxRetry: p.options.MaxRetry, reread: p.options.SecretInterval,
		names: rate.NewLimiter(resync.PerSecond, resync.PerSecond),
	}
}

func (p *parts) running() controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: p.options.Workers,
		// Expected waits use RequeueAfter; this is for errors.
		RateLimiter: queue.ErrorPauses(),
	}
}

func (p *parts) slots() *policies.Slots {
	return &policies.Slots{Cached: p.mgr.GetClient(), Live: p.mgr.GetAPIReader()}
}

func (p *parts) policies() *policies.Rules {
	return &policies.Rules{Cached: p.mgr.GetClient(), Live: p.mgr.GetAPIReader()}
}

func (p *parts) watches() *watches.Set {
	return &watches.Set{Reader: p.mgr.GetClient(), Scope: p.options.Scope()}
}

// add adds the controllers.
func (p *parts) add(ctx context.Context) error {
	if err := p.addInstances(); err != nil {
		return err
	}
	if err := p.addBindings(); err != nil {
		return err
	}
	if err := p.addEndpoints(ctx); err != nil {
		return err
	}
	if err := p.addHolds(); err != nil {
		return err
	}
	return p.addBrokers()
}

func (p *parts) addInstances() error {
	r := &instances{
		engine: p.engine(), reader: p.mgr.GetClient(), catalog: catalog.NewReader(p.mgr.GetClient()), platform: p.platform,
		parameters: p.parameters, dependents: dependents.Reader{Client: p.mgr.GetClient(), Live: p.mgr.GetAPIReader(), Events: &events.Events{Recorder: p.recorder}},
		slots: p.slots(), policies: p.policies(),
	}
	watched := p.watches()
	plans := builder.WithPredicates(watches.SpecOrAnnotations())
	added := ctrl.NewControllerManagedBy(p.mgr).Named("instances").For(&v1beta1.ServiceInstance{})
	if !p.options.Scope().Restricted() {
		added = added.Watches(&v1beta1.ClusterServicePlan{}, watches.ByPlan(p.mgr.GetClient()), plans)
	}
	dispatched := queue.NewDispatcher(r, "ServiceInstance", p.brokers.Queues)
	added = p.wakes(watched.Offerings(added, watches.InstancesByOffering(p.mgr.GetClient(), r.engine.changed)), r.engine)
	err := watched.Policies(added, quota.Instances).
		Watches(&v1beta1.ServicePlan{}, watches.ByPlan(p.mgr.GetClient()), plans).
		Watches(&v1beta1.ServiceBinding{}, watches.OfBinding(), builder.WithPredicates(watches.Released())).
		WatchesRawSource(dispatched.Source()).
		WithOptions(p.running()).Complete(dispatched)
	if err != nil {
		return fmt.Errorf("cannot set up the instances: %w", err)
	}
	return nil
}

func (p *parts) addBindings() error {
	engine := p.engine()
	r := &bindings{
		engine: engine, reader: p.mgr.GetClient(), catalog: catalog.NewReader(p.mgr.GetClient()), platform: p.platform,
		parameters: p.parameters,
		rotating:   p.options.Rotating(),
		deposits: deposit.Places{
			Secrets:   credentials.Secrets{Objects: owned.Objects{Client: p.mgr.GetClient(), Live: p.mgr.GetAPIReader(), Scheme: p.mgr.GetScheme()}, Backoff: patience},
			Endpoints: endpoints.Validator{Given: p.network.Given, Clock: clock.RealClock{}, Disabled: !p.options.Endpoints},
			Current:   engine.store.current,
		},
	}
	r.slots, r.policies = p.slots(), p.policies()
	watched := p.watches()
	controlled := ctrl.NewControllerManagedBy(p.mgr).Named("bindings").For(&v1beta1.ServiceBinding{}).
		Watches(&v1beta1.ServiceInstance{}, watches.ByInstance(p.mgr.GetClient()), builder.WithPredicates(watches.ReadByBindings())).
		WithOptions(p.running())
	dispatched := queue.NewDispatcher(r, "ServiceBinding", p.brokers.Queues)
	controlled = watched.Offerings(watched.Namespaces(controlled), watches.BindingsByOffering(p.mgr.GetClient(), engine.changed))
	controlled = p.wakes(controlled, engine)
	err := watched.Policies(controlled, quota.Bindings).WatchesRawSource(dispatched.Source()).Complete(dispatched)
	if err != nil {
		return fmt.Errorf("cannot set up the bindings: %w", err)
	}
	return nil
}

// wakes adds what ends the wait of those that fail: a success of another one, or a change of their
// broker.
func (p *parts) wakes(b *builder.Builder, e *engine) *builder.Builder {
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	b = b.WatchesRawSource(e.failing.Source()).Watches(&v1beta1.ServiceBroker{}, e.failing.ByBroker(e.clock), changed)
	if !p.options.Scope().Restricted() {
		b = b.Watches(&v1beta1.ClusterServiceBroker{}, e.failing.ByBroker(e.clock), changed)
	}
	return b
}

// addEndpoints adds the controller that writes the Services of bindings, if enabled.
func (p *parts) addEndpoints(ctx context.Context) error {
	if !p.options.Endpoints {
		return nil
	}
	if err := endpoints.CheckRights(ctx, p.mgr.GetAPIReader(), p.options.Namespaces); err != nil {
		return err
	}
	resting := &resync.Schedule{}
	r := &endpoints.Reconciler{
		Services: endpoints.Services{Objects: owned.Objects{Client: p.mgr.GetClient(), Live: p.mgr.GetAPIReader(), Scheme: p.mgr.GetScheme()}, Rules: p.network},
		Cache:    p.mgr.GetClient(),
		Mine: func(ctx context.Context, b *v1beta1.ServiceBinding) (bool, error) {
			found, err := owners{p.brokers}.handlerOfBinding(ctx, b)
			return err == nil && found.by(p.brokers.Scope), err
		},
		Pause:  func(b *v1beta1.ServiceBinding) time.Duration { return resting.After(b, p.options.SecretInterval) },
		Forget: resting.Forget,
	}
	return endpoints.Setup(p.mgr, r, p.running())
}

// addHolds adds the controller that prevents the deletion of user-defined
// classes and plans in use.
func (p *parts) addHolds() error {
	err := inuse.Setup(p.mgr, inuse.Options{Mine: owners{p.brokers}.mine, Restricted: p.options.Scope().Restricted(), Controller: controller.Options{RateLimiter: queue.ErrorPauses()}})
	if err != nil {
		return fmt.Errorf("cannot set up what is in use: %w", err)
	}
	return nil
}

// relistsAtOnce is how many brokers are relisted at once; each of them writes in parallel
// by itself.
const relistsAtOnce = 12

func (p *parts) addBrokers() error {
	fetches := queue.New(p.options.Calls.Limits(relistsAtOnce, 1))
	if err := p.mgr.Add(fetches); err != nil {
		return fmt.Errorf("cannot set up the queue of the catalogs: %w", err)
	}
	ask, err := broker.Setup(p.mgr, broker.Options{
		Client: p.mgr.GetClient(), Fetch: p.brokers.Catalog, Recorder: p.recorder, Clock: clock.RealClock{}, Interval: p.options.RelistInterval, Metrics: p.metrics, Scope: p.options.Scope(),
		Gone: p.brokers.Drop, Patience: 2 * p.options.CallTimeout, Secrets: p.brokers.Secrets,
		Engine: &relist.Engine{Client: p.mgr.GetClient(), Reader: p.mgr.GetClient(), Live: p.mgr.GetAPIReader()},
	}, fetches)
	p.brokers.Relist = ask
	return err
}

// newNetworkRules are the rules of a manager's cluster.
func newNetworkRules(mgr manager.Manager, o *options.Options) (*endpoints.NetworkRules, error) {
	rules, err := o.EndpointRules()
	if err != nil {
		return nil, err
	}
	if err := endpoints.AddOwn(&rules, mgr.GetConfig().Host); err != nil {
		return nil, err
	}
	if o.Endpoints && len(rules.Cluster) == 0 {
		mgr.GetLogger().Info("--cluster-cidrs is empty: the Services of bindings may lead to pods and nodes, by address")
	}
	return &endpoints.NetworkRules{
		Live: mgr.GetAPIReader(), Clock: clock.RealClock{}, Given: rules, Reread: o.SecretInterval,
		Whole: len(o.Namespaces) == 0, APIServerOnly: !o.Endpoints, Beyond: scope.IsBeyond,
	}, nil
}
