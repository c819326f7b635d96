package controller

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/events"
	"github.com/defaultplan/defaultplan/osb/controller/failing"
	"github.com/defaultplan/defaultplan/osb/controller/metrics"
	"github.com/defaultplan/defaultplan/osb/controller/parameters"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/controller/requests"
	"github.com/defaultplan/defaultplan/osb/controller/resync"
	"github.com/defaultplan/defaultplan/osb/controller/tracing"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A resource is an instance or binding during one pass, or the other binding of a rotation.
type resource interface {
	thing() lifecycle.Resource
	// gather finds out what the next step depends on.
	gather(ctx context.Context, thing *lifecycle.Resource) (inputs, error)
	storable
	calling
}

// inputs are what an attempt depends on.
type inputs struct {
	lifecycle.Facts

	// broker is whom the next call would be for; zero where there is none.
	broker broker.Key
	// redactor knows what brokers' texts must not tell.
	redactor parameters.Redactor
	// reread says that the next step depends on what no watch tells of.
	reread bool
	// foreign says that another controller handles the broker.
	foreign bool
}

// An engine takes the resources of one kind through their passes.
type engine struct {
	store   store
	brokers *broker.Clients
	events  *events.Events
	metrics *metrics.Counters
	clock   clock.PassiveClock
	// timeout is the longest time of one call, maxPolling that of an operation, and
	// maxRetry that between two tries.
	timeout, maxPolling, maxRetry time.Duration
	// reread is how often what no watch tells of is read again, where there is not much.
	reread time.Duration
	rests  resync.Schedule
	// names bounds how often names are written of resources that need no other write.
	names *rate.Limiter
	// failing are the resources that fail at present.
	failing failing.Set
}

// A passed says how a pass ended.
type passed struct {
	// after is the time until the next pass, if nothing happens before; 0: none.
	after time.Duration
	// idle says that it had nothing to do, and nothing to write.
	idle bool
}

// pass is one pass over a resource.
func (e *engine) pass(ctx context.Context, s resource) (passed, error) {
	ctx, span := tracing.Start(ctx, "reconcile "+kindOf(s))
	defer span.End()
	tracing.Name(span, s.object())
	late := lags(ctx, s.object())
	thing := s.thing()
	found, err := s.gather(ctx, &thing)
	if err != nil || found.foreign && !e.standsIn(s.object()) {
		return passed{}, err
	}
	facts := e.facts(ctx, s, &thing, &found)
	decision := decide(ctx, s, &thing, &facts, found.broker)
	tracing.Step(ctx, decision.Step)
	switch decision.Step {
	case lifecycle.Release:
		e.failing.Forget(failingOf(s, &thing))
		return passed{}, e.release(ctx, s, decision.Warning)
	case lifecycle.Rest:
		changed, later, err := e.settle(ctx, s, &decision)
		if err != nil {
			return passed{}, err
		}
		if decision.Held {
			return passed{}, queue.Wait(found.broker.At())
		}
		after := e.noteWait(ctx, s, &thing, &facts, &decision, found.broker)
		return passed{after: sooner(e.rest(s.object(), after, found.reread), later), idle: !changed}, nil
	case lifecycle.Provision, lifecycle.Update, lifecycle.Deprovision, lifecycle.MitigateOrphan, lifecycle.Poll, lifecycle.Fetch:
	}
	if late && !intends(decision.Step) { // what changes something fails at its intent
		return passed{after: queue.ConflictPause}, nil
	}
	if wait := recall(ctx, s.object()).poll.Sub(facts.Now); decision.Step == lifecycle.Poll && wait > 0 {
		return passed{after: wait}, nil
	}
	after, err := e.act(ctx, s, &attempt{thing: &thing, facts: facts, broker: found.broker, redactor: found.redactor, decision: &decision})
	return passed{after: after}, err
}

// facts are those that were gathered, and what is the same for every resource.
func (e *engine) facts(ctx context.Context, s resource, thing *lifecycle.Resource, found *inputs) lifecycle.Facts {
	facts := found.Facts
	facts.Now = e.clock.Now()
	intent := recall(ctx, s.object()).intent
	facts.Settled = !intent.IsZero() && thing.Record.Deadline.Equal(intent)
	facts.NewID, facts.Jitter = uuid.NewString(), rand.Float64() //nolint:gosec // it spreads retries, and guards nothing
	facts.MaxRetry, facts.MaxDeadline = e.maxRetry, e.maxDeadline()
	if facts.MaxPolling <= 0 || facts.MaxPolling > e.maxPolling {
		facts.MaxPolling = e.maxPolling
	}
	e.retries(ctx, s, thing, &facts, found.broker)
	return facts
}

// maxDeadline is the longest time that a call, and what comes before it, may take. A deadline that is further away was written by a
// clock that is ahead.
func (e *engine) maxDeadline() time.Duration { return max(time.Hour, 2*e.timeout+requests.Timeout) }

// An attempt is the part of a pass that calls a broker.
type attempt struct {
	thing    *lifecycle.Resource
	facts    lifecycle.Facts
	broker   broker.Key
	redactor parameters.Redactor
	decision *lifecycle.Decision
	// stored is the object as it is with the intent in it.
	stored client.Object
	// requestID is the ID of the request, took how long it took, and failed that it failed.
	requestID string
	took      time.Duration
	failed    bool
	// woken says that the call did not wait for its time, or need not have.
	woken bool
}

// past are the versions that a cache without the attempt's outcome may have; over is the
// one that the outcome replaced.
func (t *attempt) past(s resource, over string) [3]string {
	return [3]string{s.object().GetResourceVersion(), t.stored.GetResourceVersion(), over}
}

// rest is the time until the next pass, if nothing happens before; 0: none.
func (e *engine) rest(o client.Object, after time.Duration, reread bool) time.Duration {
	if after > 0 || !reread {
		return after
	}
	// What a pass finds by reading Secrets is found in time; not for all at once.
	const spread = 10
	pause := e.rests.After(o, e.reread)
	return pause + time.Duration(rand.Int64N(int64(pause)/spread+1)) //nolint:gosec // it spreads reads
}

// act makes the call, between the writes of intent and outcome. What was begun is
// brought to its end, also when the process is asked to stop. It returns the time until the
// next pass; 0: none.
func (e *engine) act(ctx context.Context, s resource, t *attempt) (time.Duration, error) {
	if t.decision.Step == lifecycle.Provision && !controllerutil.ContainsFinalizer(s.object(), v1beta1.FinalizerServiceCatalog) {
		return 0, e.store.addFinalizer(ctx, s.object())
	}
	place := queue.FromContext(ctx)
	if !place.Enter(t.broker.At()) {
		return 0, queue.Wait(t.broker.At())
	}
	reply, err := e.reach(ctx, s, t)
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		return 0, err
	}
	e.noteRetryAfter(ctx, s, t, &reply)
	if osb.KindOf(reply.Err) == osb.Auth {
		e.brokers.Forget(t.broker) // its credentials may have been changed since they were read
	}
	logFailure(ctx, s, t, &reply)
	t.facts.Now = e.clock.Now()
	outcome := t.thing.HandleResult(*t.decision, reply, t.facts)
	e.carryWake(s, t, &reply, &outcome)
	return e.conclude(ctx, s, t, outcome)
}

// reach stores the intent and makes the call, for which the pass has a place. The queue is told
// at once what came of it: what waits for a sign of life does not wait for the API server.
func (e *engine) reach(ctx context.Context, s resource, t *attempt) (reply lifecycle.CallResult, err error) {
	reply.Err = errPanic // unless it comes to something else
	defer func() { queue.FromContext(ctx).Called(reply.Err) }()
	broker, err := e.brokers.Client(ctx, t.broker)
	ctx = context.WithoutCancel(ctx)
	t.stored = s.object()
	if err != nil { // without a client nothing is sent
		e.noteCall(s, t)
		return lifecycle.CallResult{Err: err}, nil
	}
	if err := e.secure(ctx, s, t); err != nil {
		return lifecycle.CallResult{Err: err}, err // the broker was not asked: it is no sign of life
	}
	e.noteCall(s, t)
	return e.call(ctx, s, broker, t), nil
}

// secure stores the intent of a call. One that fetches credentials has none but at the first
// time; they may be given once, so that it is not made on an old reading, either.
func (e *engine) secure(ctx context.Context, s resource, t *attempt) (err error) {
	step := t.decision.Step
	switch {
	case intends(step):
		t.decision.Record.Deadline = e.deadline(headStart)
	case t.decision.First:
	case t.thing.Kind == lifecycle.Binding && step == lifecycle.Fetch:
		return e.store.current(ctx, t.stored)
	default:
		return nil
	}
	if t.stored, err = e.store.recordIntent(ctx, s, &t.decision.Record); err != nil {
		return err
	}
	remember(ctx, s.object(), func(m *memory) { m.intent = t.decision.Record.Deadline })
	return nil
}

// conclude stores the outcome, then tells of it.
func (e *engine) conclude(ctx context.Context, s resource, t *attempt, outcome lifecycle.Outcome) (time.Duration, error) {
	more := s.finish(&outcome, &t.facts)
	if outcome.Event != nil {
		outcome.Event.Message = t.redactor.Text(outcome.Event.Message)
	}
	if outcome.Relist {
		e.brokers.AskRelist(t.broker, t.facts.Now)
	}
	if outcome.Release {
		over, err := e.store.ended(ctx, s, t.stored)
		if err != nil {
			return 0, err
		}
		logSettled(ctx, s, t, &outcome)
		remember(ctx, s.object(), func(m *memory) { *m = memory{uid: m.uid, past: t.past(s, over)} })
		e.succeeds(ctx, s, t, &outcome)
		e.events.Tell(s.object(), outcome.Event)
		return 0, nil
	}
	over, err := e.store.recordOutcome(ctx, s, t.stored, &outcome.Record)
	if err != nil {
		e.keepWake(s, t)
		return 0, err
	}
	remember(ctx, s.object(), func(m *memory) {
		m.intent, m.poll, m.names, m.past = time.Time{}, time.Time{}, time.Time{}, [3]string{}
		if over != "" {
			m.past = t.past(s, over)
		}
		if outcome.Record.Async && outcome.After > 0 {
			m.poll = t.facts.Now.Add(outcome.After)
		}
	})
	logSettled(ctx, s, t, &outcome)
	if event := outcome.Event; event != nil && reportsOf(ctx, s, t.thing).emits(t.decision.Step, event, t.facts.Now) {
		e.events.Tell(s.object(), event)
	}
	e.succeeds(ctx, s, t, &outcome)
	for i := range more {
		e.events.Tell(s.object(), &more[i])
	}
	if outcome.Record.Mitigating && !t.thing.Record.Mitigating {
		e.metrics.Mitigated(kindOf(s))
	}
	return max(0, outcome.After), nil // 0: the write brings the next pass
}

// release lets an object go of which nothing is left at a broker, or which is given up.
func (e *engine) release(ctx context.Context, s resource, warning string) error {
	if err := e.store.end(ctx, s, s.object()); err != nil {
		return err
	}
	forget(ctx)
	if warning != "" {
		e.events.Tell(s.object(), &lifecycle.Event{Warning: true, Reason: "Abandoned", Message: warning})
		log.FromContext(ctx).Info("let go without its broker", "why", warning, "uid", s.object().GetUID())
	}
	return nil
}

// settle stores where a decision leaves a resource that rests, then tells of it. It says
// whether that was a change, and how long one that can wait is put off.
func (e *engine) settle(ctx context.Context, s resource, decision *lifecycle.Decision) (changed bool, later time.Duration, err error) {
	stored := s.object()
	next := s.with(stored, &decision.Record)
	if changed = !equality.Semantic.DeepEqual(next, stored); changed {
		if later = e.putOff(ctx, stored, next); later == 0 {
			err = e.store.replace(ctx, stored, next)
		}
	}
	if err == nil {
		e.events.Tell(stored, decision.Event)
	}
	return changed && later == 0, later, err
}

// putOff is how long a write waits that changes no more than names. After an upgrade, or once
// an operator renamed a type, all resources have one at the same time. What else is written of a
// resource takes its names along.
func (e *engine) putOff(ctx context.Context, stored, next client.Object) time.Duration {
	if !onlyNames(stored, next) {
		return 0
	}
	now, turn := e.clock.Now(), recall(ctx, stored).names
	if turn.IsZero() {
		turn = now.Add(e.names.ReserveN(now, 1).DelayFrom(now))
	}
	later := max(0, turn.Sub(now))
	if later == 0 {
		turn = time.Time{}
	}
	remember(ctx, stored, func(m *memory) { m.names = turn })
	return later
}
