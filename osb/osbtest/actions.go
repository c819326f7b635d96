package osbtest

import (
	"net/http"
	"strings"
)

// actions are what the broker does, by verb.
type actions struct {
	options    *Options
	offer      *offer
	operations *operations
	instances  *instanceActions
	bindings   *bindingActions
}

func newActions(options *Options, offer *offer, books *books, script *script) *actions {
	operations := &operations{options: options, script: script, books: books}
	return &actions{
		options: options, offer: offer, operations: operations,
		instances: &instanceActions{offer: offer, books: books, operations: operations},
		bindings:  &bindingActions{options: options, offer: offer, books: books, operations: operations},
	}
}

// act does what a call asks for, if it is lawful.
func (a *actions) act(v *visit) response {
	switch {
	case !v.Authorized:
		return refuse(http.StatusUnauthorized, "", "the credentials are not those of this broker")
	case !strings.HasPrefix(v.Header.Get("X-Broker-Api-Version"), "2."):
		return refuse(http.StatusPreconditionFailed, "", "X-Broker-API-Version must be 2.x")
	case a.options.Strict && v.violated != "":
		return refuse(http.StatusBadRequest, "", v.violated)
	}
	switch v.Verb {
	case Provision:
		return a.instances.provision(v)
	case Update:
		return a.instances.update(v)
	case Deprovision:
		return a.instances.deprovision(v)
	case Bind:
		return a.bindings.bind(v)
	case Unbind:
		return a.bindings.unbind(v)
	case FetchInstance:
		return a.instances.fetch(v)
	case FetchBinding:
		return a.bindings.fetch(v)
	case PollInstance, PollBinding:
		return a.operations.poll(v)
	default:
		return a.offer.serve(v)
	}
}
