package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/defaultplan/defaultplan/certs"
)

// The issuers of the serving certificate.
const (
	certsManaged = "managed"
	certsFiles   = "files"
)

// certOptions are the flags of the serving certificate, and of client
// certificates.
type certOptions struct {
	mode           string
	dir            string
	secret         string
	caSecret       string
	service        string
	hosts          []string
	configurations string
	alsoTrust      string
	policy         certs.Policy
	clientCAFile   string
	clientNames    []string
}

func newCertOptions() certOptions {
	return certOptions{
		mode: certsManaged, dir: "/run/defaultplan/serving", secret: "defaultplan-webhook-certs", caSecret: "defaultplan-keeper-ca",
		service: "defaultplan-webhook", configurations: "defaultplan-webhook", policy: certs.DefaultPolicy(),
	}
}

// Bind adds the options to flags.
func (o *certOptions) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.mode, "certs", o.mode, "who makes the serving certificate: "+
		"managed (the keeper, which also puts its authority into the hook configurations), or files (cert-manager or you, in --cert-dir)")
	flags.StringVar(&o.dir, "cert-dir", o.dir, "folder with the serving certificate tls.crt and its key tls.key; they are read again when they change")
	flags.StringVar(&o.secret, "certs-secret", o.secret, "Secret of the managed certificate, which the keeper writes and the webhook serves; to the keeper it must be there, and may be empty")
	flags.StringVar(&o.caSecret, "certs-ca-secret", o.caSecret, "Secret of the managed authority and its key, which only the keeper reads; it must be there, and may be empty")
	flags.StringVar(&o.service, "certs-service", o.service, "Service that the hooks are reached by, which a managed certificate is for")
	flags.StringSliceVar(&o.hosts, "certs-hosts", o.hosts, "further DNS names and IP addresses that a managed certificate is for")
	flags.StringVar(&o.configurations, "certs-configurations", o.configurations, "name of the mutating and of the validating configuration that are to carry the authority of managed certificates")
	flags.StringVar(&o.alsoTrust, "certs-also-trust", o.alsoTrust, "Secret whose ca.crt the configurations are to carry beside the managed authority: the first step of going over to cert-manager")
	flags.DurationVar(&o.policy.CALifetime, "certs-ca-lifetime", o.policy.CALifetime, "how long a managed authority is valid; it is replaced when a third of that is left")
	flags.DurationVar(&o.policy.LeafLifetime, "certs-leaf-lifetime", o.policy.LeafLifetime, "how long a managed certificate is valid; it is replaced when a third of that is left")
	flags.DurationVar(&o.policy.Settle, "certs-settle", o.policy.Settle, "how long the configurations carry a new authority before a certificate of it is served")
	flags.DurationVar(&o.policy.Overlap, "certs-overlap", o.policy.Overlap, "how long an authority that was replaced, or that another client put into the configurations, stays trusted")
	flags.StringVar(&o.clientCAFile, "client-ca-file", o.clientCAFile, "file with authorities in PEM, read again when it changes: "+
		"only clients with a certificate of one of them are answered; empty means all")
	flags.StringSliceVar(&o.clientNames, "client-names", o.clientNames, "common names of the clients that are answered; empty means every one that --client-ca-file lets in")
}

// Validate says which flag has an invalid value, and why, of those that apply
// to what runs.
func (o *certOptions) Validate(namespace, keeper string) error {
	var errs []error
	if o.dir == "" && keeper != keeperOnly {
		errs = append(errs, errors.New("--cert-dir is empty; name the folder with tls.crt and tls.key"))
	}
	if len(o.clientNames) > 0 && o.clientCAFile == "" {
		errs = append(errs, errors.New("--client-names is given, and --client-ca-file is empty; name the file with the authorities of these clients"))
	}
	switch o.mode {
	case certsFiles:
	case certsManaged:
		errs = append(errs, o.validateManaged(namespace, keeper))
	default:
		errs = append(errs, fmt.Errorf("--certs is %q; allowed are managed and files", o.mode))
	}
	return errors.Join(errs...)
}

// validateManaged says what is wrong with the flags of managed certificates. Lifetimes and the
// overlap are the keeper's.
func (o *certOptions) validateManaged(namespace, keeper string) error {
	var errs []error
	type required struct{ flag, value string }
	all := []required{{"--namespace", namespace}, {"--certs-secret", o.secret}, {"--certs-configurations", o.configurations}}
	if keeper != keeperOff {
		all = append(all, required{"--certs-ca-secret", o.caSecret}, required{"--certs-service", o.service})
		if o.caSecret != "" && o.caSecret == o.secret {
			errs = append(errs, fmt.Errorf("--certs-ca-secret and --certs-secret are both %q; give the authority's key a Secret of its own", o.secret))
		}
	}
	for _, r := range all {
		if r.value == "" {
			errs = append(errs, fmt.Errorf("%s is empty; give it a name, or set --certs=files", r.flag))
		}
	}
	if keeper == keeperOff {
		if o.policy.Settle < 0 {
			errs = append(errs, fmt.Errorf("--certs-settle is %s; allowed is 0s or more", o.policy.Settle))
		}
		return errors.Join(errs...)
	}
	if err := o.policyFor(namespace).Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--certs-ca-lifetime, --certs-leaf-lifetime, --certs-settle or --certs-overlap: %w", err))
	}
	return errors.Join(errs...)
}

func (o *certOptions) policyFor(namespace string) certs.Policy {
	policy := o.policy
	policy.Hosts = slices.Concat([]string{o.service + "." + namespace + ".svc"}, o.hosts)
	return policy
}

// serve keeps a certificate in the serving directory, if this process is
// responsible for it. In both modes it exports when the certificates expire.
// The returned channel is closed when there is one to serve.
func (o *certOptions) serve(mgr manager.Manager, namespace string) (<-chan struct{}, error) {
	certs.RegisterExpiry(metrics.Registry, o.dir)
	there := make(chan struct{})
	if o.mode == certsFiles {
		close(there)
		return there, nil
	}
	clientset, err := kubernetes.NewForConfig(mgr.GetConfig())
	if err != nil {
		return nil, fmt.Errorf("cannot reach Secrets: %w", err)
	}
	follower := certs.NewFollower(certs.FollowerOptions{
		Client: clientset, Namespace: namespace, Secret: o.secret, Configurations: o.configurations,
		Dir: o.dir, Settle: o.policy.Settle, Served: sync.OnceFunc(func() { close(there) }),
		Log: ctrl.Log.WithName("certificates"), Clock: clock.RealClock{},
	})
	if err := mgr.AddReadyzCheck("certificates", follower.Check); err != nil {
		return nil, fmt.Errorf("cannot add the readiness check: %w", err)
	}
	if err := mgr.Add(follower); err != nil {
		return nil, fmt.Errorf("cannot add the certificates: %w", err)
	}
	return there, nil
}

// keep makes the keeper issue and rotate the certificates, if they are managed.
func (o *certOptions) keep(mgr manager.Manager, namespace string) error {
	if o.mode == certsFiles {
		return nil
	}
	clientset, err := kubernetes.NewForConfig(mgr.GetConfig())
	if err != nil {
		return fmt.Errorf("cannot reach Secrets: %w", err)
	}
	rotator, err := certs.New(certs.Options{
		Client: clientset, Namespace: namespace, CASecret: o.caSecret, Secret: o.secret, Configurations: o.configurations,
		AlsoTrust: o.alsoTrust, Policy: o.policyFor(namespace),
		Recorder: mgr.GetEventRecorder("defaultplan-certificates"), Registerer: metrics.Registry,
		Log: ctrl.Log.WithName("rotation"), Clock: clock.RealClock{},
	})
	if err != nil {
		return err
	}
	// Ready means then that the configurations are prepared for the next issuer. Otherwise a
	// keeper is ready at once.
	if o.alsoTrust != "" {
		if err := mgr.AddReadyzCheck("also-trust", rotator.Check); err != nil {
			return fmt.Errorf("cannot add the readiness check: %w", err)
		}
	}
	if err := mgr.Add(rotator); err != nil {
		return fmt.Errorf("cannot add the rotation: %w", err)
	}
	return nil
}

// tls restricts the clients by their certificates.
func (o *certOptions) tls() ([]func(*tls.Config), error) {
	if o.clientCAFile == "" {
		return nil, nil
	}
	clients, err := certs.NewClients(o.clientCAFile, o.clientNames)
	if err != nil {
		return nil, fmt.Errorf("--client-ca-file: %w", err)
	}
	return []func(*tls.Config){clients.Require}, nil
}
