package lifecycle

import (
	"fmt"
	"time"

	"github.com/defaultplan/defaultplan/osb"
)

// triesForCredentials is how often the broker is asked for the credentials of a new
// binding, by the same request, before it is undone; patienceForCredentials is how long they
// are fetched. Those tries are not counted by themselves: the retries of before go on, so that
// a broker that makes bindings which cannot be fetched is asked for others ever more rarely.
const (
	triesForCredentials    = 5
	patienceForCredentials = 10 * time.Minute
)

// triesForConflict is how often an instance is looked for that is said to be there,
// before it is made.
const triesForConflict = 5

// A fetch judges what was read of an instance or binding.
type fetch struct{ call *call }

// outcome is what the answer leads to.
func (f fetch) outcome(result CallResult) Outcome {
	f.call.words = words(f.call.resource.Kind, Provision)
	f.call.record.ObservedGeneration = f.call.resource.Generation
	if f.call.resource.Kind == Binding {
		return f.binding(result)
	}
	return f.instance(result)
}

func (f fetch) instance(result CallResult) Outcome {
	r := &f.call.record
	r.ID = f.call.resource.id()
	if result.Err != nil {
		return f.notFetched(asError(result.Err))
	}
	if result.Found.Difference != "" {
		if r.DeprovisionStatus != DeprovisionRequired {
			r.InProgress = nil
		}
		return f.another(result.Found.Difference)
	}
	if n := len(result.Found.DashboardURL); n > 0 && n <= longestURL {
		r.DashboardURL = new(result.Found.DashboardURL)
	}
	if !f.call.resource.own() && r.DeprovisionStatus != DeprovisionRequired {
		f.call.words.done, f.call.words.doneMessage = ReasonAdopted, adoptedMessage
	}
	r.InProgress = f.call.resource.found(f.call.facts.Desired, result.Found.MaintenanceVersion)
	r.report(f.call.facts.Now).resolve(f.call.facts.Desired.Rule)
	return f.call.exists()
}

// notFetched: if the broker never said that the instance exists, it does not. If the broker
// said so, provisioning may still be running, so the fetch is repeated a few times.
func (f fetch) notFetched(e *osb.Error) Outcome {
	r := &f.call.record
	if e.Kind == osb.Gone && f.call.resource.Adopts() {
		return f.notThere()
	}
	if e.Kind == osb.Gone && !r.FetchRequired {
		r.Absent, r.NextRetry = true, time.Time{}
		return Outcome{Record: *r}
	}
	if e.Kind == osb.Gone && r.Retries >= triesForConflict {
		r.FetchRequired, r.Absent = false, true
	}
	reason, message := told(reasonFetch(f.call.resource.Kind), e)
	return f.call.again(reason, message, e)
}

func (f fetch) binding(result CallResult) Outcome {
	r := &f.call.record
	if result.Err != nil {
		return f.noCredentials(asError(result.Err))
	}
	if result.Found != nil && result.Found.Difference != "" {
		return f.another(result.Found.Difference)
	}
	if f.call.resource.Adopts() {
		f.call.words.done, f.call.words.doneMessage = ReasonAdopted, adoptedMessage
	}
	if result.Credentials == Stored && r.InProgress == nil && r.Applied == nil {
		r.InProgress = new(f.call.resource.storable(f.call.facts.Desired))
	}
	if o, decided := f.call.received(result); decided {
		return o
	}
	const none = "the broker has the binding, and does not give its credentials"
	if f.call.resource.Adopts() {
		return f.call.stop(ReasonCredentialsMissing, none+": "+supply(f.call.resource, f.call.facts))
	}
	return f.call.retryWithNewID(reasonFetch(Binding), none)
}

// noCredentials: a binding could not be read. Whether it has been made is not in doubt:
// it is only undone where the broker says that it cannot give it.
func (f fetch) noCredentials(e *osb.Error) Outcome {
	r := &f.call.record
	if f.call.resource.Adopts() {
		return f.notAdopted(e)
	}
	switch e.Kind {
	case osb.Gone:
		if r.Exists || f.triedLong() {
			return f.call.retryWithNewID(reasonFetch(Binding), e.Error())
		}
	case osb.Rejected, osb.Conflict, osb.NotFound, osb.AsyncRequired, osb.MaintenanceConflict, osb.RequiresApp, osb.BrokerFault:
		if !r.Exists && f.triedLong() {
			return f.call.retryWithNewID(reasonFetch(Binding), e.Error())
		}
	case osb.Concurrency, osb.Auth, osb.Version, osb.Unavailable, osb.NeverSent, osb.MaybeReceived:
	}
	reason, message := told(reasonFetch(Binding), e)
	return f.call.again(reason, message, e)
}

// triedLong says that the credentials of a new binding were tried to be fetched for as long
// as it is worth; more than once, however long one try took.
func (f fetch) triedLong() bool {
	return !f.call.decision.First && f.call.facts.Now.Sub(f.call.record.Started) >= patienceForCredentials
}

// notAdopted: a binding to adopt could not be read. Nothing is undone, and nothing bound.
func (f fetch) notAdopted(e *osb.Error) Outcome {
	if e.Kind == osb.Gone {
		return f.notThere()
	}
	reason, message := told(reasonFetch(Binding), e)
	return f.call.again(reason, message, e)
}

// notThere: what is to be adopted does not exist, and is not made.
func (f fetch) notThere() Outcome {
	noun, again := "instance", "look again by a change of spec or svcat touch instance, or delete this object and create it with the right ID"
	if f.call.resource.Kind == Binding {
		noun, again = "binding", "delete this object and create it again: with the right ID, or for new credentials without ID and annotation"
	}
	return f.call.stop(ReasonNotAtBroker, fmt.Sprintf("the broker has no %s under the ID %q, or is still making it: nothing was made; %s", noun, f.call.record.ID, again))
}

// another: what the broker has differs from the spec. The user must decide which of the
// two is right.
func (f fetch) another(difference string) Outcome {
	r := &f.call.record
	if f.call.resource.Kind == Binding { // whose spec is final
		return f.call.stop(reasonConflict, fmt.Sprintf("the broker has another binding under the ID %q: %s; nothing was changed: "+
			"delete this object, and create it again with what is there, or without the parameter", r.ID, difference))
	}
	message := fmt.Sprintf("the broker has another instance under the ID %q: %s", r.ID, difference)
	if f.call.resource.Adopts() {
		message += "; nothing was changed: let spec say what is there, or leave the parameter out, and change it once it is adopted"
	}
	return f.call.stop(reasonConflict, message)
}
