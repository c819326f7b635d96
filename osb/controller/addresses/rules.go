package addresses

import (
	"net/netip"
	"slices"
)

// Rules say which addresses are denied.
type Rules struct {
	// AllowAddresses are the operator's exceptions.
	AllowAddresses []netip.Prefix
	// APIServer are the addresses of the API server.
	APIServer []netip.Addr
	// Own are the controller's own.
	Own []netip.Addr
	// Cluster are the ranges of the cluster's own addresses that are refused.
	Cluster []netip.Prefix
}

// metadata are addresses of clouds' metadata services that are neither loopback nor
// link-local, or that an operator may look for here.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("fd00:c1::a9fe:a9fe"), netip.MustParseAddr("fd00:42::42"),
}

// carriers are ranges of IPv6 of which each address stands for one of IPv4, and where in
// it that begins, in bytes.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12},
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

// siteLocal was what link-local is, for a site.
var siteLocal = netip.MustParsePrefix("fec0::/10")

// opaque are ranges whose addresses stand for others by a mapping that depends
// on the network, so the target is unknown.
var opaque = []netip.Prefix{netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32")}

// Refuse says why an address is denied, completing "the address …"; empty: it
// is allowed.
func (r *Rules) Refuse(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if r.Allows(address) {
		return ""
	}
	switch {
	case slices.Contains(metadata, address):
		return "is that of a cloud's metadata service"
	case has(r.APIServer, address):
		return "is the API server's"
	case address.IsLoopback() || isThisNetwork(address):
		return "is a loopback address, or an unspecified one"
	case has(r.Own, address):
		return "is the controller's own"
	case address.IsLinkLocalUnicast() || siteLocal.Contains(address):
		return "is link-local, or site-local"
	case address.IsMulticast() || isBroadcast(address):
		return "is a multicast or broadcast address"
	case slices.ContainsFunc(r.Cluster, func(p netip.Prefix) bool { return p.Contains(address) }):
		return "is within the cluster"
	case isTunnel(address) || slices.ContainsFunc(opaque, func(p netip.Prefix) bool { return p.Contains(address) }):
		return "stands for another address, and it cannot be told for which"
	}
	for _, carrier := range carriers {
		if carrier.prefix.Contains(address) {
			bytes := address.As16()
			inner, _ := netip.AddrFromSlice(bytes[carrier.at : carrier.at+4])
			return r.Refuse(inner)
		}
	}
	return ""
}

// Allows says that an address is one of the operator's exceptions.
func (r *Rules) Allows(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(r.AllowAddresses, func(p netip.Prefix) bool { return p.Contains(address) })
}

// isThisNetwork says that an address is one of 0.0.0.0/8, or ::, which many machines take
// for themselves.
func isThisNetwork(address netip.Addr) bool {
	return address.IsUnspecified() || address.Is4() && address.As4()[0] == 0
}

// isTunnel says that an address is one of ISATAP, of whatever network: its second half
// stands for an address of IPv4 there.
func isTunnel(address netip.Addr) bool {
	half := address.As16()
	return address.Is6() && half[8]&^2 == 0 && half[9] == 0 && half[10] == 0x5e && half[11] == 0xfe
}

func isBroadcast(address netip.Addr) bool { return address.Is4() && address.As4()[0] >= 240 }

func has(addresses []netip.Addr, address netip.Addr) bool {
	return slices.ContainsFunc(addresses, func(a netip.Addr) bool { return a.Unmap().WithZone("") == address })
}

// ParsePrefix reads a range of addresses, or one. A range of addresses of IPv4 within IPv6
// is the one of IPv4 that it means, as with addresses.
func ParsePrefix(text string) (netip.Prefix, bool) {
	if address, err := netip.ParseAddr(text); err == nil {
		address = address.Unmap().WithZone("")
		return netip.PrefixFrom(address, address.BitLen()), true
	}
	prefix, err := netip.ParsePrefix(text)
	if address := prefix.Addr(); err == nil && address.Is4In6() {
		const mapped = 96
		prefix, err = address.Unmap().Prefix(prefix.Bits() - mapped)
	}
	return prefix.Masked(), err == nil
}
