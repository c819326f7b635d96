package expose

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// FuzzHost: whatever a host is, what becomes of it is lawful, in its one form, and leads
// to none of the places where no Service may lead; and no text makes it panic.
func FuzzHost(f *testing.F) {
	for _, host := range []string{"db.example.com", "10.1.2.3", "::ffff:127.0.0.1", "127.1", "KUBERNETES.default.svc.", "[::1]", "fe80::1%x", "2130706433", "a.0x7f", "64:ff9b::1"} {
		f.Add(host, "80", "tcp")
	}
	f.Fuzz(func(t *testing.T, host, ports, protocol string) {
		target, refusal := Of([]Endpoint{{Host: host, Ports: []string{ports}, Protocol: protocol}}, ours(t))
		if refusal != nil {
			assert.NotEmpty(t, refusal.Reason)
			assert.NotEmpty(t, refusal.Message)
			return
		}
		service := target.Service(metav1.ObjectMeta{})
		require.NotEmpty(t, service.Spec.Ports)
		if !target.HasAddresses() {
			name := service.Spec.ExternalName
			assert.Empty(t, validation.IsDNS1123Subdomain(name), name)
			assert.Nil(t, net.ParseIP(name))
			assert.False(t, name == "localhost" || strings.HasSuffix(name, ".svc") || strings.Contains(name, ".svc.") || !strings.Contains(name, "."), name)
			assert.NotEmpty(t, strings.Trim(name[strings.LastIndex(name, ".")+1:], "0123456789"), name)
			return
		}
		address := netip.MustParseAddr(target.Slices("s", metav1.ObjectMeta{})[0].Endpoints[0].Addresses[0])
		assert.False(t, address.Is4In6() || address.Zone() != "" || address.IsLoopback() || address.IsUnspecified() || address.IsLinkLocalUnicast() || address.IsMulticast(), address)
		assert.NotContains(t, ours(t).APIServer, address)
		again, refusal := Of([]Endpoint{{Host: address.String(), Ports: []string{ports}, Protocol: protocol}}, ours(t))
		require.Nil(t, refusal, "its one form is judged alike")
		assert.Equal(t, target, again)
	})
}
