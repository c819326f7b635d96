package controller

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// A guard keeps the URL of a namespaced broker, which its namespace's users choose, from
// leading to where only the controller can reach: to itself, to its machine, to the
// cloud's metadata and to the API server. It judges the address that is dialled, not the
// name, which may resolve to anything.
type guard struct {
	// refused are further addresses, those of the API server.
	refused []netip.Addr
	// allowed are the operator's exceptions.
	allowed []netip.Prefix
}

// metadata are addresses of clouds' metadata services that are neither loopback nor
// link-local.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("192.0.0.192"),
}

// dialTimeout bounds a connection's making.
const dialTimeout = 15 * time.Second

// dial connects, unless the address is refused.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error { return g.check(address) }}
	return dialer.DialContext(ctx, network, address)
}

// check says why an address is refused.
func (g *guard) check(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("cannot judge the broker's address %q: %w", address, err)
	}
	ip := at.Addr().Unmap().WithZone("")
	for _, allowed := range g.allowed {
		if allowed.Contains(ip) {
			return nil
		}
	}
	for _, refused := range g.refused {
		if refused.Unmap() == ip {
			return fmt.Errorf("the broker's address %s is the API server's: a ServiceBroker cannot be there", ip)
		}
	}
	if slices.Contains(metadata, ip) {
		return fmt.Errorf("the broker's address %s is that of a cloud's metadata service: a ServiceBroker cannot be there", ip)
	}
	if ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() || ip.IsInterfaceLocalMulticast() {
		return fmt.Errorf("the broker's address %s is a loopback, link-local or unspecified one: a ServiceBroker cannot be there, unless the operator allows it (--allow-broker-addresses)", ip)
	}
	return nil
}
