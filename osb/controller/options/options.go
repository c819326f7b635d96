package options

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Options are the settings of the controllers.
type Options struct {
	// ClusterID identifies this cluster to brokers; empty: it is detected.
	ClusterID string
	// CallTimeout is the timeout of one call, MaxPolling that of an
	// asynchronous operation.
	CallTimeout, MaxPolling time.Duration
	// MaxRetry is the longest time between two attempts. It is shorter for failures that are not
	// the broker's answer to the request.
	MaxRetry time.Duration
	// RelistInterval is the time between two fetches of a catalog, where the broker's
	// relistDuration does not say otherwise.
	RelistInterval time.Duration
	// SecretInterval is the time after which Secrets are read again.
	SecretInterval time.Duration
	// Workers is how many instances, and as many bindings, are handled at once.
	Workers int
	// Calls are how many calls to brokers run at once.
	Calls CallOptions
	// APIVersion is the version of the OSB API that brokers are told.
	APIVersion string
	// ContextAnnotations are the prefixes of the annotations of namespaces and instances
	// that brokers are told; none by default.
	ContextAnnotations []string
	// AllowBrokerAddresses are the exceptions for ServiceBrokers, as CIDRs.
	AllowBrokerAddresses []string
	// DenyBrokerCIDRs are further addresses that ServiceBrokers may not have, as CIDRs.
	DenyBrokerCIDRs []string
	// Rotation has the settings of credential rotation.
	Rotation RotationOptions
	// ControllerName is the controller's name in the spec of brokers: it
	// handles only those that name it. Empty: those that name none.
	ControllerName string
	// Namespaces are the namespaces that the controller handles; none: all of
	// them, and cluster-scoped objects.
	Namespaces []string
	// IgnoreQuotas lets a controller of some namespaces run without permission
	// to read policies: their limits do not apply to what it provisions.
	IgnoreQuotas bool
	// Endpoints has the controller write the Services of bindings, with their EndpointSlices.
	Endpoints bool
	// AllowEndpoints are the exceptions for the Services of bindings, as CIDRs and names;
	// ClusterCIDRs and ClusterDomain say what is the cluster's own.
	AllowEndpoints, ClusterCIDRs []string
	ClusterDomain                string
	// Wrap wraps the transport of calls to brokers; nil: it is not wrapped. It
	// is no flag.
	Wrap func(http.RoundTripper) http.RoundTripper
}

// New returns the defaults.
func New() *Options {
	return &Options{
		CallTimeout: osb.DefaultTimeout, MaxPolling: 7 * 24 * time.Hour, MaxRetry: time.Hour, RelistInterval: 24 * time.Hour,
		SecretInterval: time.Minute, Workers: 32, Calls: newCallOptions(), APIVersion: osb.DefaultAPIVersion, Rotation: newRotationOptions(), ClusterDomain: "cluster.local",
	}
}

// Bind adds the options to flags.
func (o *Options) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.ClusterID, "cluster-id", o.ClusterID,
		"what brokers know this cluster by; empty: the key id of ConfigMap default/cluster-info, as the retired catalog kept it, or the UID of namespace kube-system")
	flags.DurationVar(&o.CallTimeout, "osb-api-request-timeout", o.CallTimeout, "longest time of one call to a broker, from when it is sent to the whole of its answer")
	flags.DurationVar(&o.MaxPolling, "maximum-polling-duration", o.MaxPolling, "longest time that a broker may work on one operation, where its plan does not say less")
	flags.DurationVar(&o.MaxRetry, "maximum-retry-interval", o.MaxRetry,
		"longest time between two tries of a failed call, where the broker does not ask for more; 5m at most if it did not answer or refused its credentials, or with parametersFrom, unless many fail")
	flags.DurationVar(&o.RelistInterval, "broker-relist-interval", o.RelistInterval, "time between two fetches of a broker's catalog, where relistDuration does not say otherwise")
	flags.DurationVar(&o.SecretInterval, "secret-interval", o.SecretInterval,
		"how often Secrets are read again: of parametersFrom, of brokers, and those with credentials; the Secrets of many objects are read less often, 8 objects a second")
	flags.IntVar(&o.Workers, "workers", o.Workers, "how many instances, and how many bindings, are handled at once")
	o.Calls.bind(flags)
	flags.StringVar(&o.APIVersion, "osb-api-version", o.APIVersion, "version of the Open Service Broker API that brokers are told")
	flags.StringSliceVar(&o.ContextAnnotations, "context-annotations", o.ContextAnnotations,
		"prefixes of the annotations of namespaces and instances that brokers are told, such as acme.com/; none by default")
	o.bindEndpoints(flags)
	o.Rotation.bind(flags)
	flags.StringVar(&o.ControllerName, "controller-name", o.ControllerName,
		"handle the brokers whose spec.controllerName this is, with all that is at them; empty: those without one")
	flags.StringSliceVar(&o.Namespaces, "namespaces", o.Namespaces,
		"look into these namespaces only, and at nothing that is in none; goes with --cluster-id, and needs no right elsewhere but to read policies")
	flags.BoolVar(&o.IgnoreQuotas, "ignore-quotas", o.IgnoreQuotas,
		"with --namespaces: do not read policies; their limits do not hold for what this controller provisions, and what they deny is denied by admission only")
	flags.StringSliceVar(&o.AllowBrokerAddresses, "allow-broker-addresses", o.AllowBrokerAddresses,
		"addresses, such as 10.0.0.0/8, at which a ServiceBroker may be although they are refused, such as loopback, link-local or the API server's")
	flags.StringSliceVar(&o.DenyBrokerCIDRs, "deny-broker-cidrs", o.DenyBrokerCIDRs,
		"further addresses, such as 10.244.0.0/16, at which no ServiceBroker may be: those of pods and Services, where tenants are to reach none by a broker")
}

// Validate says which flag has an invalid value, and why.
func (o *Options) Validate() error {
	var errs []error
	for name, d := range map[string]time.Duration{
		"osb-api-request-timeout": o.CallTimeout, "maximum-polling-duration": o.MaxPolling, "maximum-retry-interval": o.MaxRetry,
		"broker-relist-interval": o.RelistInterval, "secret-interval": o.SecretInterval,
	} {
		if d <= 0 {
			errs = append(errs, fmt.Errorf("--%s is %s; allowed is more than nothing, such as 1m", name, d))
		}
	}
	if o.Workers < 1 {
		errs = append(errs, fmt.Errorf("--workers is %d; allowed is 1 or more", o.Workers))
	}
	_, err := o.BrokerRules()
	_, endpointsErr := o.EndpointRules()
	return errors.Join(append(errs, o.validateScope(), o.Calls.validate(), o.Rotation.validate(), endpointsErr, err)...)
}

// Rotating are the rotation settings for package lifecycle.
func (o *Options) Rotating() lifecycle.Rotating {
	return lifecycle.Rotating{Overlap: o.Rotation.Overlap, Margin: o.Rotation.Margin, Pause: min(o.MaxRetry, lifecycle.MaxOtherRetry)}
}
