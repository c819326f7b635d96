package controller

import (
	"fmt"
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
)

// discovered are endpoints, and whether it is the binding's spec that makes them of
// credentials, and not the broker that gave them as such. Status tells them already, if
// they are told.
type discovered struct {
	endpoints    []expose.Endpoint
	mapped, told bool
}

// found are the endpoints of what a broker gave: its own, or those of the credentials that
// the spec says. The credentials are as the broker gave them: what transforms add is the
// user's word, and no broker's.
func found(spec *v1beta1.ServiceBindingSpec, given *osb.Binding) (discovered, *expose.Refusal) {
	switch {
	case len(given.Endpoints) > 0:
		var own discovered
		for _, e := range given.Endpoints {
			own.endpoints = append(own.endpoints, expose.Endpoint{Host: e.Host, Ports: e.Ports, Protocol: e.Protocol})
		}
		return own, nil
	case len(spec.EndpointsFrom) > 0:
		return mapped(spec.EndpointsFrom, given)
	case spec.ServiceName != "":
		return discovered{}, &expose.Refusal{Reason: reasonNoEndpoints, Message: "the broker gave no endpoints: name the credentials that are host and port, by spec.endpointsFrom of another binding"}
	}
	return discovered{}, nil
}

// mapped are the endpoints that credentials are. No message tells their values.
func mapped(from []v1beta1.EndpointFrom, given *osb.Binding) (discovered, *expose.Refusal) {
	all := discovered{mapped: true}
	for i, e := range from {
		values := map[string]string{}
		for _, key := range []string{e.HostKey, e.PortKey} {
			raw, has := given.Credentials[key]
			if !has {
				return discovered{}, &expose.Refusal{Reason: reasonKeyAbsent, Message: fmt.Sprintf("the broker gave no credential %q, which spec.endpointsFrom[%d] names", key, i)}
			}
			values[key] = string(credential{json: raw}.content())
		}
		all.endpoints = append(all.endpoints, expose.Endpoint{
			Host: values[e.HostKey], Ports: []string{values[e.PortKey]}, Protocol: e.Protocol, Quiet: fmt.Sprintf("the credential %q", e.HostKey),
		})
	}
	return all, nil
}

// storable says that status may tell the endpoints, so that they are judged again when the
// rules, or somebody's rights, have changed: they are lawful, and no value of a credential
// that is none of a host's.
func (d *discovered) storable(refusal *expose.Refusal) bool {
	if refusal == nil {
		return true
	}
	switch refusal.Reason {
	case expose.ReasonUnlawful, expose.ReasonTooMany, reasonNoEndpoints, reasonKeyAbsent:
		return false
	case expose.ReasonRefused, expose.ReasonMixed:
		return !d.withholds()
	}
	return true
}

// withholds says that an endpoint could be any credential, once it is refused as a host's.
func (d *discovered) withholds() bool {
	return d.mapped && !d.told && slices.ContainsFunc(d.endpoints, func(e expose.Endpoint) bool { return !e.IsAddress() })
}

// leadTo says for the condition where a Service leads: not by the values of credentials.
func (d *discovered) leadTo(target *expose.Target) string {
	if d.mapped {
		return "what spec.endpointsFrom names"
	}
	return target.String()
}

// refusalOf is why there is no Service, for the condition. What status does not tell is
// judged again with new credentials alone.
func (d *discovered) refusalOf(refusal *expose.Refusal) string {
	if refusal.Reason == expose.ReasonRefused && d.withholds() {
		return refusal.Message + "; once it is allowed, delete the binding's Secret: the credentials are then asked for again"
	}
	return refusal.Message
}

// stored are the endpoints as status has them.
func (d *discovered) stored() []v1beta1.BindingEndpoint {
	var list []v1beta1.BindingEndpoint
	for _, e := range d.endpoints {
		list = append(list, v1beta1.BindingEndpoint{Host: e.Host, Ports: e.Ports, Protocol: e.Protocol, Mapped: d.mapped})
	}
	return list
}
