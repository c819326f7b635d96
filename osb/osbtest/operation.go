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

// operations do what calls ask for, at once or after a 202, and answer polls.
type operations struct {
	options *Options
	script  *script
	books   *books
}

// start does the work, at once or as an operation.
func (o *operations) start(v *visit, w work) response {
	how := o.pace(v, w.plan.plan)
	if how == nil {
		delete(o.books.operations, v.target())
		w.begin()
		w.succeed()
		return w.answer()
	}
	if v.Query.Get("accepts_incomplete") != "true" {
		return refuse(http.StatusUnprocessableEntity, "AsyncRequired", "this needs accepts_incomplete=true")
	}
	w.begin()
	op := &operation{async: *how, verb: v.Verb, plan: w.plan, began: o.options.Now(), state: inProgress, work: w}
	if !o.options.NoOperation {
		// A key that must be escaped shows who does not.
		op.key = fmt.Sprintf("%s/%d?a=b&c=d e+%%2F#ü", v.Verb, v.N)
	}
	o.books.operations[v.target()] = op
	return o.announce(v, op)
}

// announce is the 202 for an operation that runs.
func (o *operations) announce(v *visit, op *operation) response {
	v.started = op
	body := map[string]any{}
	maps.Copy(body, op.work.announced)
	if op.key != "" {
		body["operation"] = op.key
	}
	return o.patiently(response{status: http.StatusAccepted, body: body})
}

// patiently adds the broker's own Retry-After.
func (o *operations) patiently(answer response) response {
	if o.options.RetryAfter != "" {
		answer.header = http.Header{"Retry-After": {o.options.RetryAfter}}
	}
	return answer
}

// pace is how a call's operation goes; nil for at once.
func (o *operations) pace(v *visit, plan string) *async {
	if v.fault.async != nil {
		return v.fault.async
	}
	if polls, found := o.script.async[v.Verb]; found {
		return &async{polls: polls}
	}
	if polls, found := o.options.Pace[plan][v.Verb]; found {
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
func (o *operations) poll(v *visit) response {
	at := v.target()
	op := o.books.operations[at]
	if op == nil {
		return o.pollNone(at)
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
		return o.patiently(ok(body))
	case failed:
		if op.usable != nil {
			body["instance_usable"], body["update_repeatable"] = *op.usable, *op.repeatable
		}
	}
	return ok(body)
}

// pollNone answers where nothing was asynchronous.
func (o *operations) pollNone(at target) response {
	_, bound := o.books.bindings[at]
	_, provisioned := o.books.instances[at.id()]
	switch {
	case bound, provisioned:
		return ok(map[string]any{"state": succeeded})
	case o.books.histories[at.id()] != nil:
		return response{status: http.StatusGone}
	}
	return refuse(http.StatusNotFound, "", "there is none")
}

// An entry is an instance or a binding, as far as calls treat the two alike.
type entry struct {
	at      target
	plan    planKey
	state   *State
	creates *int
	// enter puts it on the books.
	enter func()
	// shown is the body that answers its creation, and announced that of a 202.
	shown     func() map[string]any
	announced map[string]any
}

// create makes an entry of the books.
func (o *operations) create(v *visit, e entry) response {
	return o.start(v, work{
		plan: e.plan, announced: e.announced,
		begin: func() {
			history := o.books.history(e.at.id())
			history.Made++
			*e.creates = history.Made
			e.enter()
		},
		succeed: func() { *e.state = Ready },
		fail:    func() { *e.state = Broken },
		answer:  func() response { return response{status: http.StatusCreated, body: e.shown()} },
	})
}

// again answers a creation of what exists: the same request again, or one that contradicts
// it.
func (o *operations) again(v *visit, e entry, same bool) response {
	op := o.books.operations[e.at]
	switch {
	case op.running() && op.verb != v.Verb:
		return busy()
	case !same || *e.state == Broken:
		return refuse(http.StatusConflict, "", "the "+e.at.kind()+" exists, with other attributes")
	case op.running():
		return o.announce(v, op)
	}
	return ok(e.shown())
}

// remove takes an entry off the books. What was being made stays as broken if that fails.
func (o *operations) remove(v *visit, e entry) response {
	was := *e.state
	if was == Creating {
		was = Broken
	}
	return o.start(v, work{
		plan:    e.plan,
		begin:   func() { *e.state = Removing },
		succeed: func() { o.books.drop(e.at) },
		fail:    func() { *e.state = was },
		answer:  func() response { return ok(nil) },
	})
}
