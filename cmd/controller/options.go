package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"

	"github.com/defaultplan/defaultplan/cmd/internal/daemon"
	"github.com/defaultplan/defaultplan/cmd/internal/metrics"
	"github.com/defaultplan/defaultplan/cmd/internal/tracing"
	"github.com/defaultplan/defaultplan/osb/controller/options"
)

// commandOptions are the flags of the command.
type commandOptions struct {
	kubeconfig     string
	healthAddress  string
	metrics        metrics.Options
	leaderElection bool
	leaseNamespace string
	logLevel       zapcore.Level
	tracing        tracing.Options
	controller     *options.Options
}

func newOptions() *commandOptions {
	return &commandOptions{
		healthAddress: ":8081", metrics: metrics.NewOptions(), leaderElection: true, leaseNamespace: "defaultplan-system",
		controller: options.New(),
	}
}

// Bind adds the options to flags.
func (o *commandOptions) Bind(flags *pflag.FlagSet) {
	flags.SortFlags = true
	flags.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "kubeconfig file of the cluster; empty means the cluster that the pod runs in")
	flags.StringVar(&o.healthAddress, "health-address", o.healthAddress, "address of /healthz and /readyz, by HTTP; 0 means none")
	flags.BoolVar(&o.leaderElection, "leader-elect", o.leaderElection, "let one of several controllers work at a time; without it there must never be two")
	flags.StringVar(&o.leaseNamespace, "lease-namespace", o.leaseNamespace, "namespace of the Lease by which the leader is elected")
	flags.TextVar(&daemon.LogLevel{Level: &o.logLevel}, "log-level", daemon.LogLevel{Level: &o.logLevel}, "debug, info, warn or error")
	o.metrics.Bind(flags)
	o.tracing.Bind(flags)
	o.controller.Bind(flags)
}

// Validate says which flag has an invalid value, and why.
func (o *commandOptions) Validate() error {
	errs := []error{o.controller.Validate(), o.tracing.Validate()}
	if o.leaderElection && o.leaseNamespace == "" {
		errs = append(errs, errors.New("--lease-namespace is empty; name the namespace of the Lease, or set --leader-elect=false"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cannot start: %w", err)
	}
	return nil
}
