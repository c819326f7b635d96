package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller"
)

// leaseName is the Lease by which the leader is elected.
const leaseName = "defaultplan-controller"

// syncLook is how long a readiness probe waits for caches that have not synced.
const syncLook = 100 * time.Millisecond

// endMargin is the time that what was begun may take at the end, beyond one call.
const endMargin = 10 * time.Second

// run works until ctx ends.
func run(ctx context.Context, o *options) error {
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
	if err := controller.Setup(ctx, mgr, o.controller); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("cannot work: %w", err)
	}
	return nil
}

// newLogger logs JSON to standard error, every line of it.
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
	// The API server's priority and fairness decides who waits, not a limit of five
	// requests a second.
	config.QPS = -1
	return config, nil
}

func newManager(config *rest.Config, o *options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1beta1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("cannot register the API: %w", err)
	}
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress: o.healthAddress,
		LeaderElection:         o.leaderElection, LeaderElectionID: leaseName, LeaderElectionNamespace: o.leaseNamespace,
		// The next leader need not wait: at the end nothing runs any more.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(o.controller.CallTimeout + endMargin),
		Cache:                         cache.Options{DefaultTransform: controller.Slim},
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
