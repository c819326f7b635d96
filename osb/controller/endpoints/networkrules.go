package endpoints

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// NetworkRules are the rules for what within the cluster no Service of a
// binding may lead to. The cluster is read again from time to time, because its
// Service CIDRs, and the addresses of its API server, may change.
type NetworkRules struct {
	Live  client.Reader
	Clock clock.PassiveClock
	// Given are the rules from flags.
	Given  expose.Rules
	Reread time.Duration
	// Whole says that the controller handles the whole cluster, and so has
	// permission to read all this.
	Whole bool
	// APIServerOnly reads only the addresses of the API server, each object by
	// its name. Connections to brokers need no more if no Services are written.
	APIServerOnly bool
	// Beyond says whether an error is about an object outside of the
	// controller's namespaces.
	Beyond func(error) bool
	// unread logs once what could not be read.
	unread sync.Once

	mutex sync.Mutex
	rules *expose.Rules
	read  time.Time
}

// Current returns the current rules of the cluster; with an error, those that
// are known without it. What the controller may not read, or this cluster does
// not have, is left out: flags can set it.
func (s *NetworkRules) Current(ctx context.Context) (*expose.Rules, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.rules != nil && s.Clock.Since(s.read) < s.Reread {
		return s.rules, nil
	}
	rules := s.Given
	rules.APIServer, rules.Cluster = slices.Clone(rules.APIServer), slices.Clone(rules.Cluster)
	for _, read := range s.reads() {
		if err := read(ctx, &rules); err != nil && !s.unknowable(err) {
			return &s.Given, fmt.Errorf("cannot find out where the cluster's own addresses are: %w", err)
		} else if s.Whole && apierrors.IsForbidden(err) {
			s.unread.Do(func() {
				log.FromContext(ctx).Info("where the cluster's own addresses are may not be read; "+s.flag()+" must say them", "why", err.Error())
			})
		}
	}
	s.rules, s.read = &rules, s.Clock.Now()
	return s.rules, nil
}

// reads returns the functions that read the cluster.
func (s *NetworkRules) reads() []func(context.Context, *expose.Rules) error {
	if s.APIServerOnly {
		return []func(context.Context, *expose.Rules) error{s.service, s.slice}
	}
	return []func(context.Context, *expose.Rules) error{s.ranges, s.service, s.endpoints}
}

// flag is the flag for addresses that the controller may not read.
func (s *NetworkRules) flag() string {
	if s.APIServerOnly {
		return "--deny-broker-cidrs"
	}
	return "--cluster-cidrs"
}

// unknowable says whether an error is permanent.
func (s *NetworkRules) unknowable(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || s.Beyond(err) ||
		errors.As(err, new(*meta.NoKindMatchError)) || errors.As(err, new(*meta.NoResourceMatchError))
}

// ranges are those of the cluster's Services.
func (s *NetworkRules) ranges(ctx context.Context, rules *expose.Rules) error {
	var list networkingv1.ServiceCIDRList
	if err := s.Live.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		for _, text := range list.Items[i].Spec.CIDRs {
			if prefix, err := netip.ParsePrefix(text); err == nil {
				rules.Cluster = append(rules.Cluster, prefix.Masked())
			}
		}
	}
	return nil
}

// apiServer is the Service of the API server.
var apiServer = client.ObjectKey{Namespace: "default", Name: "kubernetes"}

// service has the addresses of the API server's Service.
func (s *NetworkRules) service(ctx context.Context, rules *expose.Rules) error {
	var service corev1.Service
	if err := s.Live.Get(ctx, apiServer, &service); err != nil {
		return err
	}
	rules.APIServer = append(rules.APIServer, addressesOf(append(service.Spec.ClusterIPs, service.Spec.ClusterIP))...)
	return nil
}

// slice is where the API server itself is, by the EndpointSlice that it writes. One that
// does not write its own is known by its Service alone.
func (s *NetworkRules) slice(ctx context.Context, rules *expose.Rules) error {
	var slice discoveryv1.EndpointSlice
	if err := s.Live.Get(ctx, apiServer, &slice); err != nil {
		return err
	}
	rules.APIServer = append(rules.APIServer, addressesIn(&slice)...)
	return nil
}

// endpoints are where the API server itself is.
func (s *NetworkRules) endpoints(ctx context.Context, rules *expose.Rules) error {
	var list discoveryv1.EndpointSliceList
	if err := s.Live.List(ctx, &list, client.InNamespace(apiServer.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: apiServer.Name}); err != nil {
		return err
	}
	for i := range list.Items {
		rules.APIServer = append(rules.APIServer, addressesIn(&list.Items[i])...)
	}
	return nil
}

// addressesIn are those of an EndpointSlice.
func addressesIn(slice *discoveryv1.EndpointSlice) []netip.Addr {
	var found []netip.Addr
	for i := range slice.Endpoints {
		found = append(found, addressesOf(slice.Endpoints[i].Addresses)...)
	}
	return found
}

// addressesOf are those of texts that are some.
func addressesOf(texts []string) []netip.Addr {
	var found []netip.Addr
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil {
			found = append(found, address.Unmap().WithZone(""))
		}
	}
	return found
}
