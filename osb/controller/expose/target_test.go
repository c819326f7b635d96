package expose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// written is a target in words: the kind of Service and its ports, and each slice.
func written(target *Target) string {
	service := target.Service(metav1.ObjectMeta{Name: "db"})
	words := []string{string(service.Spec.Type) + ":" + service.Spec.ExternalName}
	for _, family := range service.Spec.IPFamilies {
		words = append(words, string(family))
	}
	for _, p := range service.Spec.Ports {
		words = append(words, fmt.Sprintf("%s=%s/%d>%s", p.Name, p.Protocol, p.Port, p.TargetPort.String()))
	}
	for _, slice := range target.Slices("db", metav1.ObjectMeta{}) {
		words = append(words, "|", string(slice.AddressType))
		for _, e := range slice.Endpoints {
			words = append(words, e.Addresses...)
		}
		for _, p := range slice.Ports {
			words = append(words, *p.Name)
		}
	}
	return strings.Join(words, " ")
}

func TestTarget(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		endpoints []Endpoint
		want      string
		refused   string
	}{
		"Name":       {reason: "an alias, with its ports", endpoints: []Endpoint{{Host: "db.example.com", Ports: []string{"5432"}}}, want: "ExternalName:db.example.com tcp-5432=TCP/5432>5432"},
		"SameName":   {reason: "however it is written it is one", endpoints: []Endpoint{{Host: "DB.example.com.", Ports: []string{"2"}}, {Host: "db.example.com", Ports: []string{"1", "2"}, Protocol: "udp"}}, want: "ExternalName:db.example.com udp-1=UDP/1>1 tcp-2=TCP/2>2 udp-2=UDP/2>2"},
		"Ranges":     {reason: "each port is one", endpoints: []Endpoint{{Host: "db.example.com", Ports: []string{"9000-9002", "9001"}}}, want: "ExternalName:db.example.com tcp-9000=TCP/9000>9000 tcp-9001=TCP/9001>9001 tcp-9002=TCP/9002>9002"},
		"All":        {reason: "is both", endpoints: []Endpoint{{Host: "db.example.com", Ports: []string{"53"}, Protocol: "ALL"}}, want: "ExternalName:db.example.com tcp-53=TCP/53>53 udp-53=UDP/53>53"},
		"Address":    {reason: "no selector, and a slice", endpoints: []Endpoint{{Host: "10.1.2.3", Ports: []string{"5432"}}}, want: "ClusterIP: IPv4 tcp-5432=TCP/5432>5432 | IPv4 10.1.2.3 tcp-5432"},
		"Mapped":     {reason: "an address of IPv4 in the form of IPv6 is one of IPv4", endpoints: []Endpoint{{Host: "::ffff:10.1.2.3", Ports: []string{"1"}}, {Host: "10.1.2.3", Ports: []string{"1"}}}, want: "ClusterIP: IPv4 tcp-1=TCP/1>1 | IPv4 10.1.2.3 tcp-1"},
		"OneSlice":   {reason: "addresses with the same ports", endpoints: []Endpoint{{Host: "10.1.2.4", Ports: []string{"2", "1"}}, {Host: "10.1.2.3", Ports: []string{"1-2"}}}, want: "ClusterIP: IPv4 tcp-1=TCP/1>1 tcp-2=TCP/2>2 | IPv4 10.1.2.3 10.1.2.4 tcp-1 tcp-2"},
		"OtherPorts": {reason: "are in a slice of their own", endpoints: []Endpoint{{Host: "10.1.2.4", Ports: []string{"2"}}, {Host: "10.1.2.3", Ports: []string{"1"}}}, want: "ClusterIP: IPv4 tcp-1=TCP/1>1 tcp-2=TCP/2>2 | IPv4 10.1.2.3 tcp-1 | IPv4 10.1.2.4 tcp-2"},
		"BothFamilies": {
			reason: "a slice each; the Service has what families the cluster has", endpoints: []Endpoint{{Host: "10.1.2.3", Ports: []string{"1"}}, {Host: "2001:db8::1", Ports: []string{"1"}}},
			want: "ClusterIP: tcp-1=TCP/1>1 | IPv4 10.1.2.3 tcp-1 | IPv6 2001:db8::1 tcp-1",
		},
		"OnlyIPv6":      {reason: "a Service of that family", endpoints: []Endpoint{{Host: "2001:DB8:0::1", Ports: []string{"1"}}}, want: "ClusterIP: IPv6 tcp-1=TCP/1>1 | IPv6 2001:db8::1 tcp-1"},
		"Hundred":       {reason: "is the most", endpoints: []Endpoint{{Host: "db.example.com", Ports: []string{"1-50"}, Protocol: "all"}}, want: "ExternalName:db.example.com" + many(50)},
		"TwoNames":      {reason: "an alias is of one", endpoints: []Endpoint{{Host: "a.example.com", Ports: []string{"1"}}, {Host: "b.example.com", Ports: []string{"1"}}}, refused: ReasonMixed},
		"NameAndNumber": {reason: "a Service is either", endpoints: []Endpoint{{Host: "a.example.com", Ports: []string{"1"}}, {Host: "10.1.2.3", Ports: []string{"1"}}}, refused: ReasonMixed},
		"TooManyPorts":  {reason: "of one endpoint", endpoints: []Endpoint{{Host: "a.example.com", Ports: []string{"1-101"}}}, refused: ReasonTooMany},
		"WholeRange":    {reason: "and is not expanded first", endpoints: []Endpoint{{Host: "a.example.com", Ports: []string{"1-65535", "1-65535"}}}, refused: ReasonTooMany},
		"ManyOfOne":     {reason: "of one host", endpoints: []Endpoint{{Host: "a.example.com", Ports: []string{"1-60"}}, {Host: "a.example.com", Ports: []string{"61-120"}}}, refused: ReasonTooMany},
		"ManyOfAll":     {reason: "of all", endpoints: []Endpoint{{Host: "10.1.2.3", Ports: []string{"1-60"}}, {Host: "10.1.2.4", Ports: []string{"61-120"}}}, refused: ReasonTooMany},
		"UnlawfulFirst": {reason: "what is refused by a rule is lawful: it is stored", endpoints: []Endpoint{{Host: "127.0.0.1", Ports: []string{"80"}}, {Host: "a b", Ports: []string{"80"}}}, refused: ReasonUnlawful},
		"ManyHosts":     {reason: "more addresses than a Service is made for", endpoints: hosts(101), refused: ReasonTooMany},
		"NoPorts":       {reason: "nothing to lead to", endpoints: []Endpoint{{Host: "a.example.com"}}, refused: ReasonUnlawful},
		"OtherProtocol": {reason: "none that is known", endpoints: []Endpoint{{Host: "a.example.com", Ports: []string{"1"}, Protocol: "sctp"}}, refused: ReasonUnlawful},
		"OneRefused":    {reason: "one that may not be is enough", endpoints: append(hosts(3), Endpoint{Host: "169.254.169.254", Ports: []string{"80"}}), refused: ReasonRefused},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, refusal := Of(tc.endpoints, ours(t))
			if tc.refused != "" {
				require.NotNil(t, refusal, tc.reason)
				assert.Equal(t, tc.refused, refusal.Reason, tc.reason)
				return
			}
			require.Nil(t, refusal, tc.reason)
			assert.Equal(t, tc.want, written(target), tc.reason)
		})
	}
}

// many are the ports 1 to n of both protocols, in words.
func many(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, " tcp-%d=TCP/%d>%d udp-%d=UDP/%d>%d", i, i, i, i, i, i)
	}
	return b.String()
}

// hosts are n addresses of one port.
func hosts(n int) []Endpoint {
	list := make([]Endpoint, n)
	for i := range list {
		list[i] = Endpoint{Host: fmt.Sprintf("10.2.%d.%d", i/250, i%250+1), Ports: []string{"80"}}
	}
	return list
}

func TestPorts(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "0", "65536", "-1", "1-", "-", "2-1", "1-2-3", "http", "0x50", "1e3", " 80", "80 ", "+80", "8_0", "١"} {
		_, refusal := Of([]Endpoint{{Host: "db.example.com", Ports: []string{wrong}}}, ours(t))
		require.NotNil(t, refusal, wrong)
		assert.Equal(t, ReasonUnlawful, refusal.Reason, wrong)
	}
	for _, right := range []string{"1", "65535", "00080", "80-80", "65535-65535"} {
		_, refusal := Of([]Endpoint{{Host: "db.example.com", Ports: []string{right}}}, ours(t))
		assert.Nil(t, refusal, right)
	}
}

// A slice keeps its name as long as its family and ports are the same, so that other
// addresses change it, and it is not recreated.
func TestSliceNames(t *testing.T) {
	t.Parallel()
	name := func(host string, ports ...string) string {
		target, refusal := Of([]Endpoint{{Host: host, Ports: ports}}, ours(t))
		require.Nil(t, refusal)
		slices := target.Slices("db", metav1.ObjectMeta{Namespace: "n", Labels: map[string]string{"a": "b"}})
		require.Len(t, slices, 1)
		assert.Equal(t, "n", slices[0].Namespace)
		assert.Equal(t, map[string]string{"a": "b"}, slices[0].Labels)
		return slices[0].Name
	}
	assert.Equal(t, name("10.1.2.3", "1", "2"), name("10.1.2.4", "2", "1"))
	assert.NotEqual(t, name("10.1.2.3", "1"), name("10.1.2.3", "2"))
	assert.NotEqual(t, name("10.1.2.3", "1"), name("2001:db8::1", "1"))
}

// No message tells the value of a credential.
func TestQuiet(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"hunter2", "hunter2.svc", "hunter 2", "hunter2.example.com"} {
		for _, ports := range [][]string{nil, {"hunter2"}, {"1-1000"}} {
			e := Endpoint{Host: host, Ports: ports, Quiet: `the value of the key "host"`}
			_, refusal := Of([]Endpoint{e}, ours(t))
			require.NotNil(t, refusal)
			assert.NotContains(t, refusal.Message, "hunter")
		}
	}
	_, refusal := Of([]Endpoint{{Host: strings.Repeat("x", 10000), Ports: []string{"1"}}}, ours(t))
	assert.Less(t, len(refusal.Message), 300, "what a broker says is cut")
}

func TestTargetString(t *testing.T) {
	t.Parallel()
	for want, endpoints := range map[string][]Endpoint{
		"db.example.com": {{Host: "db.example.com", Ports: []string{"1"}}}, "10.2.0.1": hosts(1), "3 addresses": hosts(3),
	} {
		target, refusal := Of(endpoints, ours(t))
		require.Nil(t, refusal)
		assert.Equal(t, want, target.String())
		assert.Equal(t, want != "db.example.com", target.HasAddresses())
		assert.Equal(t, want != "db.example.com", endpoints[0].IsAddress())
		assert.Equal(t, want == "db.example.com", target.Service(metav1.ObjectMeta{}).Spec.Type == corev1.ServiceTypeExternalName)
	}
	assert.False(t, (&Endpoint{Host: "1.2"}).IsAddress())
}
