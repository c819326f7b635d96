package lifecycle

import "time"

// Reasons of an adoption that was asked for.
const (
	// ReasonAdoptedOnTrust is that of an instance whose broker cannot be asked for it.
	ReasonAdoptedOnTrust = "AdoptedOnTrust"
	// ReasonNotAtBroker is that of an instance of which its broker knows nothing.
	ReasonNotAtBroker = "NotAtBroker"
)

const trustedMessage = "its broker does not let itself be asked for an instance (instances_retrievable is not true): " +
	"that it is there, and is what spec says, is taken on trust"

// adopt fetches the instance from the broker. If the broker cannot be asked, no call
// is made: a provision request would succeed if the same instance exists, and would make one
// if none does.
func (n next) adopt() Decision {
	t, f := n.resource, n.facts
	if f.Fetchable {
		return n.retryable(Decision{Step: Fetch, Record: t.Record})
	}
	return n.trust()
}

// trust adopts the instance without reading it from the broker.
func (n next) trust() Decision {
	t, f := n.resource, n.facts
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
