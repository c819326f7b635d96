package osbtest

import (
	"fmt"
	"maps"
	"net/http"
	"time"
)

// An operation is what the broker works on after a 202, and the last one remains as
// the answer to polls.
type operation struct {
	async

	verb Verb
	// key is what polls must bring; empty where the broker gives none.
	key string
	// plan is the instance's before the operation.
	plan  planKey
	began time.Time
	state string
	// heard says that the platform was told of it.
	heard bool
	work  work
}

const (
	inProgress = "in progress"
	succeeded  = "succeeded"
	failed     = "failed"
)

func (o *operation) running() bool { return o != nil && o.state == inProgress }

// work is what a mutating call does to the books.
type work struct {
	begin, succeed, fail func()
	// answer is that of a synchronous call, once it succeeded.
	answer func() response
	// announced is the body of a 202 but for the operation.
	announced map[string]any
	// plan is the instance's on the books.
	plan planKey
}

// start does the work, at once or as an operation.
func (b *Broker) start(v *visit, w work) response {
	how := b.pace(v, w.plan.plan)
	if how == nil {
		delete(b.books.operations, v.target())
		w.begin()
		w.succeed()
		return w.answer()
	}
	if v.Query.Get("accepts_incomplete") != "true" {
		return refuse(http.StatusUnprocessableEntity, "AsyncRequired", "this needs accepts_incomplete=true")
	}
	w.begin()
	op := &operation{async: *how, verb: v.Verb, plan: w.plan, began: b.options.Now(), state: inProgress, work: w}
	if !b.options.NoOperation {
		// A key that must be escaped shows who does not.
		op.key = fmt.Sprintf("%s/%d?a=b&c=d e+%%2F#ü", v.Verb, v.N)
	}
	b.books.operations[v.target()] = op
	return b.announce(v, op)
}

// announce is the 202 for an operation that runs.
func (b *Broker) announce(v *visit, op *operation) response {
	v.started = op
	body := map[string]any{}
	maps.Copy(body, op.work.announced)
	if op.key != "" {
		body["operation"] = op.key
	}
	return b.patiently(response{status: http.StatusAccepted, body: body})
}

// patiently adds the broker's own Retry-After.
func (b *Broker) patiently(answer response) response {
	if b.options.RetryAfter != "" {
		answer.header = http.Header{"Retry-After": {b.options.RetryAfter}}
	}
	return answer
}

// pace is how a call's operation goes; nil for at once.
func (b *Broker) pace(v *visit, plan string) *async {
	if v.fault.async != nil {
		return v.fault.async
	}
	if polls, found := b.script.async[v.Verb]; found {
		return &async{polls: polls}
	}
	if polls, found := b.options.Pace[plan][v.Verb]; found {
		return &async{polls: polls}
	}
	return nil
}

// end has an operation succeed or fail, as it was to.
func (o *operation) end() {
	if o.fails {
		o.state = failed
		o.work.fail()
		return
	}
	o.state = succeeded
	o.work.succeed()
}

// poll answers for the last operation on an instance or a binding.
func (b *Broker) poll(v *visit) response {
	at := v.target()
	op := b.books.operations[at]
	if op == nil {
		return b.pollNone(at)
	}
	if v.Query.Get("operation") != op.key {
		return refuse(http.StatusBadRequest, "", "no such operation")
	}
	if op.running() {
		if op.polls == 0 {
			op.end()
		} else {
			op.polls--
		}
	}
	body := map[string]any{"state": op.state, "description": "the " + string(op.verb) + " is " + op.state}
	switch op.state {
	case inProgress:
		return b.patiently(ok(body))
	case failed:
		if op.usable != nil {
			body["instance_usable"], body["update_repeatable"] = *op.usable, *op.repeatable
		}
	}
	return ok(body)
}

// pollNone answers where nothing was asynchronous.
func (b *Broker) pollNone(at target) response {
	_, bound := b.books.bindings[at]
	_, provisioned := b.books.instances[at.id()]
	switch {
	case bound, provisioned:
		return ok(map[string]any{"state": succeeded})
	case b.books.histories[at.id()] != nil:
		return response{status: http.StatusGone}
	}
	return refuse(http.StatusNotFound, "", "there is none")
}
