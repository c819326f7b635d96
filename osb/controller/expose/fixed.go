package expose

import (
	"net/netip"
	"slices"
)

// Fixed are hosts that no Service leads to in any cluster: for every rule that is the same
// in all of them a name or an address, in each form that it has. What else holds the
// controller to these rules is tried with them.
func Fixed() []string {
	inner := []netip.Addr{
		netip.MustParseAddr("0.0.0.1"), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("169.254.1.1"),
		netip.MustParseAddr("224.0.0.1"), netip.MustParseAddr("240.0.0.1"), netip.MustParseAddr("255.255.255.255"),
	}
	inner = append(inner, slices.DeleteFunc(slices.Clone(metadata), netip.Addr.Is6)...)
	hosts := slices.Concat([]string{
		"db", "127.1", "x.0x7f", "db.prod.svc", "db.prod.svc.other.example", "10-1-2-3.prod.pod", "db.cluster.local",
		"::", "::1", "fe80::1", "ff02::1", "ff0e::1", "2001:db8::5efe:808:808", "2001:db8:1:1:200:5efe:808:808",
		siteLocal.Addr().Next().String(),
	}, metadataNames, ownNames)
	for _, name := range slices.Concat(metadataNames, ownNames) {
		hosts = append(hosts, "x."+name)
	}
	for _, prefix := range opaque {
		hosts = append(hosts, prefix.Addr().Next().String())
	}
	for _, address := range slices.Concat(metadata, inner) {
		hosts = append(hosts, address.String())
	}
	for _, carrier := range carriers {
		for _, address := range inner {
			bytes := carrier.prefix.Addr().As16()
			copy(bytes[carrier.at:], address.AsSlice())
			hosts = append(hosts, netip.AddrFrom16(bytes).String())
		}
	}
	return hosts
}
