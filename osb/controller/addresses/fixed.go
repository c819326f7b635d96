package addresses

import (
	"net/netip"
	"slices"
)

// Fixed are examples of addresses that are denied in every cluster: one for
// each rule that does not depend on the cluster, in each of its notations.
func Fixed() []netip.Addr {
	inner := []netip.Addr{
		netip.MustParseAddr("0.0.0.1"), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("169.254.1.1"),
		netip.MustParseAddr("224.0.0.1"), netip.MustParseAddr("240.0.0.1"), netip.MustParseAddr("255.255.255.255"),
	}
	inner = append(inner, slices.DeleteFunc(slices.Clone(metadata), netip.Addr.Is6)...)
	all := []netip.Addr{
		netip.MustParseAddr("::"), netip.MustParseAddr("::1"), netip.MustParseAddr("fe80::1"), netip.MustParseAddr("ff02::1"), netip.MustParseAddr("ff0e::1"),
		netip.MustParseAddr("2001:db8::5efe:808:808"), netip.MustParseAddr("2001:db8:1:1:200:5efe:808:808"), siteLocal.Addr().Next(),
	}
	for _, prefix := range opaque {
		all = append(all, prefix.Addr().Next())
	}
	all = append(all, slices.Concat(metadata, inner)...)
	for _, carrier := range carriers {
		for _, address := range inner {
			bytes := carrier.prefix.Addr().As16()
			copy(bytes[carrier.at:], address.AsSlice())
			all = append(all, netip.AddrFrom16(bytes))
		}
	}
	return all
}
