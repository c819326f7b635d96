package controller

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
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

// endpointRules are the rules for Services that the flags give, and says which flag has
// what wrong.
func (o *Options) endpointRules() (expose.Rules, error) {
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

// newNetworkRules are the rules of a manager's cluster.
func newNetworkRules(mgr manager.Manager, o *Options) (*endpoints.NetworkRules, error) {
	rules, err := o.endpointRules()
	if err != nil {
		return nil, err
	}
	if rules.Own, err = ownAddresses(); err != nil {
		return nil, err
	}
	for _, name := range apiServerHosts(mgr.GetConfig().Host) {
		if address, err := netip.ParseAddr(name); err == nil {
			rules.APIServer = append(rules.APIServer, address)
		} else if name != "" {
			rules.APIServerNames = append(rules.APIServerNames, name)
		}
	}
	if o.Endpoints && len(rules.Cluster) == 0 {
		mgr.GetLogger().Info("--cluster-cidrs is empty: the Services of bindings may lead to pods and nodes, by address")
	}
	return &endpoints.NetworkRules{
		Live: mgr.GetAPIReader(), Clock: clock.RealClock{}, Given: rules, Reread: o.SecretInterval,
		Whole: len(o.Namespaces) == 0, APIServerOnly: !o.Endpoints, Beyond: scope.IsBeyond,
	}, nil
}

// ownAddresses are those of this machine, or pod.
func ownAddresses() ([]netip.Addr, error) {
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("cannot find out the controller's own addresses: %w", err)
	}
	var own []netip.Addr
	for _, one := range interfaces {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil {
			own = append(own, prefix.Addr())
		}
	}
	return own, nil
}
