package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// Values of -only.
const (
	onlyEtcd      = "etcd"
	onlyAPIServer = "apiserver"
)

// options are the command line.
type options struct {
	dir       string
	port      int
	etcdPort  int
	only      string
	etcdURL   string
	restore   string
	snapshot  string
	audit     bool
	workloads bool
	verbosity int
	timeout   time.Duration
	// extra are flags for kube-apiserver; they come last and win.
	extra []string
}

const usage = `Usage: controlplane -dir DIR [flags] [-- kube-apiserver flags]
       controlplane -snapshot FILE -dir DIR

A Kubernetes control plane in one process. Prints one line when it is ready; ends on SIGTERM or SIGINT.

`

// parse reads and checks the command line. Help goes to out.
func parse(args []string, out io.Writer) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("controlplane", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o.bind(flags)
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(out)
		fmt.Fprint(out, usage)
		flags.PrintDefaults()
	}
	if err != nil {
		return options{}, err
	}
	o.extra = flags.Args()
	return o, o.validate()
}

func (o *options) bind(flags *flag.FlagSet) {
	flags.StringVar(&o.dir, "dir", "", "data folder; all state, certificates, the kubeconfig and the logs are in it")
	flags.IntVar(&o.port, "port", 0, "loopback port of the API server (default: the folder's previous one, or a free one)")
	flags.IntVar(&o.etcdPort, "etcd-port", 0, "loopback port of etcd (default: the folder's previous one, or a free one)")
	flags.StringVar(&o.only, "only", "", `run one part: "etcd", or "apiserver" (with its controllers; needs -etcd-url)`)
	flags.StringVar(&o.etcdURL, "etcd-url", "", "URL of a running etcd, for -only=apiserver and -snapshot")
	flags.StringVar(&o.restore, "restore", "", "snapshot file to start from; the folder must hold no etcd data yet")
	flags.StringVar(&o.snapshot, "snapshot", "", "save a snapshot of the running etcd of -dir or -etcd-url to this file, and exit")
	flags.BoolVar(&o.audit, "audit", false, "log requests for servicecatalog.k8s.io to DIR/audit.log, with audit annotations")
	flags.BoolVar(&o.workloads, "workloads", false, "run the controllers of Deployments, Jobs, Services and disruption budgets too; the pods are for a node")
	flags.IntVar(&o.verbosity, "v", 0, "verbosity of DIR/log")
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "how long to wait until ready")
}

// runsEtcd and runsAPIServer say which parts -only leaves.
func (o *options) runsEtcd() bool      { return o.only != onlyAPIServer }
func (o *options) runsAPIServer() bool { return o.only != onlyEtcd }

// validate refuses flags that contradict each other, so that none is silently without effect.
func (o *options) validate() error {
	if o.only != "" && o.only != onlyEtcd && o.only != onlyAPIServer {
		return fmt.Errorf(`-only %q is not known: give "etcd" or "apiserver", or leave it out to run both`, o.only)
	}
	if err := o.validateURL(); err != nil {
		return err
	}
	for _, rule := range o.rules() {
		if rule.broken {
			return errors.New(rule.message)
		}
	}
	return o.validateExtra()
}

type rule struct {
	broken  bool
	message string
}

func (o *options) rules() []rule {
	saves := o.snapshot != ""
	return []rule{
		{o.dir == "" && !(saves && o.etcdURL != ""), "-dir is required: the data folder"},
		{badPort(o.port), "-port must be 1-65535, or left out for a free one"},
		{badPort(o.etcdPort), "-etcd-port must be 1-65535, or left out for a free one"},
		{o.port != 0 && o.port == o.etcdPort, "-port and -etcd-port must differ"},
		{o.timeout <= 0, "-timeout must be longer than 0s"},
		{o.verbosity < 0, "-v must not be negative"},
		{saves && (o.only != "" || o.restore != "" || o.audit || o.workloads || len(o.extra) > 0), "-snapshot goes only with -dir or -etcd-url"},
		{o.only == onlyAPIServer && o.etcdURL == "", "-only=apiserver needs -etcd-url"},
		{o.etcdURL != "" && o.only != onlyAPIServer && !saves, "-etcd-url goes only with -only=apiserver or -snapshot"},
		{o.only == onlyAPIServer && (o.etcdPort != 0 || o.restore != ""), "-etcd-port and -restore do not go with -only=apiserver: it runs no etcd"},
		{o.only == onlyEtcd && (o.port != 0 || o.audit || o.workloads || len(o.extra) > 0), "-port, -audit, -workloads and kube-apiserver flags do not go with -only=etcd: it runs no API server"},
	}
}

func badPort(port int) bool { return port < 0 || port > 65535 }

func (o *options) validateURL() error {
	if o.etcdURL == "" {
		return nil
	}
	u, err := url.Parse(o.etcdURL)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("-etcd-url %q is not an address of etcd: give one such as http://127.0.0.1:2379", o.etcdURL)
	}
	return nil
}

// validateExtra refuses what the listener, which is opened before kube-apiserver reads its flags, would ignore.
func (o *options) validateExtra() error {
	for _, arg := range o.extra {
		if !strings.HasPrefix(arg, "--") {
			return fmt.Errorf("argument %q is not understood: after -- come kube-apiserver flags such as --max-requests-inflight=10", arg)
		}
		name, _, _ := strings.Cut(arg, "=")
		if name == "--secure-port" || name == "--bind-address" {
			return fmt.Errorf("%s cannot be given: use -port; the address is always the loopback's", name)
		}
	}
	return nil
}
