package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/cmd/internal/daemon"
	"github.com/defaultplan/defaultplan/cmd/internal/lease"
	"github.com/defaultplan/defaultplan/cmd/internal/tracing"
	"github.com/defaultplan/defaultplan/osb/controller"
)

// endMargin is the time at shutdown, beyond one call, to store the outcome of a
// running call.
const endMargin = 30 * time.Second

// Run works until ctx ends.
func (o *commandOptions) Run(ctx context.Context) error {
	sync, err := daemon.LogTo(o.logLevel)
	if err != nil {
		return err
	}
	defer sync()
	flush, err := o.tracing.Start(ctx, "defaultplan-controller")
	if err != nil {
		return err
	}
	config, err := daemon.ClusterConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	lock, err := lease.New(config, o.leaseNamespace, leaseOf(o.controller.ControllerName))
	if err != nil {
		return err
	}
	mgr, err := newManager(config, o, lock)
	if err != nil {
		return err
	}
	tellPart(ctrl.Log, o.controller)
	o.controller.Wrap = tracing.ToBroker
	if err := controller.Setup(ctx, mgr, o.controller); err != nil {
		return err
	}
	if err := lease.Finish(ctx, mgr.Start(ctx), lock, o.leaderElection, flush); err != nil {
		return fmt.Errorf("cannot work: %w", err)
	}
	return nil
}

// leaseOf is the Lease of the controllers with a name: each name has its own
// election.
func leaseOf(controllerName string) string {
	const name = "defaultplan-controller"
	if controllerName == "" {
		return name
	}
	return name + "-" + controllerName
}

func newManager(config *rest.Config, o *commandOptions, lock resourcelock.Interface) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := controller.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("cannot register the API: %w", err)
	}
	served, err := o.metrics.Server()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme:                 scheme,
		Metrics:                served,
		HealthProbeBindAddress: o.healthAddress,
		LeaderElection:         o.leaderElection, LeaderElectionID: leaseOf(o.controller.ControllerName), LeaderElectionResourceLockInterface: lock,
		GracefulShutdownTimeout: new(o.controller.CallTimeout + endMargin),
		Cache: cache.Options{
			DefaultTransform: controller.Slim, DefaultNamespaces: o.controller.CacheNamespaces(), ByObject: o.controller.CacheObjects(), NewInformer: daemon.NewInformer,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot set up: %w", err)
	}
	return mgr, daemon.AddChecks(mgr)
}
