package lifecycle

import (
	"fmt"
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

// Adopts says that what the broker has is to be taken over as it is, and that nothing
// is ever made: the user said so of an ID that was not made for this object, and no
// request of this object's made anything under it.
func (t *Thing) Adopts() bool {
	return t.Kind == Instance && t.Adopting && !t.own() && t.Record.Owed != IsOwed
}

// nextAdoption looks at what the broker has. Where it cannot be asked, nothing is: a
// request to provision would be answered well where there is the same, and would make
// what is not there.
func (t *Thing) nextAdoption(f *Facts) Decision {
	if f.Fetchable {
		return t.retryable(f, Decision{Step: Fetch, Record: t.Record})
	}
	return t.trust(f)
}

// trust takes it over unseen.
func (t *Thing) trust(f *Facts) Decision {
	r := t.Record
	r.ID = t.id()
	r.Operation, r.Async, r.Key, r.FetchRequired = NoOperation, false, nil, false
	r.Started, r.Deadline, r.NextRetry, r.Retries = time.Time{}, time.Time{}, time.Time{}, 0
	r.Exists, r.Absent, r.Refused = true, false, ""
	r.InProgress, r.Accepted = nil, t.found(f.Ask, "")
	r.ObservedGeneration, r.ReconciledGeneration = t.Generation, t.Generation
	r.resolve(f)
	r.succeed(ReasonAdoptedOnTrust, trustedMessage, f.Now)
	return Decision{Step: Rest, Record: r, Event: &Event{Warning: true, Reason: ReasonAdoptedOnTrust, Message: trustedMessage}}
}

// found is what an instance is that was compared with what is asked for. Its maintenance
// version is the broker's word, never the catalog's: so the next update that is asked
// for brings it the catalog's.
func (t *Thing) found(ask *Ask, version string) *Sent {
	sent := t.storable(ask)
	if version != "" || t.Adopts() {
		sent.MaintenanceVersion = version
	}
	return &sent
}

// done is what is said of a thing that is as its spec asks.
func (t *Thing) done() (reason, message string) {
	w := words(t.Kind, Make)
	if t.Kind == Binding || t.own() || t.Record.Owed == IsOwed {
		return w.done, w.doneMessage
	}
	if ready, _ := v1beta1.FindCondition(t.Record.Conditions, v1beta1.ConditionReady); ready.Reason == ReasonAdoptedOnTrust {
		return ready.Reason, trustedMessage
	}
	return ReasonAdopted, adoptedMessage
}

// notThere: what is to be adopted is not there, and is not made.
func (c *call) notThere() Outcome {
	return c.stop(ReasonNotAtBroker, fmt.Sprintf("the broker has no instance under the ID %q, or is still making it: nothing was made; "+
		"look again by a change of spec or svcat touch instance, or delete this object and create it with the right ID", c.record.ID))
}

// another: what is there is not what spec says. Whose side is right is the user's to
// say.
func (c *call) another(difference string) Outcome {
	r := &c.record
	message := fmt.Sprintf("the broker has another instance under the ID %q: %s", r.ID, difference)
	if c.thing.Adopts() {
		message += "; nothing was changed: let spec say what is there, or leave the parameter out, and change it once it is adopted"
	}
	return c.stop(reasonConflict, message)
}
