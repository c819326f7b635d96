package controller

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/defaultplan/defaultplan/osb/controller/endpoints"
	"github.com/defaultplan/defaultplan/osb/controller/options"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
)

// findClusterID finds the ID that identifies this cluster to brokers. One that
// was sent to brokers before stays.
func findClusterID(ctx context.Context, live client.Reader, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	var info corev1.ConfigMap
	err := live.Get(ctx, client.ObjectKey{Namespace: "default", Name: "cluster-info"}, &info)
	if err == nil && info.Data["id"] != "" {
		return info.Data["id"], nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("cannot read ConfigMap default/cluster-info: %w", err)
	}
	var system corev1.Namespace
	if err := live.Get(ctx, client.ObjectKey{Name: "kube-system"}, &system); err != nil {
		return "", fmt.Errorf("cannot find out the cluster's ID (set --cluster-id): %w", err)
	}
	return string(system.UID), nil
}

// apiServerHosts are the names and addresses of the API server that this
// process uses.
func apiServerHosts(host string) []string {
	names := []string{os.Getenv("KUBERNETES_SERVICE_HOST")}
	if u, err := url.Parse(host); err == nil {
		names = append(names, u.Hostname())
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		names = append(names, name)
	}
	return names
}

// newNetworkRules are the rules of a manager's cluster.
func newNetworkRules(mgr manager.Manager, o *options.Options) (*endpoints.NetworkRules, error) {
	rules, err := o.EndpointRules()
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
