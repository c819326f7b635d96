package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Reasons of an adoption that was asked for.
const (
	// ReasonAdoptedOnTrust is that of an instance whose broker cannot be asked for it.
	ReasonAdoptedOnTrust = "AdoptedOnTrust"
	// ReasonNotAtBroker is that of an instance of which its broker knows nothing.
	ReasonNotAtBroker = "NotAtBroker"
)

const trustedMessage = "its broker does not let itself be asked for an instance (instances_retrievable is not true): " +
	"that it is there, and is what spec says, is taken on trust"

// Adopts says that the broker's instance is taken over as it is and that none is ever
// provisioned: the user asked for that with an ID that was not minted for this object, and
// no request of this object made anything under it.
func (t *Resource) Adopts() bool {
	return t.Kind == Instance && t.Adopting && !t.own() && t.Record.DeprovisionStatus != DeprovisionRequired
}

// nextAdoption fetches the instance from the broker. If the broker cannot be asked, no call
// is made: a provision request would succeed if the same instance exists, and would make one
// if none does.
func (t *Resource) nextAdoption(f *Facts) Decision {
	if f.Fetchable {
		return t.retryable(f, Decision{Step: Fetch, Record: t.Record})
	}
	return t.trust(f)
}

// trust adopts the instance without reading it from the broker.
func (t *Resource) trust(f *Facts) Decision {
	r := t.Record
	r.ID = t.id()
	r.Operation, r.Async, r.Key, r.FetchRequired = NoOperation, false, nil, false
	r.Started, r.Deadline, r.NextRetry, r.Retries = time.Time{}, time.Time{}, time.Time{}, 0
	r.Exists, r.Absent, r.Refused = true, false, ""
	r.InProgress, r.Applied = nil, t.found(f.Desired, "")
	r.ObservedGeneration, r.ReconciledGeneration = t.Generation, t.Generation
	r.report(f.Now).resolve(f.Desired.Rule)
	r.report(f.Now).succeed(ReasonAdoptedOnTrust, trustedMessage)
	return Decision{Step: Rest, Record: r, Event: &Event{Warning: true, Reason: ReasonAdoptedOnTrust, Message: trustedMessage}}
}

// found is the applied request of an instance that equals the desired one. Its
// maintenance version is the broker's, not the catalog's, so that the next
// requested update sets the catalog's.
func (t *Resource) found(desired *Desired, version string) *Request {
	request := t.storable(desired)
	if version != "" || t.Adopts() {
		request.MaintenanceVersion = version
	}
	return &request
}

// done returns the reason and message for a resource that matches its spec.
func (t *Resource) done() (reason, message string) {
	w := words(t.Kind, Provision)
	ready, _ := v1beta1.FindCondition(t.Record.Conditions, v1beta1.ConditionReady)
	if t.Kind == Binding && ready.Reason == w.done {
		return w.done, ready.Message // which may be that the Secret is empty
	}
	if t.Kind == Binding || t.own() || t.Record.DeprovisionStatus == DeprovisionRequired {
		return w.done, w.doneMessage
	}
	if ready.Reason == ReasonAdoptedOnTrust {
		return ready.Reason, trustedMessage
	}
	return ReasonAdopted, adoptedMessage
}
