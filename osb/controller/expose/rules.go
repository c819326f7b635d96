package expose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Rules say where no Service may lead.
type Rules struct {
	// AllowNames and AllowAddresses are the operator's exceptions: a name allows itself
	// and what is below it.
	AllowNames     []string
	AllowAddresses []netip.Prefix
	// APIServer are the addresses of the API server, and APIServerNames its names.
	APIServer      []netip.Addr
	APIServerNames []string
	// Cluster are the ranges of the cluster's own addresses, and Domain is the name that
	// all of its names end in, such as cluster.local.
	Cluster []netip.Prefix
	Domain  string
}

// metadata are addresses of clouds' metadata services that are neither loopback nor
// link-local, or that an operator may look for here.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("192.0.0.192"),
}

// metadataNames are the names of the same.
var metadataNames = []string{
	"metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.azure.internal",
	"metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com",
}

// ownNames are names that mean the machine, or the API server, wherever they are asked
// for.
var ownNames = []string{"localhost", "localdomain", "localhost4", "localhost6", "kubernetes", "kubernetes.default"}

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

// opaque are ranges whose addresses stand for others in ways that differ from network to
// network, so that nobody can tell for which.
var opaque = []netip.Prefix{netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32")}

// refuses says why no Service may lead to a host; empty: one may.
func (r *Rules) refuses(h host) string {
	if h.address.IsValid() {
		return r.refusesAddress(h.address)
	}
	return r.refusesName(h.name)
}

func (r *Rules) refusesAddress(address netip.Addr) string {
	if slices.ContainsFunc(r.AllowAddresses, func(p netip.Prefix) bool { return p.Contains(address) }) {
		return ""
	}
	switch {
	case slices.Contains(metadata, address):
		return "is that of a cloud's metadata service"
	case slices.ContainsFunc(r.APIServer, func(a netip.Addr) bool { return a.Unmap().WithZone("") == address }):
		return "is the API server's"
	case address.IsLoopback() || isThisNetwork(address):
		return "is a loopback address, or an unspecified one"
	case address.IsLinkLocalUnicast() || siteLocal.Contains(address):
		return "is link-local, or site-local"
	case address.IsMulticast() || isBroadcast(address):
		return "is a multicast or broadcast address"
	case slices.ContainsFunc(r.Cluster, func(p netip.Prefix) bool { return p.Contains(address) }):
		return "is within the cluster"
	case isTunnel(address) || slices.ContainsFunc(opaque, func(p netip.Prefix) bool { return p.Contains(address) }):
		return "stands for another address, and nobody can tell for which"
	}
	for _, carrier := range carriers {
		if carrier.prefix.Contains(address) {
			bytes := address.As16()
			inner, _ := netip.AddrFromSlice(bytes[carrier.at : carrier.at+4])
			return r.refusesAddress(inner)
		}
	}
	return ""
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

func (r *Rules) refusesName(name string) string {
	if slices.ContainsFunc(r.AllowNames, func(allowed string) bool { return isBelow(name, allowed) }) {
		return ""
	}
	labels := strings.Split(name, ".")
	below := func(names []string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return isBelow(name, other) })
	}
	switch {
	case below(metadataNames):
		return "is that of a cloud's metadata service"
	case below(r.APIServerNames):
		return "is the API server's"
	case below(ownNames):
		return "means the machine itself, or the API server"
	case len(labels) == 1:
		return "has no dot: what it means depends on who asks"
	case slices.Contains(labels[1:], "svc"), labels[len(labels)-1] == "pod", r.Domain != "" && isBelow(name, r.Domain), isBelow(name, "cluster.local"):
		return "is within the cluster"
	}
	return ""
}

// isBelow says that a name is another, or ends in it. Both are compared as names are:
// whatever their case, and with or without a dot at the end.
func isBelow(name, other string) bool {
	other = strings.ToLower(strings.Trim(other, "."))
	return other != "" && (name == other || strings.HasSuffix(name, "."+other))
}

// Allow reads an operator's exceptions: addresses, such as 10.0.0.0/8, and names.
func (r *Rules) Allow(texts []string) error {
	for _, text := range texts {
		if prefix, ok := prefixOf(text); ok {
			r.AllowAddresses = append(r.AllowAddresses, prefix)
			continue
		}
		name := strings.ToLower(strings.Trim(text, "."))
		if notName(name) != "" {
			return fmt.Errorf("cannot read %q: allowed are addresses such as 10.0.0.0/8, and names such as db.svc.cluster.local", text)
		}
		r.AllowNames = append(r.AllowNames, name)
	}
	return nil
}

// Within reads ranges of the cluster's own addresses.
func (r *Rules) Within(texts []string) error {
	for _, text := range texts {
		prefix, ok := prefixOf(text)
		if !ok {
			return fmt.Errorf("cannot read %q: allowed are addresses such as 10.244.0.0/16", text)
		}
		r.Cluster = append(r.Cluster, prefix)
	}
	return nil
}

// prefixOf reads a range of addresses, or one. A range of addresses of IPv4 within IPv6
// is the one of IPv4 that it means, as with addresses.
func prefixOf(text string) (netip.Prefix, bool) {
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
