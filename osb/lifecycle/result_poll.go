package lifecycle

import (
	"fmt"
	"time"

	"github.com/defaultplan/defaultplan/osb"
)

// pollsBeforeAsking is how many polls of a removal may say that there is no such
// operation, before the removal is asked for again.
const pollsBeforeAsking = 3

// polled judges the answer to a poll.
func (c *call) polled(result CallResult) Outcome {
	r := &c.record
	c.words = words(c.resource.Kind, c.polling())
	if r.Started.IsZero() {
		r.Started = c.facts.Now
	}
	if result.Err != nil {
		return c.pollFailed(asError(result.Err))
	}
	last := result.Poll
	switch last.State {
	case osb.Succeeded:
		return c.succeeded()
	case osb.Failed:
		return c.asyncFailed(last, c.words.failed, c.said(last.Description))
	case osb.InProgress:
	}
	if late := c.late(); late != nil {
		return *late
	}
	message := c.words.workMessage
	if last.Description != "" {
		message += ": " + last.Description
	}
	return c.pollLater(c.words.working, message, last.RetryAfter)
}

// pollLater: the operation goes on. Only a long wait is worth to be remembered.
func (c *call) pollLater(reason, message string, wish time.Duration) Outcome {
	r := &c.record
	r.NextRetry = time.Time{}
	if wish > lastPoll {
		r.NextRetry = c.facts.Now.Add(wish)
	}
	r.working(reason, message, c.facts.Now)
	return Outcome{Record: *r, After: PollAfter(c.elapsed(), wish)}
}

// polling is the step whose operation is polled.
func (c *call) polling() Step {
	switch c.record.Operation {
	case Updating:
		return Update
	case Deprovisioning:
		if c.record.Mitigating {
			return MitigateOrphan
		}
		return Deprovision
	case NoOperation, Provisioning:
	}
	return Provision
}

func (c *call) elapsed() time.Duration { return max(c.facts.Now.Sub(c.record.Started), 0) }

func (c *call) said(description string) string {
	text := fmt.Sprintf("cannot %s: the broker's operation failed", c.words.verb)
	if description != "" {
		text += ": " + description
	}
	return text
}

// late ends an operation that takes longer than it may.
func (c *call) late() *Outcome {
	if c.elapsed() <= c.facts.MaxPolling {
		return nil
	}
	o := c.asyncFailed(&osb.LastOperation{}, reasonTimeout,
		fmt.Sprintf("cannot %s: the broker's operation has not ended in %s", c.words.verb, c.facts.MaxPolling))
	return &o
}

// pollFailed judges a poll that told nothing: the operation goes on, for all we know.
func (c *call) pollFailed(e *osb.Error) Outcome {
	r := &c.record
	removing := r.Operation == Deprovisioning
	if removing && e.Kind == osb.Gone {
		return c.deprovisioned()
	}
	if late := c.late(); late != nil {
		return *late
	}
	if removing && e.Kind == osb.NotFound {
		if r.Retries++; r.Retries >= pollsBeforeAsking {
			r.Async, r.Key = false, nil
			return c.again(c.words.failed, e.Error(), e)
		}
	}
	reason, message := told(reasonPoll, e)
	message += "; the operation is taken to go on, and is polled again"
	o := c.pollLater(reason, message, e.RetryAfter)
	o.Event = &Event{Warning: true, Reason: reason, Message: message}
	return o
}

// succeeded: the operation ended well.
func (c *call) succeeded() Outcome {
	switch {
	case c.record.Operation == Deprovisioning:
		return c.deprovisioned()
	case c.resource.Kind == Instance:
		return c.exists()
	case c.facts.Fetchable:
		return c.fetchLater()
	}
	return c.askAgain()
}

// askAgain: credentials that cannot be fetched come with the answer to the same request.
// It is sent once, however much failed before; a broker that answers it by yet another
// operation is asked so often and not more.
func (c *call) askAgain() Outcome {
	r := &c.record
	asked := r.FetchRequired
	r.Async, r.Key, r.NextRetry, r.FetchRequired = false, nil, time.Time{}, true
	if !asked {
		r.Started = time.Time{} // see asksFirst
	}
	if asked && r.Retries >= triesForCredentials {
		return c.retryWithNewID(c.words.failed, "the broker made the binding, and does not give its credentials")
	}
	wait := time.Duration(0)
	if r.Retries++; asked {
		wait = c.facts.Backoff(r.Retries, 0)
		r.NextRetry = c.facts.Now.Add(wait)
	}
	return Outcome{Record: *r, After: wait}
}

// asyncFailed: the operation ended, and not well; or it did not end in time.
func (c *call) asyncFailed(last *osb.LastOperation, reason, message string) Outcome {
	r := &c.record
	if last.Usable != nil && c.resource.Kind == Instance {
		r.Unusable = !*last.Usable
	}
	switch r.Operation {
	case Deprovisioning:
		r.Async, r.Key = false, nil
		return c.again(reason, message, &osb.Error{RetryAfter: last.RetryAfter})
	case Updating: // how far it came is not known
		return c.stop(reason, message)
	case NoOperation, Provisioning:
	}
	return c.discard(reason, message)
}
