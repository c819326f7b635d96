package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/defaultplan/defaultplan/certs"
)

// Who makes the serving certificate.
const (
	certsManaged = "managed"
	certsFiles   = "files"
)

// bootstrapTime bounds how long the first certificate is waited for: less than the two
// minutes that the startup probe gives.
const bootstrapTime = time.Minute

// certOptions are the flags of the serving certificate, and of who is answered.
type certOptions struct {
	mode           string
	dir            string
	secret         string
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
		mode: certsManaged, dir: "/run/defaultplan/serving", secret: "defaultplan-webhook-certs",
		service: "defaultplan-webhook", configurations: "defaultplan-webhook", policy: certs.DefaultPolicy(),
	}
}

// Bind makes flags of the options.
func (o *certOptions) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.mode, "certs", o.mode, "who makes the serving certificate: "+
		"managed (the webhook, which also puts its authority into the hook configurations), or files (somebody else, who writes it into --cert-dir)")
	flags.StringVar(&o.dir, "cert-dir", o.dir, "folder with the serving certificate tls.crt and its key tls.key; they are read again when they change")
	flags.StringVar(&o.secret, "certs-secret", o.secret, "Secret of managed certificates; it must be there, and may be empty")
	flags.StringVar(&o.service, "certs-service", o.service, "Service that the hooks are reached by, which a managed certificate is for")
	flags.StringSliceVar(&o.hosts, "certs-hosts", o.hosts, "further DNS names and IP addresses that a managed certificate is for")
	flags.StringVar(&o.configurations, "certs-configurations", o.configurations, "name of the mutating and of the validating configuration that are to carry the authority of managed certificates")
	flags.StringVar(&o.alsoTrust, "certs-also-trust", o.alsoTrust, "Secret whose ca.crt the configurations are to carry beside the managed authority: the first step of going over to cert-manager")
	flags.DurationVar(&o.policy.CALifetime, "certs-ca-lifetime", o.policy.CALifetime, "how long a managed authority is valid; it is replaced when a third of that is left")
	flags.DurationVar(&o.policy.LeafLifetime, "certs-leaf-lifetime", o.policy.LeafLifetime, "how long a managed certificate is valid; it is replaced when a third of that is left")
	flags.DurationVar(&o.policy.Settle, "certs-settle", o.policy.Settle, "how long the configurations carry a new authority before a certificate of it is served")
	flags.DurationVar(&o.policy.Overlap, "certs-overlap", o.policy.Overlap, "how long an authority that was replaced, or that somebody else put into the configurations, stays trusted")
	flags.StringVar(&o.clientCAFile, "client-ca-file", o.clientCAFile, "file with authorities in PEM, read again when it changes: "+
		"only clients with a certificate of one of them are answered; empty means all")
	flags.StringSliceVar(&o.clientNames, "client-names", o.clientNames, "common names of the clients that are answered; empty means every one that --client-ca-file lets in")
}

// Validate says which flag has what wrong.
func (o *certOptions) Validate(namespace string) error {
	var errs []error
	if o.dir == "" {
		errs = append(errs, errors.New("--cert-dir is empty; name the folder with tls.crt and tls.key"))
	}
	if len(o.clientNames) > 0 && o.clientCAFile == "" {
		errs = append(errs, errors.New("--client-names is given, and --client-ca-file is empty; name the file with the authorities of these clients"))
	}
	switch o.mode {
	case certsFiles:
	case certsManaged:
		for _, required := range []struct{ flag, value string }{
			{"--namespace", namespace}, {"--certs-secret", o.secret}, {"--certs-service", o.service}, {"--certs-configurations", o.configurations},
		} {
			if required.value == "" {
				errs = append(errs, fmt.Errorf("%s is empty; give it a name, or set --certs=files", required.flag))
			}
		}
		if err := o.policyFor(namespace).Validate(); err != nil {
			errs = append(errs, fmt.Errorf("--certs-ca-lifetime, --certs-leaf-lifetime, --certs-settle or --certs-overlap: %w", err))
		}
	default:
		errs = append(errs, fmt.Errorf("--certs is %q; allowed are managed and files", o.mode))
	}
	return errors.Join(errs...)
}

func (o *certOptions) policyFor(namespace string) certs.Policy {
	policy := o.policy
	policy.Hosts = slices.Concat([]string{o.service + "." + namespace + ".svc"}, o.hosts)
	return policy
}

// serve has a certificate in the serving directory, now and later, where that is for
// this process to see to. It says, in both modes, when the certificates end.
func (o *certOptions) serve(ctx context.Context, mgr manager.Manager, namespace string) error {
	certs.RegisterExpiry(metrics.Registry, o.dir)
	if o.mode == certsFiles {
		return nil
	}
	clientset, err := kubernetes.NewForConfig(mgr.GetConfig())
	if err != nil {
		return fmt.Errorf("cannot reach Secrets: %w", err)
	}
	rotator, err := certs.New(certs.Options{
		Client: clientset, Namespace: namespace, Secret: o.secret, Configurations: o.configurations, AlsoTrust: o.alsoTrust,
		Dir: o.dir, Policy: o.policyFor(namespace),
		Recorder: mgr.GetEventRecorder("defaultplan-certificates"), Registerer: metrics.Registry,
		Log: ctrl.Log.WithName("certificates"), Clock: clock.RealClock{},
	})
	if err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("certificates", rotator.Check); err != nil {
		return fmt.Errorf("cannot add the readiness check: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, bootstrapTime)
	defer cancel()
	if err := rotator.Bootstrap(bounded); err != nil {
		return err
	}
	if err := mgr.Add(rotator); err != nil {
		return fmt.Errorf("cannot add the certificates: %w", err)
	}
	return nil
}

// tls says who is answered.
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
