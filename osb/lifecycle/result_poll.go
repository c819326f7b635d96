package lifecycle

import (
	"fmt"
	"time"

	"github.com/defaultplan/defaultplan/osb"
)

// pollsBeforeAsking is how many polls of a removal may say that there is no such
// operation, before the removal is asked for again.
const pollsBeforeAsking = 3

// A poll judges the answer to a poll of an operation.
type poll struct{ call *call }

// outcome is what the answer leads to.
func (p poll) outcome(result CallResult) Outcome {
	r := &p.call.record
	p.call.words = words(p.call.resource.Kind, p.step())
	if r.Started.IsZero() {
		r.Started = p.call.facts.Now
	}
	if result.Err != nil {
		return p.failed(asError(result.Err))
	}
	last := result.Poll
	switch last.State {
	case osb.Succeeded:
		return p.succeeded()
	case osb.Failed:
		return p.asyncFailed(last, p.call.words.failed, p.said(last.Description))
	case osb.InProgress:
	}
	if late := p.late(); late != nil {
		return *late
	}
	message := p.call.words.workMessage
	if last.Description != "" {
		message += ": " + last.Description
	}
	return p.later(p.call.words.working, message, last.RetryAfter)
}

// later: the operation goes on. Only a long wait is worth to be remembered.
func (p poll) later(reason, message string, wish time.Duration) Outcome {
	r := &p.call.record
	r.NextRetry = time.Time{}
	if wish > lastPoll {
		r.NextRetry = p.call.facts.Now.Add(wish)
	}
	r.working(reason, message, p.call.facts.Now)
	return Outcome{Record: *r, After: PollAfter(p.elapsed(), wish)}
}

// step is the step whose operation is polled.
func (p poll) step() Step {
	switch p.call.record.Operation {
	case Updating:
		return Update
	case Deprovisioning:
		if p.call.record.Mitigating {
			return MitigateOrphan
		}
		return Deprovision
	case NoOperation, Provisioning:
	}
	return Provision
}

func (p poll) elapsed() time.Duration { return max(p.call.facts.Now.Sub(p.call.record.Started), 0) }

func (p poll) said(description string) string {
	text := fmt.Sprintf("cannot %s: the broker's operation failed", p.call.words.verb)
	if description != "" {
		text += ": " + description
	}
	return text
}

// late ends an operation that takes longer than it may.
func (p poll) late() *Outcome {
	if p.elapsed() <= p.call.facts.MaxPolling {
		return nil
	}
	o := p.asyncFailed(&osb.LastOperation{}, reasonTimeout,
		fmt.Sprintf("cannot %s: the broker's operation has not ended in %s", p.call.words.verb, p.call.facts.MaxPolling))
	return &o
}

// failed judges a poll that told nothing: the operation goes on, for all we know.
func (p poll) failed(e *osb.Error) Outcome {
	r := &p.call.record
	removing := r.Operation == Deprovisioning
	if removing && e.Kind == osb.Gone {
		return p.call.deprovisioned()
	}
	if late := p.late(); late != nil {
		return *late
	}
	if removing && e.Kind == osb.NotFound {
		if r.Retries++; r.Retries >= pollsBeforeAsking {
			r.Async, r.Key = false, nil
			return p.call.again(p.call.words.failed, e.Error(), e)
		}
	}
	reason, message := told(reasonPoll, e)
	message += "; the operation is taken to go on, and is polled again"
	o := p.later(reason, message, e.RetryAfter)
	o.Event = &Event{Warning: true, Reason: reason, Message: message}
	return o
}

// succeeded: the operation ended well.
func (p poll) succeeded() Outcome {
	switch {
	case p.call.record.Operation == Deprovisioning:
		return p.call.deprovisioned()
	case p.call.resource.Kind == Instance:
		return p.call.exists()
	case p.call.facts.Fetchable:
		return p.call.fetchLater()
	}
	return p.askAgain()
}

// askAgain: credentials that cannot be fetched come with the answer to the same request.
// It is sent once, however much failed before; a broker that answers it by yet another
// operation is asked so often and not more.
func (p poll) askAgain() Outcome {
	r := &p.call.record
	asked := r.FetchRequired
	r.Async, r.Key, r.NextRetry, r.FetchRequired = false, nil, time.Time{}, true
	if !asked {
		r.Started = time.Time{} // see asksFirst
	}
	if asked && r.Retries >= triesForCredentials {
		return p.call.retryWithNewID(p.call.words.failed, "the broker made the binding, and does not give its credentials")
	}
	wait := time.Duration(0)
	if r.Retries++; asked {
		wait = p.call.facts.Backoff(r.Retries, 0)
		r.NextRetry = p.call.facts.Now.Add(wait)
	}
	return Outcome{Record: *r, After: wait}
}

// asyncFailed: the operation ended, and not well; or it did not end in time.
func (p poll) asyncFailed(last *osb.LastOperation, reason, message string) Outcome {
	r := &p.call.record
	if last.Usable != nil && p.call.resource.Kind == Instance {
		r.Unusable = !*last.Usable
	}
	switch r.Operation {
	case Deprovisioning:
		r.Async, r.Key = false, nil
		return p.call.again(reason, message, &osb.Error{Kind: osb.BrokerFault, RetryAfter: last.RetryAfter})
	case Updating: // how far it came is not known
		return p.call.stop(reason, message)
	case NoOperation, Provisioning:
	}
	return p.call.discard(reason, message)
}
