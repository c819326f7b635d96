package osbtest

import (
	"net/http"
	"strings"
	"sync"
)

// actions are what the broker does, by verb.
type actions struct {
	mu         *sync.Mutex
	options    *Options
	offer      *offer
	books      *books
	judge      *judge
	conduct    *conduct
	operations *operations
	instances  *instanceActions
	bindings   *bindingActions
}

// perform judges a call, acts on it unless a fault is in the way, and returns what is
// to be answered.
func (a *actions) perform(v *visit) response {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.judge.record(v)
	answer := response{}
	if v.fault.Acts() {
		v.Acted = true
		answer = a.act(v)
		a.books.countPeaks()
		a.conduct.noteRemoval(v, answer.status)
	}
	return v.fault.spoiled(answer)
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
