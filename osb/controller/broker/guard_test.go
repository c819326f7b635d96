package broker

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/controller/addresses"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

func TestGuardCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, address, says string
	}{
		"Anywhere":      {reason: "a broker", address: "203.0.113.7:443"},
		"AnywhereSix":   {reason: "a broker", address: "[2001:db8::1]:443"},
		"Loopback":      {reason: "the controller itself", address: "127.0.0.1:80", says: "127.0.0.1 is a loopback address"},
		"LinkLocalSix":  {reason: "its link, of whatever zone", address: "[fe80::1%eth0]:80", says: "link-local"},
		"Kubelet":       {reason: "logs and pods of a machine", address: "10.1.2.3:10250", says: "is asked for at port 10250, which is the kubelets'"},
		"KubeletOfOld":  {reason: "the same, to read", address: "[2001:db8::1]:10255", says: "port 10255"},
		"AllowedPort":   {reason: "the operator's wish", address: "10.9.9.9:10250"},
		"Allowed":       {reason: "the operator's wish", address: "10.9.9.9:443"},
		"Nonsense":      {reason: "what is not understood is refused", address: "somewhere", says: "cannot judge"},
		"ClosedCluster": {reason: "the operator's wish", address: "10.244.1.1:80", says: "10.244.1.1 is within the cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := addresses.Rules{
				AllowAddresses: []netip.Prefix{netip.MustParsePrefix("10.9.9.9/32")}, Cluster: []netip.Prefix{netip.MustParsePrefix("10.244.0.0/16")},
			}
			err := check(&rules, test.address)
			if test.says == "" {
				assert.NoError(t, err, test.reason)
				return
			}
			require.ErrorContains(t, err, test.says, test.reason)
		})
	}
}

// looked is a guard that knows that cluster.
func looked(t *testing.T, given addresses.Rules) *Guard {
	t.Helper()
	g := &Guard{Given: given, Around: around}
	require.NoError(t, g.look(t.Context()))
	return g
}

// It is the address that is dialled that counts, not its name.
func TestGuardJudgesWhatANameResolvesTo(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	_, err = looked(t, addresses.Rules{}).dial(t.Context(), "tcp", net.JoinHostPort("localhost", port))
	require.ErrorContains(t, err, "--allow-broker-addresses")
	conn, err := looked(t, addresses.Rules{AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}).dial(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
	require.NoError(t, err)
	assert.NoError(t, conn.Close())
}

// The API server's addresses are those of now, and without them nothing is dialled.
func TestGuardAsksWhereTheAPIServerIs(t *testing.T) {
	t.Parallel()
	at := &expose.Rules{Rules: addresses.Rules{APIServer: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, Own: []netip.Addr{netip.MustParseAddr("192.0.2.6")}}}
	var failure error
	g := &Guard{Around: func(context.Context) (*expose.Rules, error) { return at, failure }}
	_, err := g.dial(t.Context(), "tcp", "127.0.0.1:1")
	require.ErrorIs(t, err, errUnlooked)
	require.NoError(t, g.look(t.Context()))
	_, err = g.dial(t.Context(), "tcp", "192.0.2.5:443")
	require.ErrorContains(t, err, "192.0.2.5 is the API server's")
	_, err = g.dial(t.Context(), "tcp", "192.0.2.6:443")
	require.ErrorContains(t, err, "192.0.2.6 is the controller's own")
	failure = errors.New("away")
	require.ErrorIs(t, g.look(t.Context()), failure)
	_, err = g.dial(t.Context(), "tcp", "192.0.2.5:443")
	require.ErrorContains(t, err, "192.0.2.5 is the API server's", "what was known is")
}
