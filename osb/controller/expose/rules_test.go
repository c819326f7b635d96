package expose

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/controller/addresses"
)

// ours are the rules of a cluster.
func ours(t *testing.T, allowed ...string) *Rules {
	t.Helper()
	rules := &Rules{
		Rules:          addresses.Rules{APIServer: []netip.Addr{netip.MustParseAddr("10.0.0.10"), netip.MustParseAddr("2001:db8:a::1")}},
		APIServerNames: []string{"api.acme.example"}, Domain: "k8s.acme.example",
	}
	require.NoError(t, rules.Within([]string{"10.96.0.0/12", "10.244.0.0/16", "fd00:10:96::/112"}))
	require.NoError(t, rules.Allow(allowed))
	return rules
}

// Where no Service may lead, however it is written; and where it may.
func TestRules(t *testing.T) {
	t.Parallel()
	const refused, unlawful, fine = ReasonRefused, ReasonUnlawful, ""
	cases := map[string]struct {
		reason string
		want   string
		hosts  []string
	}{
		"Names":           {reason: "databases have names", want: fine, hosts: []string{"db.example.com", "DB.Example.COM", "db.example.com.", "a.b", "xn--bcher-kva.example", "svc.example.com", "mysvc.example.com", "pod.example.com", "a.pod.example.com", "db.mypod", "notlocalhost.example", "mycluster.locality", "0x7f.1.example.com", "1.2.3.4.example"}},
		"Addresses":       {reason: "or addresses, private ones too", want: fine, hosts: []string{"10.1.2.3", "192.168.0.1", "203.0.113.9", "2001:db8::1", "[2001:db8::1]", "fd12::1", "::ffff:10.1.2.3", "64:ff9b::808:808", "2002:808:808::1", "100.64.0.1", "2001:db8:5efe::1", "2001:db8::5efe:808"}},
		"Loopback":        {reason: "the client's own machine", want: refused, hosts: []string{"127.0.0.1", "127.255.0.1", "::1", "[::1]", "::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:7f00:0001"}},
		"Unspecified":     {reason: "the same on many systems", want: refused, hosts: []string{"0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"}},
		"LinkLocal":       {reason: "neighbours of the machine", want: refused, hosts: []string{"169.254.1.1", "fe80::1", "::ffff:169.254.1.1", "fec0::1", "feff::1"}},
		"Multicast":       {reason: "no host's address", want: refused, hosts: []string{"224.0.0.1", "239.1.1.1", "255.255.255.255", "240.0.0.1", "ff02::1"}},
		"Metadata":        {reason: "the machine's credentials", want: refused, hosts: []string{"169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "FD00:EC2:0::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "metadata.google.internal", "METADATA.google.internal.", "x.metadata.goog", "instance-data.ec2.internal"}},
		"WithinAnother":   {reason: "an address of IPv6 that stands for one of IPv4", want: refused, hosts: []string{"::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a9fe:a9fe::1", "::ffff:0:127.0.0.1", "64:ff9b::a60:1"}},
		"Opaque":          {reason: "what they stand for is unknown", want: refused, hosts: []string{"64:ff9b:1::7f00:1", "2001:0:7f00:1::1", "2001:db8::5efe:7f00:1", "2001:db8::200:5efe:7f00:1", "::5efe:808:808"}},
		"APIServer":       {reason: "its addresses and names", want: refused, hosts: []string{"10.0.0.10", "::ffff:10.0.0.10", "2001:db8:a::1", "api.acme.example", "API.acme.example.", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "kubernetes.default.svc.cluster.local."}},
		"ClusterAddress":  {reason: "Services and pods", want: refused, hosts: []string{"10.96.0.1", "10.100.1.1", "10.244.3.4", "fd00:10:96::1", "::ffff:10.96.0.1", "::10.96.0.1"}},
		"ClusterName":     {reason: "by any name", want: refused, hosts: []string{"db.prod.svc", "db.prod.svc.cluster.local", "DB.PROD.SVC", "db.prod.svc.", "db.prod.svc.other.domain", "10-1-2-3.prod.pod.cluster.local", "10-1-2-3.prod.pod", "10-1-2-3.prod.POD.", "cluster.local", "x.k8s.acme.example", "k8s.acme.example"}},
		"Machine":         {reason: "names of the machine", want: refused, hosts: []string{"localhost", "LOCALHOST", "localhost.", "x.localhost", "localhost.localdomain", "localhost6"}},
		"NoDot":           {reason: "what it means depends on who asks", want: refused, hosts: []string{"db", "prod"}},
		"NumbersAsNames":  {reason: "some programs read them as addresses", want: unlawful, hosts: []string{"2130706433", "0x7f000001", "017700000001", "127.1", "0x7f.1", "0x7f.0x1", "127.0.0.01", "0177.0.0.1", "1.2.3.4.5", "127.0.0.1.", "256.256.256.256", "a.0x", "example.com.1", "0X7F.1"}},
		"Zones":           {reason: "an interface of one machine", want: unlawful, hosts: []string{"fe80::1%eth0", "2001:db8::1%1"}},
		"Nothing":         {reason: "no host", want: unlawful, hosts: []string{"", ".", "..", " ", "db..example.com", "db.example.com..", ".example.com"}},
		"OtherLetters":    {reason: "what looks like a name", want: unlawful, hosts: []string{"ｌocalhost.example", "127。0。0。1", "\u212aubernetes.default", "bücher.example", "loca\u00adlhost.example", "a_b.example.com", "db.example.com:5432", "https://db.example.com", "db.example.com/x", "a b.example", "-a.example", "a-.example", "db\x00.example.com", "127.0.0.1/32", "[127.0.0.1", "user@db.example.com"}},
		"TooLong":         {reason: "no name is so long", want: unlawful, hosts: []string{string(make([]byte, 300)), "a." + string([]byte{63: 'a'})}},
		"BracketedNoIPv6": {reason: "it is the address that is in the brackets", want: refused, hosts: []string{"[127.0.0.1]", "[::ffff:169.254.169.254]"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, host := range tc.hosts {
				_, refusal := Of([]Endpoint{{Host: host, Ports: []string{"5432"}}}, ours(t))
				got := ""
				if refusal != nil {
					got = refusal.Reason
				}
				assert.Equal(t, tc.want, got, "%s: %q", tc.reason, host)
			}
		})
	}
}

// What is fixed is refused where nothing of the cluster is known.
func TestFixed(t *testing.T) {
	t.Parallel()
	for _, host := range Fixed() {
		_, refusal := Of([]Endpoint{{Host: host, Ports: []string{"5432"}}}, &Rules{})
		require.NotNil(t, refusal, host)
		assert.Contains(t, []string{ReasonRefused, ReasonUnlawful}, refusal.Reason, host)
	}
}

// What the operator allows, and no more.
func TestAllow(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		allowed []string
		host    string
		fine    bool
	}{
		"Range":         {reason: "of addresses", allowed: []string{"10.96.0.0/16"}, host: "10.96.3.4", fine: true},
		"BesideRange":   {reason: "not the others", allowed: []string{"10.96.0.0/16"}, host: "10.97.0.1"},
		"One":           {reason: "an address alone", allowed: []string{"127.0.0.1"}, host: "127.0.0.1", fine: true},
		"OneInAnother":  {reason: "in its other form it is the same", allowed: []string{"127.0.0.1"}, host: "::ffff:127.0.0.1", fine: true},
		"MappedRange":   {reason: "a range in its other form is the same", allowed: []string{"::ffff:10.96.0.0/112"}, host: "10.96.3.4", fine: true},
		"CarrierNot":    {reason: "what stands for it is another way there, and the same target", allowed: []string{"127.0.0.1/32"}, host: "64:ff9b::7f00:1", fine: true},
		"Name":          {reason: "itself", allowed: []string{"db.prod.svc.cluster.local"}, host: "db.prod.svc.cluster.local.", fine: true},
		"Below":         {reason: "and what is below it, with or without a dot", allowed: []string{".prod.SVC."}, host: "db.prod.svc", fine: true},
		"NotBeside":     {reason: "not what only ends alike", allowed: []string{"prod.svc"}, host: "db.otherprod.svc"},
		"NotOther":      {reason: "not the rest of the cluster", allowed: []string{"prod.svc"}, host: "kubernetes.default.svc"},
		"NameNoAddress": {reason: "a name allows no address", allowed: []string{"svc"}, host: "10.96.0.1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, refusal := Of([]Endpoint{{Host: tc.host, Ports: []string{"1"}}}, ours(t, tc.allowed...))
			assert.Equal(t, tc.fine, refusal == nil, "%s: %v", tc.reason, refusal)
		})
	}
	for _, wrong := range []string{"", "10.0.0.0/33", "*.svc", "a b", "1.2.3"} {
		require.Error(t, (&Rules{}).Allow([]string{wrong}), wrong)
		require.Error(t, (&Rules{}).Within([]string{wrong}), wrong)
	}
	require.Error(t, (&Rules{}).Within([]string{"svc"}), "a name is no range")
	require.Error(t, (&Rules{}).Within([]string{"::ffff:0:0/90"}), "it is more than all of IPv4, and not of IPv6 either")
	var rules Rules
	require.NoError(t, rules.Within([]string{"::ffff:10.244.0.0/112"}))
	assert.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.244.0.0/16")}, rules.Cluster)
}
