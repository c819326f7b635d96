package controller

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// calling is the part of a subject that calls its broker.
type calling interface {
	// withheld is why the call of a decision must not be made although its intent is
	// stored; false: it may. It asks the API server.
	withheld(ctx context.Context, d *lifecycle.Decision) (lifecycle.Reply, bool)
	// call makes the one call of a decision, whose record holds what to send.
	call(ctx context.Context, broker *osb.Client, d *lifecycle.Decision) lifecycle.Reply
}

// intends says whether a step changes something at the broker, so that it must be known
// beforehand that it may have.
func intends(step lifecycle.Step) bool { return step != lifecycle.Poll && step != lifecycle.Fetch }

// call makes the call. It ends well before the intent's Deadline, however long the intent
// took to be stored: a broker may act a while after nobody waits for it any more.
func (e *engine) call(ctx context.Context, s subject, broker *osb.Client, t *turn) lifecycle.Reply {
	d := t.decision
	began := e.clock.Now()
	ends := began.Add(e.timeout)
	if intends(d.Step) {
		ends = d.Record.Deadline.Add(-e.timeout / 2)
	}
	ctx, cancel := context.WithDeadline(ctx, ends)
	defer cancel()
	if reply, is := s.withheld(ctx, d); is { // the broker was not asked: nothing is counted
		t.redactor.reply(&reply)
		return reply
	}
	operation := operationOf(s, d.Step)
	if e.tries.again(s.object(), d) {
		e.metrics.retried(t.broker, operation)
	}
	ctx, span := startSpan(ctx, operation)
	ended := e.metrics.calling(t.broker)
	reply := lifecycle.Reply{Err: errPanic}
	defer func() {
		ended()
		e.tries.ended(s.object(), d.Step, reply.Err)
		e.metrics.called(t.broker, operation, reply.Err, e.clock.Since(began))
		endCall(span, t.broker, reply.Err)
	}()
	reply = s.call(ctx, broker, d)
	t.redactor.reply(&reply)
	return reply
}

// errPanic is what came of a call that panicked, as metrics and spans tell it.
var errPanic = errors.New("the call panicked")

// note logs a call that failed, with what the broker's log knows it by.
func (e *engine) note(ctx context.Context, s subject, t *turn, reply lifecycle.Reply) {
	if reply.Err == nil || reply.Problem != nil {
		return
	}
	requestID := ""
	if failed := (*osb.Error)(nil); errors.As(reply.Err, &failed) {
		requestID = failed.RequestID
	}
	if osb.KindOf(reply.Err) == osb.Auth {
		e.brokers.forget(t.broker) // they may have been changed since they were read
	}
	log.FromContext(ctx).Info("the call to the broker failed", "step", t.decision.Step.String(), "broker", t.broker.String(),
		"why", t.redactor.text(reply.Err.Error()), "requestID", requestID, "uid", s.object().GetUID())
}
