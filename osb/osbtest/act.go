package osbtest

import (
	"net/http"
	"strings"
)

// perform judges a call, acts on it unless a fault is in the way, and returns what is
// to be answered.
func (b *Broker) perform(v *visit) response {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.judge(v)
	answer := response{}
	if v.fault.Acts() {
		v.Acted = true
		answer = b.act(v)
		b.books.countPeaks()
		b.noteRemoval(v, answer.status)
	}
	return v.fault.spoiled(answer)
}

// act does what a call asks for, if it is lawful.
func (b *Broker) act(v *visit) response {
	switch {
	case !v.Authorized:
		return refuse(http.StatusUnauthorized, "", "the credentials are not those of this broker")
	case !strings.HasPrefix(v.Header.Get("X-Broker-Api-Version"), "2."):
		return refuse(http.StatusPreconditionFailed, "", "X-Broker-API-Version must be 2.x")
	case b.options.Strict && v.violated != "":
		return refuse(http.StatusBadRequest, "", v.violated)
	}
	switch v.Verb {
	case Provision:
		return b.provision(v)
	case Update:
		return b.update(v)
	case Deprovision:
		return b.deprovision(v)
	case Bind:
		return b.bind(v)
	case Unbind:
		return b.unbind(v)
	case FetchInstance:
		return b.fetchInstance(v)
	case FetchBinding:
		return b.fetchBinding(v)
	case PollInstance, PollBinding:
		return b.poll(v)
	default:
		return b.offer.serve(v)
	}
}
