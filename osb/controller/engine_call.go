package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/metrics"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/controller/requests"
	"github.com/defaultplan/defaultplan/osb/controller/tracing"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// calling is the part of a resource that calls its broker.
type calling interface {
	// prepare does at the API server what comes between intent and call. It returns true,
	// and why, if the call must not be made although its intent is stored.
	prepare(ctx context.Context, d *lifecycle.Decision) (lifecycle.CallResult, bool)
	// call makes the one call of a decision, whose record holds what to send.
	call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.CallResult
	// finish changes an outcome before it is stored and reported, and returns the events
	// that it has in addition to its own.
	finish(outcome *lifecycle.Outcome, facts *lifecycle.Facts) []lifecycle.Event
}

// intends says whether a step changes something at the broker, so that it must be known
// beforehand that it may have.
func intends(step lifecycle.Step) bool { return step != lifecycle.Poll && step != lifecycle.Fetch }

// decide is the next step, or the rest where its call is not made now. What the call is for is
// known once it is decided on.
func decide(ctx context.Context, s resource, thing *lifecycle.Resource, facts *lifecycle.Facts, broker broker.Key) lifecycle.Decision {
	decision, place := lifecycle.Next(*thing, *facts), queue.FromContext(ctx)
	place.For(purpose(s, facts, &decision))
	switch {
	case place.Held(broker.At()):
		facts.HeldBecause = "the broker does not answer; it is asked again after a pause"
	case place.Refused(broker.At()):
		facts.HeldBecause = "the broker answered 429 or 503 to all the last requests of this kind for the plan; another one is sent after a pause"
	default:
		return decision
	}
	return lifecycle.Next(*thing, *facts)
}

// enter has a pass find its place where what the cache knows brings it to a call. What the call
// is made of is read from the API server only then: what waits costs it nothing, however often
// it is looked at. Where those reads bring it to something else, the place goes with the pass.
func (e *engine) enter(ctx context.Context, s resource, thing *lifecycle.Resource, found *inputs) error {
	if found.foreign {
		return nil
	}
	facts := e.facts(ctx, s, thing, found)
	decision := decide(ctx, s, thing, &facts, found.broker)
	switch decision.Step {
	case lifecycle.Rest:
		if !decision.Held {
			return nil
		}
		_, _, err := e.settle(ctx, s, &decision)
		return cmp.Or(err, queue.Wait(found.broker.At()))
	case lifecycle.Release:
		return nil
	case lifecycle.Poll:
		if recall(ctx, s.object()).poll.After(facts.Now) {
			return nil
		}
	case lifecycle.Provision, lifecycle.Update, lifecycle.Deprovision, lifecycle.MitigateOrphan, lifecycle.Fetch:
	}
	if !queue.FromContext(ctx).Enter(found.broker.At()) {
		return queue.Wait(found.broker.At())
	}
	return nil
}

// purpose is what the broker may answer 429 or 503 to alike: the operation, for the plan that the
// object has, or is to get.
func purpose(s resource, facts *lifecycle.Facts, d *lifecycle.Decision) queue.Operation {
	var sent *lifecycle.Request
	switch d.Step {
	case lifecycle.Provision, lifecycle.Update:
		sent = d.Record.InProgress
	case lifecycle.Deprovision, lifecycle.MitigateOrphan, lifecycle.Poll:
		sent = d.Record.Target()
	case lifecycle.Fetch:
		if facts.Desired != nil {
			sent = &facts.Desired.Request
		}
	case lifecycle.Rest, lifecycle.Release:
	}
	if sent == nil {
		return queue.Operation{}
	}
	return queue.Operation{Class: sent.ClassExternalID, Plan: sent.PlanExternalID, Name: operationOf(s, d.Step)}
}

// kindOf is the kind of a resource, as metrics and spans name it.
func kindOf(s resource) string {
	if _, ok := s.object().(*v1beta1.ServiceBinding); ok {
		return "binding"
	}
	return "instance"
}

// operationOf is what the specification calls a step.
func operationOf(s resource, step lifecycle.Step) string {
	binding := kindOf(s) == "binding"
	switch step {
	case lifecycle.Provision:
		if binding {
			return "bind"
		}
		return "provision"
	case lifecycle.Update:
		return "update"
	case lifecycle.Deprovision, lifecycle.MitigateOrphan:
		if binding {
			return "unbind"
		}
		return "deprovision"
	case lifecycle.Rest, lifecycle.Release, lifecycle.Poll, lifecycle.Fetch:
	}
	return step.String() + "_" + kindOf(s)
}

// headStart is what an intent's Deadline leaves for the time until the call is sent, which
// includes the write of the intent itself.
const headStart = time.Second

// deadline is the deadline of a call that is sent within some time from now. It
// adds half the timeout, because a broker may act for a while after its client
// stops waiting.
func (e *engine) deadline(within time.Duration) time.Time {
	return e.clock.Now().Add(within + e.timeout + e.timeout/2).Truncate(time.Microsecond)
}

// prepare brings a call to where it is sent. However long the API server took until then,
// the call has all of its time, and ends well before the Deadline that is stored.
func (e *engine) prepare(ctx context.Context, s resource, t *attempt) (lifecycle.CallResult, bool) {
	if reply, is := s.prepare(ctx, t.decision); is {
		return reply, true
	}
	for intends(t.decision.Step) && e.deadline(0).After(t.decision.Record.Deadline) {
		if err := e.postpone(ctx, s, t); err != nil {
			return lifecycle.CallResult{Err: fmt.Errorf("cannot write until when the call may take: %w", err)}, true
		}
	}
	return lifecycle.CallResult{}, false
}

// postpone writes a later Deadline. This write has twice the time that the API server took
// since the pass began, and at most that of one request: after a crash the next controller
// waits for what is left of it.
func (e *engine) postpone(ctx context.Context, s resource, t *attempt) error {
	later := t.decision.Record
	later.Deadline = e.deadline(2 * min(e.clock.Since(t.facts.Now), requests.Timeout/2))
	stored, err := e.store.write(ctx, s, t.stored, &later)
	if err != nil {
		return err
	}
	t.stored, t.decision.Record = stored, later
	remember(ctx, s.object(), func(m *memory) { m.intent = later.Deadline })
	return nil
}

// call prepares the call and makes it. The time of the call begins when it is sent.
func (e *engine) call(ctx context.Context, s resource, broker *osb.Client, t *attempt) lifecycle.CallResult {
	d := t.decision
	if reply, is := e.prepare(ctx, s, t); is { // the broker was not asked: nothing is counted
		t.redactor.CallResult(&reply)
		return reply
	}
	began := e.clock.Now()
	ends := began.Add(e.timeout)
	if intends(d.Step) {
		ends = d.Record.Deadline.Add(-e.timeout / 2)
		d.Record.Deadline = e.deadline(0) // which is no later than what is stored
	}
	ctx, cancel := context.WithDeadline(ctx, ends)
	defer cancel()
	operation := operationOf(s, d.Step)
	if m := recall(ctx, s.object()); m.again(d) {
		e.metrics.Retried(t.broker.At(), operation)
	}
	t.requestID = uuid.NewString()
	ctx, span := tracing.Start(osb.WithRequestID(ctx, t.requestID), operation)
	tracing.RequestID(span, t.requestID)
	ended := e.metrics.Calling(t.broker.At())
	reply := lifecycle.CallResult{Err: errPanic}
	defer func() {
		ended()
		t.took = e.clock.Since(began)
		remember(ctx, s.object(), func(m *memory) { m.ended(d.Step, reply.Err) })
		e.metrics.Called(t.broker.At(), operation, reply.Err, t.took)
		tracing.EndCall(span, metrics.Label(t.broker.At()), reply.Err)
	}()
	reply = s.call(ctx, broker, d)
	t.redactor.CallResult(&reply)
	return reply
}

// errPanic is the error of a call that panicked, in metrics and spans.
var errPanic = errors.New("the call panicked")
