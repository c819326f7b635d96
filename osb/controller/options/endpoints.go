package options

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// bindEndpoints makes flags of what Services may lead to.
func (o *Options) bindEndpoints(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Endpoints, "endpoints", o.Endpoints,
		"write a Service, with EndpointSlices, for the endpoints of each binding; goes with the rights of the ClusterRole defaultplan-controller-endpoints")
	flags.StringSliceVar(&o.AllowEndpoints, "allow-endpoints", o.AllowEndpoints,
		"addresses, such as 10.96.0.0/12, and names with what is below them, such as db.svc.cluster.local, "+
			"that a binding's Service may lead to although they are within the cluster, loopback, link-local, a cloud's metadata or the API server's")
	flags.StringSliceVar(&o.ClusterCIDRs, "cluster-cidrs", o.ClusterCIDRs,
		"addresses of the cluster's own, such as 10.244.0.0/16, that no binding's Service may lead to: those of pods and nodes, and of Services where the cluster has no ServiceCIDR objects")
	flags.StringVar(&o.ClusterDomain, "cluster-domain", o.ClusterDomain, "name in which all names of the cluster end")
}

// EndpointRules are the rules for Services that the flags give, and says which flag has
// what wrong.
func (o *Options) EndpointRules() (expose.Rules, error) {
	rules := expose.Rules{Domain: o.ClusterDomain}
	var errs []error
	if err := rules.Allow(o.AllowEndpoints); err != nil {
		errs = append(errs, fmt.Errorf("--allow-endpoints: %w", err))
	}
	if err := rules.Within(o.ClusterCIDRs); err != nil {
		errs = append(errs, fmt.Errorf("--cluster-cidrs: %w", err))
	}
	return rules, errors.Join(errs...)
}
