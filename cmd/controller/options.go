package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"

	"github.com/defaultplan/defaultplan/osb/controller"
)

// options are the flags of the command.
type options struct {
	kubeconfig     string
	healthAddress  string
	metricsAddress string
	leaderElection bool
	leaseNamespace string
	logLevel       zapcore.Level
	controller     *controller.Options
}

func newOptions() *options {
	return &options{
		healthAddress: ":8081", metricsAddress: ":8080", leaderElection: true, leaseNamespace: "defaultplan-system",
		controller: controller.NewOptions(),
	}
}

func (o *options) bind(flags *pflag.FlagSet) {
	flags.SortFlags = true
	flags.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "kubeconfig file of the cluster; empty means the cluster that the pod runs in")
	flags.StringVar(&o.healthAddress, "health-address", o.healthAddress, "address of /healthz and /readyz, by HTTP; 0 means none")
	flags.StringVar(&o.metricsAddress, "metrics-address", o.metricsAddress, "address of /metrics, by HTTP; 0 means none")
	flags.BoolVar(&o.leaderElection, "leader-elect", o.leaderElection, "let one of several controllers work at a time; without it there must never be two")
	flags.StringVar(&o.leaseNamespace, "lease-namespace", o.leaseNamespace, "namespace of the Lease by which the leader is elected")
	flags.TextVar(&logLevel{&o.logLevel}, "log-level", logLevel{&o.logLevel}, "debug, info, warn or error")
	o.controller.Bind(flags)
}

func (o *options) validate() error {
	errs := []error{o.controller.Validate()}
	if o.leaderElection && o.leaseNamespace == "" {
		errs = append(errs, errors.New("--lease-namespace is empty; name the namespace of the Lease, or set --leader-elect=false"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cannot start: %w", err)
	}
	return nil
}

// logLevel lets a zap level be a flag.
type logLevel struct{ *zapcore.Level }

// MarshalText gives the level's name.
func (l logLevel) MarshalText() ([]byte, error) {
	if l.Level == nil {
		return []byte(zapcore.InfoLevel.String()), nil
	}
	return l.Level.MarshalText() //nolint:wrapcheck // never fails
}
