package expose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// A Target is what a Service leads to: a name, or addresses.
type Target struct {
	// name is that of the one host; empty: there are addresses.
	name string
	// ports are all of them, in order.
	ports  []port
	groups []group
}

// A group are addresses of one family that have the same ports: an EndpointSlice.
type group struct {
	addresses []netip.Addr
	ports     []port
}

// HasAddresses says whether the target is addresses, which require permission
// to create EndpointSlices.
func (t *Target) HasAddresses() bool { return t.name == "" }

// Of is the target of a Service for endpoints, or why there is none. There must
// be at least one endpoint.
func Of(endpoints []Endpoint, rules *Rules) (*Target, *Refusal) {
	if len(endpoints) > maxAddresses {
		return nil, refuse(ReasonTooMany, "there are %d endpoints; a Service is made for at most %d", len(endpoints), maxAddresses)
	}
	// All are parsed before any is checked: a refusal by a rule implies that
	// all are valid.
	at := map[host][]port{}
	hosts := make([]host, len(endpoints))
	for i := range endpoints {
		h, refused := endpoints[i].read()
		if refused != nil {
			return nil, refused
		}
		ports, refused := endpoints[i].ports()
		if refused != nil {
			return nil, refused
		}
		if hosts[i], at[h] = h, sorted(append(at[h], ports...)); len(at[h]) > maxPorts {
			return nil, tooManyPorts()
		}
	}
	for i := range endpoints {
		if why := rules.refuses(hosts[i]); why != "" {
			return nil, refuse(ReasonRefused, "%s %s: a Service cannot lead there, unless the operator allows it (--allow-endpoints)", endpoints[i].called(), why)
		}
	}
	return together(at)
}

// together is the target of hosts with their ports.
func together(at map[host][]port) (*Target, *Refusal) {
	target, names := &Target{}, 0
	addresses := map[string]*group{}
	for h, ports := range at {
		target.ports = append(target.ports, ports...)
		if h.name != "" {
			names++
			target.name = h.name
			continue
		}
		key := fmt.Sprint(h.address.Is4(), ports)
		if addresses[key] == nil {
			addresses[key] = &group{ports: ports}
		}
		addresses[key].addresses = append(addresses[key].addresses, h.address)
	}
	target.ports = sorted(target.ports)
	switch {
	case names > 1:
		return nil, refuse(ReasonMixed, "there are %d names of hosts, and a Service is an alias of one: use the credentials", names)
	case names == 1 && len(at) > 1:
		return nil, refuse(ReasonMixed, "there are a name of a host and addresses, and a Service is for either: use the credentials")
	case len(target.ports) > maxPorts:
		return nil, tooManyPorts()
	}
	for _, g := range addresses {
		slices.SortFunc(g.addresses, netip.Addr.Compare)
		target.groups = append(target.groups, *g)
	}
	slices.SortFunc(target.groups, func(a, b group) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return target, nil
}
