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
func (c *call) polled(reply Reply) Outcome {
	r := &c.record
	c.words = words(c.thing.Kind, c.polling())
	if r.Started.IsZero() {
		r.Started = c.facts.Now
	}
	if reply.Err != nil {
		return c.pollFailed(asError(reply.Err))
	}
	last := reply.Poll
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
	return c.pollLater(last.Description, last.RetryAfter)
}

// pollLater: the operation goes on. Only a long wait is worth to be remembered.
func (c *call) pollLater(description string, wish time.Duration) Outcome {
	r := &c.record
	r.NextRetry = time.Time{}
	if wish > lastPoll {
		r.NextRetry = c.facts.Now.Add(wish)
	}
	r.working(c.words, description, c.facts.Now)
	return Outcome{Record: *r, After: PollAfter(c.elapsed(), wish)}
}

// polling is the step whose operation is polled.
func (c *call) polling() Step {
	switch c.record.Operation {
	case Changing:
		return Change
	case Removing:
		if c.record.Mitigating {
			return Mitigate
		}
		return Remove
	case NoOperation, Making:
	}
	return Make
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
	removing := r.Operation == Removing
	if removing && e.Kind == osb.Gone {
		return c.removed()
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
	_, message := told("", e)
	return c.pollLater(message, e.RetryAfter)
}

// succeeded: the operation ended well.
func (c *call) succeeded() Outcome {
	switch {
	case c.record.Operation == Removing:
		return c.removed()
	case c.thing.Kind == Instance:
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
	if asked && r.Retries >= triesForCredentials {
		return c.anew(c.words.failed, "the broker made the binding, and does not give its credentials")
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
	if last.Usable != nil && c.thing.Kind == Instance {
		r.Unusable = !*last.Usable
	}
	switch r.Operation {
	case Removing:
		r.Async, r.Key = false, nil
		return c.again(reason, message, &osb.Error{RetryAfter: last.RetryAfter})
	case Changing: // how far it came is not known
		return c.stop(reason, message)
	case NoOperation, Making:
	}
	return c.useless(reason, message)
}
