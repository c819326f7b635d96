package lifecycle

import (
	"time"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// begun: the broker works on it, from now on.
func (c *call) begun(response *osb.Response) Outcome {
	r := &c.record
	r.Async, r.Key, r.Started = true, response.Operation, c.facts.Now
	if response.RetryAfter > 0 {
		r.NextRetry = c.facts.Now.Add(response.RetryAfter)
	}
	r.working(c.words.working, c.words.workMessage, c.facts.Now)
	return Outcome{Record: *r, After: PollAfter(0, response.RetryAfter)}
}

// exists: the broker has what was requested.
func (c *call) exists() Outcome {
	r := &c.record
	if r.InProgress != nil {
		r.Applied = r.InProgress
	}
	r.Exists, r.Absent, r.Unusable, r.InProgress = true, false, false, nil
	if c.resource.own() {
		r.DeprovisionStatus = DeprovisionRequired
	}
	c.end()
	r.Retries, r.ReconciledGeneration = 0, r.ObservedGeneration
	r.report(c.facts.Now).succeed(c.words.done, c.words.doneMessage)
	return Outcome{Record: *r, Event: &Event{Reason: c.words.done, Message: c.words.doneMessage}}
}

// end clears the operation.
func (c *call) end() {
	r := &c.record
	r.Operation, r.Async, r.Key, r.FetchRequired = NoOperation, false, nil, false
	r.Started, r.NextRetry = time.Time{}, time.Time{}
}

// fetchLater: the broker has it; a separate call fetches the rest.
func (c *call) fetchLater() Outcome {
	c.end()
	c.record.FetchRequired = true
	c.record.working(c.words.working, c.words.workMessage, c.facts.Now)
	return Outcome{Record: c.record}
}

// fetchAgain: the response with the credentials of a binding was lost. They are
// fetched, and a response without them is not accepted.
func (c *call) fetchAgain() Outcome {
	o := c.fetchLater()
	if c.resource.Kind == Binding {
		o.Record.Started = c.facts.Now
	}
	return o
}

// gone: it does not exist at the broker any more.
func (c *call) gone() Outcome {
	r := &c.record
	event := &Event{Reason: c.words.done, Message: c.words.doneMessage}
	c.end()
	r.Deadline = time.Time{}
	switch {
	case c.resource.Deleting && c.facts.Remains != nil:
		return c.parted(event)
	case c.resource.Deleting:
		return Outcome{Record: *r, Release: true, Event: event}
	}
	r.Mitigating, r.KeepsID, r.DeprovisionStatus, r.Exists, r.Absent, r.Unusable = false, false, DeprovisionSucceeded, false, false, false
	r.InProgress, r.Applied, r.DashboardURL, r.SecretName = nil, nil, nil, ""
	if !c.freed {
		r.ID = c.facts.NewID // what was given up may still arrive under the other
	}
	if !r.failedForGood() {
		r.report(c.facts.Now).mitigates(c.words.done, c.words.doneMessage)
		r.NextRetry = c.facts.Now.Add(c.backoffAfterMitigation())
	}
	r.report(c.facts.Now).unset(v1beta1.ConditionOrphanMitigation)
	return Outcome{Record: *r, Event: event}
}

// parted: the binding is unbound, and its dedicated instance still exists.
func (c *call) parted(event *Event) Outcome {
	c.record.DeprovisionStatus = DeprovisionSucceeded
	c.record.part(c.facts.Remains, c.facts.Now)
	return Outcome{Record: c.record, Event: event}
}

// deprovisioned: the broker has removed it, or it never existed.
func (c *call) deprovisioned() Outcome {
	if c.record.Deadline.After(c.facts.Now) {
		return c.notYetGone()
	}
	return c.gone()
}

// notYetGone: nothing exists, but a request that was cut off may still create
// something. It is removed once more when that is no longer possible.
func (c *call) notYetGone() Outcome {
	c.record.Async, c.record.Key, c.record.NextRetry = false, nil, c.record.Deadline
	return Outcome{Record: c.record, After: c.record.Deadline.Sub(c.facts.Now)}
}

// undo: something useless may exist under an ID that was generated for this
// object. It is removed and created again, under the same ID only if no request
// for it can still reach the broker.
func (c *call) undo(reason, message string, e *osb.Error) Outcome {
	if c.facts.PartLost {
		return c.again(reason, message, e)
	}
	r := &c.record
	c.end()
	r.Mitigating, r.KeepsID = true, !c.decision.Again && wasAnswered(e)
	r.Retries++
	if e.RetryAfter > 0 {
		r.NextRetry = c.facts.Now.Add(e.RetryAfter)
	}
	if c.decision.Again && r.Deadline.After(r.NextRetry) {
		// The removal may remove what the first request created, and this
		// request may then create another.
		r.NextRetry = r.Deadline
	}
	r.report(c.facts.Now).miss(reason, message)
	c.announceMitigation(r)
	return Outcome{Record: *r, Event: &Event{Warning: true, Reason: reason, Message: message}}
}

// announceMitigation sets the condition OrphanMitigation in the same write as
// the reason.
func (c *call) announceMitigation(r *Record) {
	mitigation := words(c.resource.Kind, MitigateOrphan)
	r.report(c.facts.Now).set(v1beta1.OrphanMitigation(mitigation.inFlight, mitigation.workMessage))
}

// retryWithNewID: what the broker created cannot be used. It is removed and
// created again under a new ID, or, if it is adopted and must not be removed,
// nothing more is tried.
func (c *call) retryWithNewID(reason, message string) Outcome {
	if c.resource.own() {
		return c.undo(reason, message, &osb.Error{})
	}
	return c.stop(reason, message)
}

// discard: what the broker created cannot be used, and neither could another
// one.
func (c *call) discard(reason, message string) Outcome {
	o := c.stop(reason, message)
	if o.Record.Mitigating = c.resource.own() && !c.facts.PartLost; o.Record.Mitigating {
		c.announceMitigation(&o.Record)
	}
	return o
}

func storeMessage(result CallResult) string {
	return "the credentials could not be stored: " + result.StoreProblem
}

// notStored: returned credentials are lost.
func (c *call) notStored(result CallResult) Outcome {
	message := storeMessage(result)
	if c.record.Exists && c.facts.Fetchable || !c.resource.own() { // they may be given again
		return c.again(reasonStore, message, &osb.Error{})
	}
	return c.undo(reasonStore, message, &osb.Error{})
}

// again: the same request is retried after a delay.
func (c *call) again(reason, message string, e *osb.Error) Outcome {
	r := &c.record
	r.Retries++
	wait := c.backoff(e)
	r.NextRetry = c.facts.Now.Add(wait)
	if r.Mitigating {
		r.report(c.facts.Now).mitigates(reason, message)
	} else {
		r.report(c.facts.Now).miss(reason, message)
	}
	return Outcome{Record: *r, After: wait, Event: &Event{Warning: true, Reason: reason, Message: message}}
}

// mark is the mark of what was sent; empty if the desired request is unknown.
func (c *call) mark() string {
	if c.facts.Desired == nil {
		return ""
	}
	request := c.decision.Record.InProgress
	if request == nil {
		request = &c.facts.Desired.Request
	}
	return mark(request, c.facts.Desired)
}

// stop: the same request is not retried.
func (c *call) stop(reason, message string) Outcome {
	c.record.Refused = c.mark()
	c.end()
	c.record.report(c.facts.Now).fail(reason, message)
	return Outcome{Record: c.record, Event: &Event{Warning: true, Reason: reason, Message: message}}
}
