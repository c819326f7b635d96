package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/defaultplan/defaultplan/osb/controller/addresses"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// A Guard prevents the URL of a namespaced broker, which the namespace's users
// choose, from reaching what only the controller can: itself, its machine, the
// cloud's metadata and the API server. It checks the address that is dialled,
// not the name, which may resolve to anything.
type Guard struct {
	// Given are the rules from the flags.
	Given addresses.Rules
	// Around returns the current rules of the cluster, with the addresses of
	// the API server.
	Around func(context.Context) (*expose.Rules, error)
	// known are those that were read last; nil: none yet.
	known atomic.Pointer[expose.Rules]
}

// look reads the rules of the cluster. dial must not do that: the timeout of a
// call is for the broker alone.
func (g *Guard) look(ctx context.Context) error {
	now, err := g.Around(ctx)
	if err == nil {
		g.known.Store(now)
	}
	return err
}

var errUnlooked = errors.New("cannot connect to the broker: where the API server is was not read yet")

// kubeletPorts are those at which kubelets answer, with a machine's pods and logs, in every
// usual cluster.
var kubeletPorts = map[uint16]bool{10250: true, 10255: true}

// dialTimeout bounds the time to connect.
const dialTimeout = 15 * time.Second

// dial connects, unless the address is refused.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	now := g.known.Load()
	if now == nil {
		return nil, errUnlooked
	}
	rules := g.Given
	rules.APIServer, rules.Own = now.APIServer, now.Own
	dialer := net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error { return check(&rules, address) }}
	return dialer.DialContext(ctx, network, address)
}

// check says why an address with its port is denied.
func check(rules *addresses.Rules, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("cannot judge the broker's address %q: %w", address, err)
	}
	why := rules.Refuse(at.Addr())
	if why == "" && kubeletPorts[at.Port()] && !rules.Allows(at.Addr()) {
		why = fmt.Sprintf("is asked for at port %d, which is the kubelets'", at.Port())
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("the broker's address %s %s: a ServiceBroker cannot be there, unless the operator allows it (--allow-broker-addresses)", at.Addr(), why)
}
