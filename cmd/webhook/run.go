package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/internal/daemon"
	"github.com/defaultplan/defaultplan/cmd/internal/heap"
	"github.com/defaultplan/defaultplan/cmd/internal/lease"
	"github.com/defaultplan/defaultplan/webhook"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/keeper"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/server"
)

// Run serves until ctx ends.
func (o *commandOptions) Run(ctx context.Context) error {
	heap.Grow(heapGrowth)
	sync, err := daemon.LogTo(o.logLevel)
	if err != nil {
		return err
	}
	defer sync()
	flush, err := o.tracing.Start(ctx, "defaultplan-webhook")
	if err != nil {
		return err
	}
	config, err := daemon.ClusterConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	hooks, err := newServer(o)
	if err != nil {
		return err
	}
	lock, err := lease.New(config, o.namespace, keeper.DefaultLeaseName)
	if err != nil {
		return err
	}
	mgr, err := newManager(config, o, hooks, lock)
	if err != nil {
		return err
	}
	if o.keeper != keeperOnly {
		ctx = o.drain.after(ctx)
	}
	// The keeper reads by the same indexes as admission, even if no hooks are
	// served.
	if err := webhook.Index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if o.keeper != keeperOnly {
		if err := serveHooks(ctx, mgr, o, hooks); err != nil {
			return err
		}
	}
	if o.keeper != keeperOff {
		if err := addKeeper(ctx, mgr, o, lock); err != nil {
			return err
		}
		if err := o.certs.keep(mgr, o.namespace); err != nil {
			return err
		}
	}
	if err := lease.Finish(ctx, mgr.Start(ctx), lock, o.keeper != keeperOff, flush); err != nil {
		return fmt.Errorf("cannot serve: %w", err)
	}
	return nil
}

func newServer(o *commandOptions) (*drainedServer, error) {
	tlsOptions, err := o.certs.tls()
	if err != nil {
		return nil, err
	}
	hooks, err := server.New(server.Options{
		Address: net.JoinHostPort(o.bindAddress, strconv.Itoa(o.port)), CertDir: o.certs.dir, TLS: tlsOptions,
		Bounds: server.DefaultBounds(), Registerer: metrics.Registry, Log: ctrl.Log.WithName("hooks"),
	})
	if err != nil {
		return nil, err
	}
	return &drainedServer{drain: &o.drain, Server: hooks}, nil
}

func newManager(config *rest.Config, o *commandOptions, hooks *drainedServer, lock *resourcelock.LeaseLock) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1beta1.AddToScheme(scheme), corev1.AddToScheme(scheme), authorizationv1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("cannot register the API: %w", err)
	}
	served, err := o.metrics.Server()
	if err != nil {
		return nil, err
	}
	managed := manager.Options{
		Scheme:                 scheme,
		Cache:                  cache.Options{DefaultTransform: catalog.Slim},
		Metrics:                served,
		HealthProbeBindAddress: o.healthAddress,
		WebhookServer:          hooks,
	}
	if o.keeper != keeperOff {
		keeper.Elect(&managed, lock)
	}
	mgr, err := ctrl.NewManager(config, managed)
	if err != nil {
		return nil, fmt.Errorf("cannot set up: %w", err)
	}
	return mgr, daemon.AddChecks(mgr)
}

// serveHooks serves admission, ready once the caches are filled and the port
// answers.
func serveHooks(ctx context.Context, mgr manager.Manager, o *commandOptions, server *drainedServer) (err error) {
	if server.certificate, err = o.certs.serve(mgr, o.namespace); err != nil {
		return err
	}
	if err := watch(ctx, mgr, webhook.Watched()); err != nil {
		return err
	}
	hooks := mgr.GetWebhookServer()
	policies := policies.NewRuleSet()
	followed, err := policies.Follow(ctx, mgr.GetCache())
	if err != nil {
		return fmt.Errorf("cannot follow the policies: %w", err)
	}
	current, err := followCurrent(ctx, mgr, o.namespace)
	if err != nil {
		return err
	}
	webhook.Register(hooks, webhook.Readers{
		Cached: mgr.GetCache(), Live: mgr.GetAPIReader(), Current: current, Policies: policies, Access: mgr.GetClient(),
	}, o.admission)
	if err := mgr.AddReadyzCheck("policies", followsPolicies(followed)); err != nil {
		return fmt.Errorf("cannot add the readiness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("drain", o.drain.ready); err != nil {
		return fmt.Errorf("cannot add the readiness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("hooks", hooks.StartedChecker()); err != nil {
		return fmt.Errorf("cannot add the readiness check: %w", err)
	}
	return nil
}

// followsPolicies is the check that the RuleSet has synced.
func followsPolicies(followed func() bool) func(*http.Request) error {
	return func(*http.Request) error {
		if !followed() {
			return errors.New("the policies have not been read")
		}
		return nil
	}
}

// watch requests caches before the start, so that readiness waits for them.
func watch(ctx context.Context, mgr manager.Manager, kinds []client.Object) error {
	for _, kind := range kinds {
		if _, err := mgr.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("cannot watch %T: %w", kind, err)
		}
	}
	return nil
}

func addKeeper(ctx context.Context, mgr manager.Manager, o *commandOptions, lock *resourcelock.LeaseLock) error {
	if err := keeper.AddIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("cannot index instances: %w", err)
	}
	// A process that waits for the Lease has synced caches, too.
	if err := watch(ctx, mgr, append(webhook.Watched(), &v1beta1.ServiceInstance{})); err != nil {
		return err
	}
	k, err := keeper.New(keeper.Options{
		Lease:          lock,
		Client:         mgr.GetClient(),
		Live:           mgr.GetAPIReader(),
		Recorder:       mgr.GetEventRecorder("defaultplan-keeper"),
		ServiceTypes:   o.admission.Gates.Enabled(options.ServiceTypes),
		SuggestedPlans: o.admission.Gates.Enabled(options.SuggestedPlans),
		QueueMetrics:   true,
		Log:            ctrl.Log.WithName("keeper"),
		Registerer:     metrics.Registry,
	})
	if err != nil {
		return err
	}
	return k.AddTo(mgr)
}
