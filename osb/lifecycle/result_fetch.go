package lifecycle

import (
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

// fetched judges what was read of an instance or binding.
func (c *call) fetched(result CallResult) Outcome {
	c.words = words(c.resource.Kind, Provision)
	c.record.ObservedGeneration = c.resource.Generation
	if c.resource.Kind == Binding {
		return c.fetchedBinding(result)
	}
	return c.fetchedInstance(result)
}

func (c *call) fetchedInstance(result CallResult) Outcome {
	r := &c.record
	r.ID = c.resource.id()
	if result.Err != nil {
		return c.notFetched(asError(result.Err))
	}
	if result.Found.Difference != "" {
		if r.DeprovisionStatus != DeprovisionRequired {
			r.InProgress = nil
		}
		return c.another(result.Found.Difference)
	}
	if n := len(result.Found.DashboardURL); n > 0 && n <= longestURL {
		r.DashboardURL = new(result.Found.DashboardURL)
	}
	if !c.resource.own() && r.DeprovisionStatus != DeprovisionRequired {
		c.words.done, c.words.doneMessage = ReasonAdopted, adoptedMessage
	}
	r.InProgress = c.resource.found(c.facts.Desired, result.Found.MaintenanceVersion)
	r.resolve(c.facts)
	return c.exists()
}

// notFetched: if the broker never said that the instance exists, it does not. If the broker
// said so, provisioning may still be running, so the fetch is repeated a few times.
func (c *call) notFetched(e *osb.Error) Outcome {
	r := &c.record
	if e.Kind == osb.Gone && c.resource.Adopts() {
		return c.notThere()
	}
	if e.Kind == osb.Gone && !r.FetchRequired {
		r.Absent = true
		return Outcome{Record: *r}
	}
	if e.Kind == osb.Gone && r.Retries >= triesForConflict {
		r.FetchRequired, r.Absent = false, true
	}
	reason, message := told(reasonFetch, e)
	return c.again(reason, message, e)
}

func (c *call) fetchedBinding(result CallResult) Outcome {
	r := &c.record
	if result.Err != nil {
		return c.noCredentials(asError(result.Err))
	}
	switch result.Credentials {
	case Stored:
		if r.InProgress == nil && r.Applied == nil {
			r.InProgress = new(c.resource.storable(c.facts.Desired))
		}
		return c.stored(result)
	case NotStored:
		return c.notStored(result)
	case Unstorable:
		return c.discard(reasonStore, storeMessage(result))
	case NoCredentials:
	}
	return c.retryWithNewID(reasonFetch, "the broker has the binding, and does not give its credentials")
}

// noCredentials: a binding could not be read. Whether it has been made is not in doubt:
// it is only undone where the broker says that it cannot give it.
func (c *call) noCredentials(e *osb.Error) Outcome {
	r := &c.record
	switch e.Kind {
	case osb.Gone:
		if r.Exists || c.fetchedLong() {
			return c.retryWithNewID(reasonFetch, e.Error())
		}
	case osb.Rejected, osb.Conflict, osb.NotFound, osb.AsyncRequired, osb.MaintenanceConflict, osb.RequiresApp, osb.BrokerFault:
		if !r.Exists && c.fetchedLong() {
			return c.retryWithNewID(reasonFetch, e.Error())
		}
	case osb.Concurrency, osb.Auth, osb.Version, osb.Unavailable, osb.NeverSent, osb.MaybeReceived:
	}
	reason, message := told(reasonFetch, e)
	return c.again(reason, message, e)
}

// fetchedLong says that the credentials of a new binding were tried to be fetched for as long
// as it is worth; more than once, however long one try took.
func (c *call) fetchedLong() bool {
	return !c.decision.First && c.facts.Now.Sub(c.record.Started) >= patienceForCredentials
}

// stored: the Secret of a binding has what the broker gave.
func (c *call) stored(result CallResult) Outcome {
	if result.EmptyBecause != "" {
		c.words.doneMessage = emptyMessage + result.EmptyBecause
	}
	return c.exists()
}
