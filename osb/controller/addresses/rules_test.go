package addresses

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// What is refused, in every form that it has, and the operator's exceptions.
func TestRefuse(t *testing.T) {
	t.Parallel()
	rules := Rules{
		APIServer: []netip.Addr{netip.MustParseAddr("10.96.0.1"), netip.MustParseAddr("::ffff:10.96.0.2")},
		Own:       []netip.Addr{netip.MustParseAddr("10.244.1.7")},
		Cluster:   prefixes("10.50.0.0/16"),
	}
	for name, tc := range map[string]struct {
		reason, address, says string
		allowed               []netip.Prefix
	}{
		"Anywhere":         {reason: "a machine of another company", address: "203.0.113.7"},
		"Private":          {reason: "one of the company", address: "10.1.2.3"},
		"AnywhereSix":      {reason: "likewise", address: "2001:db8::1"},
		"AnywhereInSix":    {reason: "likewise", address: "64:ff9b::cb00:7107"},
		"APIServer":        {reason: "it trusts the controller", address: "10.96.0.1", says: "is the API server's"},
		"APIServerMapped":  {reason: "as it was configured", address: "10.96.0.2", says: "is the API server's"},
		"APIServerInSix":   {reason: "by NAT64", address: "64:ff9b::a60:1", says: "is the API server's"},
		"Own":              {reason: "the controller's pod", address: "10.244.1.7", says: "is the controller's own"},
		"OwnInSix":         {reason: "by 6to4", address: "2002:af4:107::1", says: "is the controller's own"},
		"Cluster":          {reason: "a range that is closed", address: "10.50.3.4", says: "is within the cluster"},
		"ClusterInSix":     {reason: "IPv4 in IPv6", address: "::ffff:10.50.3.4", says: "is within the cluster"},
		"Metadata":         {reason: "the machine's credentials", address: "169.254.169.254", says: "is that of a cloud's metadata service"},
		"MetadataByNAT64":  {reason: "by NAT64", address: "64:ff9b::a9fe:a9fe", says: "is that of a cloud's metadata service"},
		"MetadataBy6to4":   {reason: "by 6to4", address: "2002:a9fe:a9fe::1", says: "is that of a cloud's metadata service"},
		"MetadataOverSix":  {reason: "of its own", address: "fd00:ec2::254", says: "is that of a cloud's metadata service"},
		"Loopback":         {reason: "all of 127/8", address: "127.8.8.8", says: "is a loopback address"},
		"Unspecified":      {reason: "all of 0/8", address: "0.1.2.3", says: "is a loopback address"},
		"LinkLocalInZone":  {reason: "of whatever zone", address: "fe80::1%eth0", says: "is link-local"},
		"Multicast":        {reason: "no machine's", address: "224.0.0.1", says: "is a multicast"},
		"Opaque":           {reason: "it cannot be told", address: "64:ff9b:1::1", says: "stands for another address"},
		"Allowed":          {reason: "the operator's wish", address: "127.0.0.1", allowed: prefixes("127.0.0.0/8")},
		"AllowedInSix":     {reason: "the operator's wish", address: "::ffff:127.0.0.1", allowed: prefixes("127.0.0.0/8")},
		"AllowedServer":    {reason: "the operator's wish", address: "10.96.0.1", allowed: prefixes("10.96.0.1/32")},
		"AllowedIsNoDoor":  {reason: "an exception is one", address: "127.0.0.1", allowed: prefixes("10.0.0.0/8"), says: "is a loopback address"},
		"AllowedInCluster": {reason: "one of a range that is closed", address: "10.50.3.4", allowed: prefixes("10.50.3.4/32")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			under := rules
			under.AllowAddresses = tc.allowed
			got := under.Refuse(netip.MustParseAddr(tc.address))
			if tc.says == "" {
				assert.Empty(t, got, tc.reason)
				return
			}
			assert.Contains(t, got, tc.says, tc.reason)
		})
	}
}

// What is fixed is refused where nothing of the cluster is known.
func TestFixed(t *testing.T) {
	t.Parallel()
	assert.NotEmpty(t, Fixed())
	for _, address := range Fixed() {
		assert.NotEmpty(t, (&Rules{}).Refuse(address), address)
	}
}
