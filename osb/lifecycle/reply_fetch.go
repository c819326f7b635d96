package lifecycle

import (
	"github.com/defaultplan/defaultplan/osb"
)

// triesForCredentials is how often the broker is asked for the credentials of a new
// binding before it is undone.
const triesForCredentials = 5

// triesForConflict is how often an instance is looked for that is said to be there,
// before it is made.
const triesForConflict = 5

// fetched judges what was read of an instance or binding.
func (c *call) fetched(reply Reply) Outcome {
	c.words = words(c.thing.Kind, Make)
	c.record.ObservedGeneration = c.thing.Generation
	if c.thing.Kind == Binding {
		return c.fetchedBinding(reply)
	}
	return c.fetchedInstance(reply)
}

func (c *call) fetchedInstance(reply Reply) Outcome {
	r := &c.record
	r.ID = c.thing.id()
	if reply.Err != nil {
		return c.notFetched(asError(reply.Err))
	}
	if reply.Found.Difference != "" {
		if r.Owed != IsOwed {
			r.InProgress = nil
		}
		return c.another(reply.Found.Difference)
	}
	if n := len(reply.Found.DashboardURL); n > 0 && n <= longestURL {
		r.DashboardURL = new(reply.Found.DashboardURL)
	}
	if !c.thing.own() && r.Owed != IsOwed {
		c.words.done, c.words.doneMessage = ReasonAdopted, adoptedMessage
	}
	r.InProgress = c.thing.found(c.facts.Ask, reply.Found.MaintenanceVersion)
	r.resolve(c.facts)
	return c.exists()
}

// notFetched: an instance that nobody said is there is not; where the broker said it,
// it may be in the making, so that it is looked for some more times.
func (c *call) notFetched(e *osb.Error) Outcome {
	r := &c.record
	if e.Kind == osb.Gone && c.thing.Adopts() {
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

func (c *call) fetchedBinding(reply Reply) Outcome {
	r := &c.record
	if reply.Err != nil {
		return c.noCredentials(asError(reply.Err))
	}
	switch reply.Credentials {
	case Stored:
		if r.InProgress == nil && r.Accepted == nil {
			r.InProgress = new(c.thing.storable(c.facts.Ask))
		}
		return c.exists()
	case NotStored:
		return c.notStored(reply)
	case Unstorable:
		return c.useless(reasonStore, storeMessage(reply))
	case NoCredentials:
	}
	return c.anew(reasonFetch, "the broker has the binding, and does not give its credentials")
}

// noCredentials: a binding could not be read. Whether it has been made is not in doubt:
// it is only undone where the broker says that it cannot give it.
func (c *call) noCredentials(e *osb.Error) Outcome {
	r := &c.record
	switch e.Kind {
	case osb.Gone:
		if r.Exists || r.Retries >= triesForCredentials {
			return c.anew(reasonFetch, e.Error())
		}
	case osb.Rejected, osb.Conflict, osb.NotFound, osb.AsyncRequired, osb.MaintenanceConflict, osb.RequiresApp, osb.BrokerFault:
		if !r.Exists && r.Retries >= triesForCredentials {
			return c.anew(reasonFetch, e.Error())
		}
	case osb.Concurrency, osb.Auth, osb.Version, osb.Unavailable, osb.NeverSent, osb.MaybeReceived:
	}
	reason, message := told(reasonFetch, e)
	return c.again(reason, message, e)
}
