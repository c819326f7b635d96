package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"

	"github.com/defaultplan/defaultplan/cmd/internal/daemon"
	"github.com/defaultplan/defaultplan/cmd/internal/metrics"
	"github.com/defaultplan/defaultplan/cmd/internal/tracing"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// Which part of the process runs.
const (
	keeperOn   = "on"
	keeperOff  = "off"
	keeperOnly = "only"
)

// commandOptions are the flags of the command.
type commandOptions struct {
	kubeconfig    string
	certs         certOptions
	bindAddress   string
	port          int
	healthAddress string
	metrics       metrics.Options
	keeper        string
	namespace     string
	drain         drain
	logLevel      zapcore.Level
	tracing       tracing.Options
	admission     *options.Options
}

func newOptions() *commandOptions {
	return &commandOptions{
		certs: newCertOptions(), port: 9443, healthAddress: ":8081", metrics: metrics.NewOptions(),
		keeper: keeperOn, namespace: "defaultplan-system", admission: options.New(),
	}
}

// Bind adds the options to flags.
func (o *commandOptions) Bind(flags *pflag.FlagSet) {
	flags.SortFlags = true
	flags.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "kubeconfig file of the cluster; empty means the cluster that the pod runs in")
	flags.StringVar(&o.bindAddress, "bind-address", o.bindAddress, "IP address that the hooks are served on; empty means all")
	flags.IntVar(&o.port, "port", o.port, "port that the hooks are served on, by HTTPS")
	flags.StringVar(&o.healthAddress, "health-address", o.healthAddress, "address of /healthz and /readyz, by HTTP; 0 means none")
	flags.StringVar(&o.keeper, "keeper", o.keeper, "the keeper, which requeues undecided objects and makes managed certificates: off, only (no hooks are served), "+
		"or on, in the process that serves. A keeper that loses its Lease ends its process, to be started again")
	flags.StringVar(&o.namespace, "namespace", o.namespace, "namespace of this installation: of the keeper's Lease, and of the Secrets of certificates")
	flags.StringVar(&o.namespace, "keeper-namespace", o.namespace, "as --namespace")
	// It was added just above, so it exists.
	_ = flags.MarkDeprecated("keeper-namespace", "use --namespace")
	flags.TextVar(&daemon.LogLevel{Level: &o.logLevel}, "log-level", daemon.LogLevel{Level: &o.logLevel}, "debug, info, warn or error")
	o.certs.Bind(flags)
	o.drain.Bind(flags)
	o.metrics.Bind(flags)
	o.tracing.Bind(flags)
	o.admission.Bind(flags)
}

// Validate says which flag has an invalid value, and why.
func (o *commandOptions) Validate() error {
	errs := []error{o.admission.Validate(), o.tracing.Validate(), o.drain.Validate()}
	if o.keeper != keeperOn && o.keeper != keeperOff && o.keeper != keeperOnly {
		errs = append(errs, fmt.Errorf("--keeper is %q; allowed are on, off and only", o.keeper))
	}
	if o.namespace == "" {
		errs = append(errs, errors.New("--namespace is empty; name the namespace of this installation, which has the keeper's Lease"))
	}
	if o.port < 1 || o.port > 65535 {
		errs = append(errs, fmt.Errorf("--port is %d; allowed are 1 to 65535", o.port))
	}
	errs = append(errs, o.certs.Validate(o.namespace, o.keeper))
	return errors.Join(errs...)
}
