package endpoints

import (
	"fmt"
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// Discovered are endpoints, and whether the binding's spec takes them from
// credentials (mapped), or the broker returned them as endpoints. told says
// that status has them already.
type Discovered struct {
	Endpoints    []expose.Endpoint
	mapped, told bool
}

// Discover returns the endpoints of a broker's response: its own, or those that
// spec.endpointsFrom takes from credentials. It uses the credentials before
// transforms, because a user may add anything by those.
func Discover(spec *v1beta1.ServiceBindingSpec, given *osb.Binding) (Discovered, *expose.Refusal) {
	switch {
	case len(given.Endpoints) > 0:
		var own Discovered
		for _, e := range given.Endpoints {
			own.Endpoints = append(own.Endpoints, expose.Endpoint{Host: e.Host, Ports: e.Ports, Protocol: e.Protocol})
		}
		return own, nil
	case len(spec.EndpointsFrom) > 0:
		return mapped(spec.EndpointsFrom, given)
	case spec.ServiceName != "":
		return Discovered{}, &expose.Refusal{Reason: ReasonNoEndpoints, Message: "the broker gave no endpoints: name the credentials that are host and port, by spec.endpointsFrom of another binding"}
	}
	return Discovered{}, nil
}

// Unseen returns the endpoints of credentials that the broker did not give: none, and why, if
// the spec asks for some. A Secret that was taken over may have been transformed.
func Unseen(spec *v1beta1.ServiceBindingSpec) (Discovered, *expose.Refusal) {
	if spec.ServiceName == "" && len(spec.EndpointsFrom) == 0 {
		return Discovered{}, nil
	}
	return Discovered{}, &expose.Refusal{Reason: ReasonNoEndpoints, Message: "the binding was adopted, and the broker does not give its endpoints again: raise spec.rotation.requests for new credentials"}
}

// maxEndpointText is the maximum size, in bytes of JSON, of a credential that
// may be a host or a port: longer ones are not copied.
const maxEndpointText = 1024

// mapped are the endpoints from credentials. No message contains their values.
func mapped(from []v1beta1.EndpointFrom, given *osb.Binding) (Discovered, *expose.Refusal) {
	all := Discovered{mapped: true}
	for i, e := range from {
		values := map[string]string{}
		for _, key := range []string{e.HostKey, e.PortKey} {
			raw, has := given.Credentials[key]
			if !has {
				return Discovered{}, &expose.Refusal{Reason: ReasonKeyAbsent, Message: fmt.Sprintf("the broker gave no credential %q, which spec.endpointsFrom[%d] names", key, i)}
			}
			if len(raw) > maxEndpointText {
				return Discovered{}, &expose.Refusal{Reason: expose.ReasonUnlawful, Message: fmt.Sprintf("the credential %q, which spec.endpointsFrom[%d] names, is longer than a host or a port can be", key, i)}
			}
			values[key] = credentials.Text(raw)
		}
		all.Endpoints = append(all.Endpoints, expose.Endpoint{
			Host: values[e.HostKey], Ports: []string{values[e.PortKey]}, Protocol: e.Protocol, Quiet: fmt.Sprintf("the credential %q", e.HostKey),
		})
	}
	return all, nil
}

// storable says whether status may hold the endpoints, so that they are checked
// again when the rules, or a user's permissions, change: they are valid, and
// reveal no value of a credential that is not a host.
func (d *Discovered) storable(refusal *expose.Refusal) bool {
	if refusal == nil {
		return true
	}
	switch refusal.Reason {
	case expose.ReasonUnlawful, expose.ReasonTooMany, ReasonNoEndpoints, ReasonKeyAbsent:
		return false
	case expose.ReasonRefused, expose.ReasonMixed:
		return !d.withholds()
	}
	return true
}

// withholds says whether a refused endpoint may be any credential, whose value
// must not be shown.
func (d *Discovered) withholds() bool {
	return d.mapped && !d.told && slices.ContainsFunc(d.Endpoints, func(e expose.Endpoint) bool { return !e.IsAddress() })
}

// leadTo describes the target of a Service for the condition, without values of
// credentials.
func (d *Discovered) leadTo(target *expose.Target) string {
	if d.mapped {
		return "what spec.endpointsFrom names"
	}
	return target.String()
}

// refusalOf is why there is no Service, for the condition. Endpoints that are
// not in status are only checked again with new credentials.
func (d *Discovered) refusalOf(refusal *expose.Refusal) string {
	if refusal.Reason == expose.ReasonRefused && d.withholds() {
		return refusal.Message + "; once it is allowed, delete the binding's Secret: the credentials are then asked for again"
	}
	return refusal.Message
}

// stated are the endpoints that status has.
func stated(list []v1beta1.BindingEndpoint) Discovered {
	found := Discovered{told: true, mapped: slices.ContainsFunc(list, func(e v1beta1.BindingEndpoint) bool { return e.Mapped })}
	for _, e := range list {
		found.Endpoints = append(found.Endpoints, expose.Endpoint{Host: e.Host, Ports: e.Ports, Protocol: e.Protocol})
		if e.Mapped {
			found.Endpoints[len(found.Endpoints)-1].Quiet = "a host of spec.endpointsFrom"
		}
	}
	return found
}

// stored are the endpoints as status has them.
func (d *Discovered) stored() []v1beta1.BindingEndpoint {
	var list []v1beta1.BindingEndpoint
	for _, e := range d.Endpoints {
		list = append(list, v1beta1.BindingEndpoint{Host: e.Host, Ports: e.Ports, Protocol: e.Protocol, Mapped: d.mapped})
	}
	return list
}
