package expose

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Limits of a broker's endpoints. One instance does not need a Service with
// more ports.
const (
	maxPorts     = 100
	maxAddresses = 100
)

// Reasons for which endpoints have no Service.
const (
	// ReasonUnlawful: they cannot be read.
	ReasonUnlawful = "EndpointsUnlawful"
	// ReasonMixed: they are several names, or names and addresses.
	ReasonMixed = "EndpointsMixed"
	// ReasonTooMany: they are more than a Service is made of.
	ReasonTooMany = "TooManyEndpoints"
	// ReasonRefused: they are where no Service may lead.
	ReasonRefused = "EndpointsRefused"
)

// The protocols of an endpoint; an empty one is TCP.
const (
	protocolTCP = "tcp"
	protocolUDP = "udp"
	protocolAll = "all"
)

// An Endpoint is where an application reaches a service, as the broker returned
// it.
type Endpoint struct {
	// Host is a name, or an address.
	Host string
	// Ports are single ones or ranges, such as "9000-9010".
	Ports []string
	// Protocol is tcp, udp or all; empty: tcp.
	Protocol string
	// Quiet is the host's name in messages if its text must not be shown,
	// because it is the value of a credential; empty: it may be shown.
	Quiet string
}

// called is the host for messages.
func (e *Endpoint) called() string {
	if e.Quiet != "" {
		return e.Quiet
	}
	return fmt.Sprintf("the host %q", cut(e.Host))
}

// cut bounds what messages quote of a broker.
func cut(text string) string {
	const most = 80
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// A Refusal is why there is no Service. Its text holds no value of a quiet endpoint.
type Refusal struct {
	// Reason and Message are for the condition Endpoints.
	Reason, Message string
}

func refuse(reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// A port is one of a service.
type port struct {
	protocol string
	number   int
}

// ports are those of an endpoint, expanded, up to one more than the limit.
func (e *Endpoint) ports() ([]port, *Refusal) {
	protocols, ok := map[string][]string{
		"": {protocolTCP}, protocolTCP: {protocolTCP}, protocolUDP: {protocolUDP}, protocolAll: {protocolTCP, protocolUDP},
	}[strings.ToLower(e.Protocol)]
	if !ok {
		return nil, refuse(ReasonUnlawful, "%s has a protocol that is none of tcp, udp and all", e.called())
	}
	if len(e.Ports) == 0 {
		return nil, refuse(ReasonUnlawful, "%s has no ports", e.called())
	}
	var found []port
	for _, text := range e.Ports {
		first, last, ok := rangeOf(text)
		if !ok {
			return nil, refuse(ReasonUnlawful, "%s has a port that is neither one from 1 to 65535 nor a range of such", e.called())
		}
		if last-first >= maxPorts || len(found) > maxPorts {
			return nil, tooManyPorts()
		}
		for number := first; number <= last; number++ {
			for _, protocol := range protocols {
				found = append(found, port{protocol, number})
			}
		}
	}
	return found, nil
}

func tooManyPorts() *Refusal {
	return refuse(ReasonTooMany, "there are more than %d ports, which is the most for a Service", maxPorts)
}

// rangeOf reads "9000" and "9000-9010".
func rangeOf(text string) (first, last int, ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, fine := number(from)
	last, fineToo := number(to)
	return first, last, fine && fineToo && first <= last
}

func number(text string) (int, bool) {
	const longest, highest = 5, 65535
	if text == "" || len(text) > longest || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= highest
}

// A host is a name or an address in canonical form.
type host struct {
	name    string
	address netip.Addr
}

// read is the canonical host of an endpoint: a name in lower case without a
// trailing dot, and an IPv4-mapped IPv6 address as IPv4.
func (e *Endpoint) read() (host, *Refusal) {
	text := e.Host
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
	}
	if address, err := netip.ParseAddr(text); err == nil {
		if address.Zone() != "" {
			return host{}, refuse(ReasonUnlawful, "%s has a zone, which is of one machine", e.called())
		}
		return host{address: address.Unmap()}, nil
	}
	// Non-ASCII letters are rejected first: in lower case some of them become
	// ASCII.
	name := strings.TrimSuffix(strings.ToLower(e.Host), ".")
	why := notName(name)
	if strings.ContainsFunc(e.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		why = "it has other letters than those of names"
	}
	if why != "" {
		return host{}, refuse(ReasonUnlawful, "%s is neither an address nor the name of a host: %s", e.called(), why)
	}
	return host{name: name}, nil
}

// notName says why a text is no host name; empty: it is one. Some programs
// parse a name whose last label is a number as an address: 2130706433, 127.1,
// 0x7f.1.
func notName(name string) string {
	const longest, longestLabel = 253, 63
	if name == "" || len(name) > longest {
		return "it is empty, or longer than 253 characters"
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > longestLabel || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.ContainsFunc(label, notOfName) {
			return "each part has 1 to 63 letters, digits and dashes"
		}
	}
	if last := labels[len(labels)-1]; isNumber(last) {
		return "it ends in a number"
	}
	return ""
}

func notOfName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
}

// isNumber says that a part of a name can be read as a number, in any notation.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// IsAddress says that the host is an address, and no name.
func (e *Endpoint) IsAddress() bool {
	h, refused := e.read()
	return refused == nil && h.address.IsValid()
}

// sorted are ports in order, each once.
func sorted(ports []port) []port {
	slices.SortFunc(ports, func(a, b port) int {
		if a.number != b.number {
			return a.number - b.number
		}
		return strings.Compare(a.protocol, b.protocol)
	})
	return slices.Compact(ports)
}
