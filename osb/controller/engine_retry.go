package controller

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/failing"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// leastNoted is the shortest wait for the next attempt with which an object counts as failing. A
// shorter one is over before anything could end it.
const leastNoted = 10 * time.Second

// failingOf names a resource among those that fail.
func failingOf(s resource, thing *lifecycle.Resource) failing.Object {
	return failing.Object{ObjectKey: client.ObjectKeyFromObject(s.object()), Rotating: thing.Rotating}
}

// failsAt is what a resource fails at together with others: what it is deprovisioned as, or asks for.
func failsAt(thing *lifecycle.Resource, facts *lifecycle.Facts, at broker.Key) failing.Key {
	sent := thing.Record.Target()
	if !thing.Deleting && facts.Desired != nil {
		sent = &facts.Desired.Request
	}
	key := failing.Key{Broker: at.At(), Deleting: thing.Deleting}
	if sent != nil {
		key.Class, key.Plan = sent.ClassExternalID, sent.PlanExternalID
	}
	return key
}

// retries adds how the others that fail affect the next attempt.
func (e *engine) retries(ctx context.Context, s resource, thing *lifecycle.Resource, facts *lifecycle.Facts, at broker.Key) {
	facts.AlsoFailing = e.failing.Share(failingOf(s, thing), failsAt(thing, facts, at), thing.Record.Retries)
	wakes := e.wakes(ctx, s, thing, facts.Now)
	facts.Woken = !wakes.IsZero() && !wakes.After(facts.Now)
}

// wakes is when the next attempt stops waiting for its time; zero: it waits. What the broker asked
// for is granted.
func (e *engine) wakes(ctx context.Context, s resource, thing *lifecycle.Resource, now time.Time) time.Time {
	wakes := e.failing.Wakes(failingOf(s, thing), thing.Generation, now)
	if after := recall(ctx, s.object()).retryAfter[bindingIndex(thing)]; !wakes.IsZero() && after.After(wakes) {
		return after
	}
	return wakes
}

// noteWait notes that a resource waits for its next attempt, or that it does not. It returns the time
// until it is to be looked at again, if that was some time; 0: none.
func (e *engine) noteWait(ctx context.Context, s resource, thing *lifecycle.Resource, facts *lifecycle.Facts, d *lifecycle.Decision, at broker.Key) time.Duration {
	object, left := failingOf(s, thing), d.Record.NextRetry.Sub(facts.Now)
	wait := failing.Wait{Key: failsAt(thing, facts, at), Generation: thing.Generation}
	switch {
	case d.After <= 0 && left > 0:
		if left > leastNoted {
			e.failing.Block(object, wait, facts.Now)
		}
		return d.After
	case d.After <= 0:
		e.failing.Forget(object)
		clearReports(ctx, s, thing)
	case !d.Record.Async && left > leastNoted:
		e.failing.Note(object, wait, facts.Now)
	}
	if wakes := e.wakes(ctx, s, thing, facts.Now); wakes.After(facts.Now) {
		return sooner(d.After, wakes.Sub(facts.Now))
	}
	return d.After
}

// changed has the next attempt of an object not wait for its time, but for a pass after some time:
// its class or plan changed.
func (e *engine) changed(at client.ObjectKey, after time.Duration) {
	e.failing.Changed(at, after, e.clock.Now())
}

// noteCall records a call that is about to be made: what wakes the resource while the call takes is for
// its next attempt.
func (e *engine) noteCall(s resource, t *attempt) {
	step := t.decision.Step
	if step == lifecycle.Poll {
		return
	}
	call := failing.Call{
		Wait:       failing.Wait{Key: failsAt(t.thing, &t.facts, t.broker), Generation: t.thing.Generation},
		Failed:     t.thing.Record.Retries > 0,
		NextRetry:  t.thing.Record.NextRetry,
		Mitigation: step == lifecycle.MitigateOrphan,
	}
	t.woken = e.failing.Begins(failingOf(s, t.thing), call, e.clock.Now())
}

// carryWake has what woke a mitigation be for the attempt that follows it, too, where the broker removed
// what the last one may have left, or is doing so; and for the next mitigation, where this one did not
// reach the broker.
func (e *engine) carryWake(s resource, t *attempt, reply *lifecycle.CallResult, outcome *lifecycle.Outcome) {
	if t.decision.Step != lifecycle.MitigateOrphan || !t.woken {
		return
	}
	switch object := failingOf(s, t.thing); {
	case !outcome.Record.Mitigating || outcome.Record.Async:
		e.failing.Carry(object, e.clock.Now())
	case !wasSent(reply):
		e.failing.Postpone(object, outcome.Record.NextRetry)
	}
}

// keepWake has what woke a call whose outcome was not stored be for the next one. Where its intent was
// stored, the next one does not wait.
func (e *engine) keepWake(s resource, t *attempt) {
	if t.woken && !intends(t.decision.Step) {
		e.failing.Postpone(failingOf(s, t.thing), e.clock.Now())
	}
}

// wasSent says whether a request was sent, or part of it.
func wasSent(reply *lifecycle.CallResult) bool {
	failed := (*osb.Error)(nil)
	if reply.Err != nil && !errors.As(reply.Err, &failed) {
		return false
	}
	return reply.Problem == nil && (failed == nil || failed.Kind != osb.NeverSent)
}

// noteRetryAfter notes until when the broker asks not to be called again. A poll that does not end its
// operation says nothing of the next request.
func (e *engine) noteRetryAfter(ctx context.Context, s resource, t *attempt, reply *lifecycle.CallResult) {
	var after time.Duration
	switch failed := (*osb.Error)(nil); {
	case t.decision.Step != lifecycle.Poll:
		if errors.As(reply.Err, &failed) {
			after = failed.RetryAfter
		}
	case reply.Poll == nil || reply.Poll.State != osb.Failed:
		return
	default:
		after = reply.Poll.RetryAfter
	}
	var until time.Time
	if after > 0 {
		until = e.clock.Now().Add(after)
	}
	remember(ctx, s.object(), func(m *memory) { m.retryAfter[bindingIndex(t.thing)] = until })
}

// succeeds wakes those that fail alike after an outcome that is a success. What was only read says
// nothing of what others request.
func (e *engine) succeeds(ctx context.Context, s resource, t *attempt, outcome *lifecycle.Outcome) {
	if !succeeded(t.thing, outcome) {
		return
	}
	e.failing.Forget(failingOf(s, t.thing))
	if !outcome.Release {
		clearReports(ctx, s, t.thing)
	}
	if t.decision.Step == lifecycle.Fetch && (t.thing.Record.Exists || t.thing.Adopts()) {
		return
	}
	key := failsAt(t.thing, &t.facts, t.broker)
	if applied := outcome.Record.Applied; applied != nil && !t.thing.Deleting { // its spec may ask for another plan by now
		key.Class, key.Plan = applied.ClassExternalID, applied.PlanExternalID
	}
	e.failing.Success(key, e.clock.Now())
}

// succeeded says whether the broker has done what the object is for: it has it, or has removed it.
func succeeded(thing *lifecycle.Resource, outcome *lifecycle.Outcome) bool {
	r := &outcome.Record
	switch {
	case outcome.Release:
		return true
	case thing.Deleting: // its dedicated instance may still be there
		return r.DeprovisionStatus == lifecycle.DeprovisionSucceeded && r.Operation == lifecycle.NoOperation
	}
	ready, _ := v1beta1.FindCondition(r.Conditions, v1beta1.ConditionReady)
	return r.Exists && r.Operation == lifecycle.NoOperation && r.Retries == 0 && ready.Status == v1beta1.ConditionTrue
}
