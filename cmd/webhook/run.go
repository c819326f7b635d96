package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook"
	"github.com/defaultplan/defaultplan/webhook/keeper"
)

// syncLook is how long a readiness probe waits for caches that have not synced.
const syncLook = 100 * time.Millisecond

// leaseTimeout bounds a request for the keeper's Lease, well within the time that
// it has to renew it: one request that hangs must not cost the Lease.
const leaseTimeout = 5 * time.Second

// run serves until ctx ends.
func run(ctx context.Context, o *options) error {
	giveHeapRoom()
	logger, err := newLogger(o.logLevel)
	if err != nil {
		return err
	}
	defer func() { _ = logger.Sync() }()
	ctrl.SetLogger(zapr.NewLogger(logger))

	config, err := clusterConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	mgr, err := newManager(config, o)
	if err != nil {
		return err
	}
	// The keeper looks things up as admission does, also where no hooks are served.
	if err := webhook.Index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if o.keeper != keeperOnly {
		if err := serveHooks(ctx, mgr, o); err != nil {
			return err
		}
	}
	if o.keeper != keeperOff {
		if err := addKeeper(ctx, mgr, o); err != nil {
			return err
		}
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("cannot serve: %w", err)
	}
	return nil
}

// newLogger logs JSON to standard error, every line of it: a decision is told
// once or not at all.
func newLogger(level zapcore.Level) (*zap.Logger, error) {
	config := zap.NewProductionConfig()
	config.Level = zap.NewAtomicLevelAt(level)
	config.Sampling = nil
	config.EncoderConfig.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	logger, err := config.Build()
	if err != nil {
		return nil, fmt.Errorf("cannot make a logger: %w", err)
	}
	return logger, nil
}

func clusterConfig(kubeconfig string) (*rest.Config, error) {
	var config *rest.Config
	var err error
	if kubeconfig == "" {
		config, err = rest.InClusterConfig()
	} else {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find the cluster (--kubeconfig %q): %w", kubeconfig, err)
	}
	// A request waits for our reads: the API server, not we, decides who waits.
	config.QPS = -1
	return config, nil
}

func newManager(config *rest.Config, o *options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1beta1.AddToScheme(scheme), corev1.AddToScheme(scheme), authorizationv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("cannot register the API: %w", err)
	}
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme:                 scheme,
		Cache:                  cache.Options{DefaultTransform: webhook.Slim},
		Metrics:                metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress: o.healthAddress,
		WebhookServer: crwebhook.NewServer(crwebhook.Options{
			Host: o.bindAddress, Port: o.port, CertDir: o.certDir,
			// API servers speak HTTP/1.1 to webhooks; HTTP/2 would only be more to
			// attack.
			TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }},
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("cannot set up: %w", err)
	}
	return mgr, errors.Join(mgr.AddHealthzCheck("ping", alive), mgr.AddReadyzCheck("caches", synced(mgr.GetCache())))
}

func alive(*http.Request) error { return nil }

// synced says whether every cache that was asked for has been filled.
func synced(caches cache.Cache) func(*http.Request) error {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), syncLook)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("the caches have not synced")
		}
		return nil
	}
}

// serveHooks serves admission, ready once the caches are filled and the port
// answers.
func serveHooks(ctx context.Context, mgr manager.Manager, o *options) error {
	if err := watch(ctx, mgr, webhook.Watched()); err != nil {
		return err
	}
	server := mgr.GetWebhookServer()
	policies := webhook.NewRuleSet()
	followed, err := policies.Follow(ctx, mgr.GetCache())
	if err != nil {
		return fmt.Errorf("cannot follow the policies: %w", err)
	}
	webhook.Register(server, webhook.Readers{
		Cached: mgr.GetCache(), Live: mgr.GetAPIReader(), Policies: policies, Access: mgr.GetClient(),
	}, o.admission)
	if err := mgr.AddReadyzCheck("policies", followsPolicies(followed)); err != nil {
		return fmt.Errorf("cannot add the readiness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("hooks", server.StartedChecker()); err != nil {
		return fmt.Errorf("cannot add the readiness check: %w", err)
	}
	return nil
}

// followsPolicies says whether every policy that there is holds.
func followsPolicies(followed func() bool) func(*http.Request) error {
	return func(*http.Request) error {
		if !followed() {
			return errors.New("the policies have not been read")
		}
		return nil
	}
}

// watch asks for caches before the start, so that readiness waits for them.
func watch(ctx context.Context, mgr manager.Manager, kinds []client.Object) error {
	for _, kind := range kinds {
		if _, err := mgr.GetCache().GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("cannot watch %T: %w", kind, err)
		}
	}
	return nil
}

func addKeeper(ctx context.Context, mgr manager.Manager, o *options) error {
	if err := keeper.AddIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("cannot index instances: %w", err)
	}
	leases := rest.CopyConfig(mgr.GetConfig())
	leases.Timeout = leaseTimeout
	clientset, err := kubernetes.NewForConfig(leases)
	if err != nil {
		return fmt.Errorf("cannot reach Leases: %w", err)
	}
	k, err := keeper.New(keeper.Options{
		Client:         mgr.GetClient(),
		Live:           mgr.GetAPIReader(),
		Informers:      mgr.GetCache(),
		Leases:         clientset.CoordinationV1(),
		Recorder:       mgr.GetEventRecorder("defaultplan-keeper"),
		LeaseNamespace: o.keeperNamespace,
		ServiceTypes:   o.admission.Gates.Enabled(webhook.ServiceTypes),
		SuggestedPlans: o.admission.Gates.Enabled(webhook.SuggestedPlans),
		Log:            ctrl.Log.WithName("keeper"),
		Registerer:     metrics.Registry,
	})
	if err != nil {
		return err
	}
	if err := mgr.Add(k); err != nil {
		return fmt.Errorf("cannot add the keeper: %w", err)
	}
	return nil
}
