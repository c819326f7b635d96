package controller

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGuardCheck(t *testing.T) {
	t.Parallel()
	g := &guard{refused: []netip.Addr{netip.MustParseAddr("10.96.0.1"), netip.MustParseAddr("::ffff:10.96.0.2")}}
	for name, test := range map[string]struct {
		reason, address, says string
		allowed               []netip.Prefix
	}{
		"Anywhere":        {reason: "a broker", address: "203.0.113.7:443"},
		"InTheCluster":    {reason: "a service of the cluster", address: "10.96.4.4:80"},
		"AnywhereSix":     {reason: "a broker", address: "[2001:db8::1]:443"},
		"Loopback":        {reason: "the controller itself", address: "127.0.0.1:80", says: "loopback"},
		"LoopbackFarOff":  {reason: "all of 127/8", address: "127.8.8.8:80", says: "loopback"},
		"LoopbackSix":     {reason: "the controller itself", address: "[::1]:80", says: "loopback"},
		"LoopbackInSix":   {reason: "IPv4 in IPv6", address: "[::ffff:127.0.0.1]:80", says: "loopback"},
		"Metadata":        {reason: "the cloud's metadata", address: "169.254.169.254:80", says: "link-local"},
		"MetadataInSix":   {reason: "IPv4 in IPv6", address: "[::ffff:169.254.169.254]:80", says: "link-local"},
		"MetadataOfAWS":   {reason: "over IPv6", address: "[fd00:ec2::254]:80", says: "metadata"},
		"MetadataOfAli":   {reason: "among shared addresses", address: "100.100.100.200:80", says: "metadata"},
		"MetadataOfAzure": {reason: "a public address", address: "168.63.129.16:80", says: "metadata"},
		"LinkLocalSix":    {reason: "its link, of whatever zone", address: "[fe80::1%eth0]:80", says: "link-local"},
		"Unspecified":     {reason: "the machine itself, to Linux", address: "0.0.0.0:80", says: "unspecified"},
		"UnspecifiedSix":  {reason: "the machine itself", address: "[::]:80", says: "unspecified"},
		"Multicast":       {reason: "nobody's address", address: "224.0.0.1:80", says: "cannot be there"},
		"APIServer":       {reason: "who trusts the controller", address: "10.96.0.1:443", says: "API server"},
		"APIServerInSix":  {reason: "IPv4 in IPv6", address: "[::ffff:10.96.0.1]:443", says: "API server"},
		"APIServerMapped": {reason: "as it was configured", address: "10.96.0.2:443", says: "API server"},
		"Nonsense":        {reason: "what is not understood is refused", address: "somewhere", says: "cannot judge"},
		"AllowedLoopback": {reason: "the operator's wish", address: "127.0.0.1:80", allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		"AllowedInSix":    {reason: "the operator's wish", address: "[::ffff:127.0.0.1]:80", allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		"AllowedServer":   {reason: "the operator's wish", address: "10.96.0.1:443", allowed: []netip.Prefix{netip.MustParsePrefix("10.96.0.1/32")}},
		"AllowedOther":    {reason: "an exception is no door for all", address: "127.0.0.1:80", allowed: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, says: "loopback"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := (&guard{refused: g.refused, allowed: test.allowed}).check(test.address)
			if test.says == "" {
				assert.NoError(t, err, test.reason)
				return
			}
			assert.ErrorContains(t, err, test.says, test.reason)
		})
	}
}

// It is the address that is dialled that counts, not its name.
func TestGuardJudgesWhatANameResolvesTo(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	_, err = (&guard{}).dial(t.Context(), "tcp", net.JoinHostPort("localhost", port))
	require.ErrorContains(t, err, "--allow-broker-addresses")
	conn, err := (&guard{allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}).dial(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
	require.NoError(t, err)
	assert.NoError(t, conn.Close())
}

func TestNewGuardRefusesTheAPIServer(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	for name, test := range map[string]struct{ reason, host string }{
		"URL":      {reason: "as in a kubeconfig", host: "https://192.0.2.5:6443"},
		"HostPort": {reason: "as within the cluster", host: "192.0.2.5:6443"},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := newGuard(test.host, NewOptions())
			require.NoError(t, err)
			assert.ErrorContains(t, g.check("192.0.2.5:443"), "API server", test.reason)
			assert.ErrorContains(t, g.check("10.96.0.1:443"), "API server")
			assert.NoError(t, g.check("192.0.2.6:443"))
		})
	}
	o := NewOptions()
	o.AllowBrokerAddresses = []string{"everything"}
	_, err := newGuard("", o)
	assert.ErrorContains(t, err, "everything")
}
