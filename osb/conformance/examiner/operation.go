package examiner

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A target is an instance, or a binding of it.
type target struct{ instance, binding string }

func (t target) path() string {
	path := "/v2/service_instances/" + url.PathEscape(t.instance)
	if t.binding != "" {
		path += "/service_bindings/" + url.PathEscape(t.binding)
	}
	return path
}

func bindingPath(path string) bool { return strings.Contains(path, "/service_bindings/") }

// An operation is a request that changes something, with the rules that its answers are
// judged by.
type operation struct {
	request

	target target
	name   string
	// good is the status that says that it is done.
	good int
	// done, asyncRequired, again and sameOperation are the IDs of rules: what the answer is, what
	// it is without accepts_incomplete, and what the same request is answered while it runs.
	done, asyncRequired, again, sameOperation string
	// meanwhile asks for other things while it runs.
	meanwhile func() []finding
}

// A finding is what was seen while an operation ran, if it still did afterwards.
type finding struct {
	id     string
	kept   bool
	detail string
}

// A runner has operations done, and follows them to their end.
type runner struct{ *examiner }

func (o *operation) deletes() bool { return o.method == http.MethodDelete }

// asynchronous says whether the version that is spoken lets an operation be answered with 202.
func (e *runner) asynchronous(o *operation) bool {
	return o.target.binding == "" || e.supports("2.14")
}

// full is the request as it is sent where an asynchronous answer is accepted.
func (e *runner) full(o *operation) request {
	if e.asynchronous(o) {
		return o.with("accepts_incomplete", "true")
	}
	return o.request
}

// perform has an operation done, and says how it was answered at last and whether it succeeded.
func (e *runner) perform(o operation) (answer, bool) {
	a := e.begin(&o)
	switch {
	case a.status == http.StatusAccepted && e.asynchronous(&o):
		e.judgef(o.done, a.body != nil, "%s: a 202 without an object", o.name)
		return a, e.follow(&o, a)
	case a.status == o.good:
		e.judgef(o.done, a.body != nil || o.deletes(), "%s: a %d without an object", o.name, a.status)
		return a, true
	case a.refuses():
		e.sheet.Pass(o.done, o.name+" was refused with "+a.String())
	default:
		e.judgef(o.done, false, "%s: answered %s", o.name, a)
	}
	return a, false
}

// begin sends an operation, at first without accepts_incomplete unless the examination is in a
// hurry.
func (e *runner) begin(o *operation) answer {
	if e.hurried || !e.asynchronous(o) {
		return e.ask(e.full(o))
	}
	first := e.ask(o.request)
	switch {
	case first.status == http.StatusAccepted:
		e.judgef(o.asyncRequired, false, "%s: answered 202 without accepts_incomplete", o.name)
		return first
	case !first.refuses():
		e.sheet.Pass(o.asyncRequired, "the plan does it at once")
		return first
	}
	second := e.ask(e.full(o))
	if second.status == http.StatusAccepted {
		e.judgef(o.asyncRequired, first.is("AsyncRequired"), "%s: answered %s without accepts_incomplete", o.name, first)
	}
	return second
}

// maxOperation is the most characters of an operation.
const maxOperation = 10000

// follow asks while an operation runs what can be asked only then, and waits for its end.
func (e *runner) follow(o *operation, first answer) bool {
	if value, has := first.body["operation"]; has {
		text, is := value.(string)
		e.judgef("POLL-4", value == nil || is && len([]rune(text)) <= maxOperation, "%s: operation is no text, or too long a one", o.name)
	}
	again := e.ask(e.full(o))
	var findings []finding
	if o.meanwhile != nil {
		findings = o.meanwhile()
	}
	state := e.poll(o, first)
	if state == inProgress {
		e.checkAgain(o, first, again)
		for _, f := range findings {
			e.judgef(f.id, f.kept, "%s", f.detail)
		}
	}
	return e.outlast(o, first, state)
}

// checkAgain judges how the same request is answered while it runs. A broker may process no
// two requests at once.
func (e *runner) checkAgain(o *operation, first, again answer) {
	if again.is("ConcurrencyError") {
		e.judgef("CON-1", true, "")
		return
	}
	e.judgef(o.again, again.status == http.StatusAccepted, "%s: the same again, while it runs, was answered %s", o.name, again)
	if again.status == http.StatusAccepted {
		one, had := first.operation()
		other, has := again.operation()
		e.judgef(o.sameOperation, one == other && had == has, "%s: the same again has another operation", o.name)
	}
}

// The states of an operation; gone is the answer 410.
const (
	inProgress = "in progress"
	succeeded  = "succeeded"
	failed     = "failed"
	gone       = "gone"
)

// poll asks for the state of an operation, and judges the answer. Empty: there is none.
func (e *runner) poll(o *operation, first answer) string {
	r := request{method: http.MethodGet, path: o.target.path() + "/last_operation", query: url.Values{}}
	entry := e.ledger.find(o.target)
	r = r.with("service_id", e.service.ID).with("plan_id", entry.plan)
	if key, has := first.operation(); has {
		r = r.with("operation", key)
	}
	a := e.ask(r)
	e.patience(a)
	if o.deletes() && (a.status == http.StatusGone || a.status == http.StatusNotFound) {
		return gone
	}
	state, _ := a.body["state"].(string)
	lawful := state == inProgress || state == succeeded || state == failed
	e.judgef("POLL-1", a.status == http.StatusOK && lawful, "%s: a poll was answered %s, or without a lawful state", o.name, a)
	if state == failed {
		e.checkFlags(a, o.method == http.MethodPatch, o.deletes() && o.target.binding == "")
	}
	if a.status != http.StatusOK || !lawful {
		return ""
	}
	return state
}

// patience waits as long as an answer asks for, or as the options say.
func (e *runner) patience(a answer) {
	e.wait(max(min(a.retryAfter(), time.Minute), e.options.PollInterval))
}

// outlast polls until an operation ends, and says whether it succeeded.
func (e *runner) outlast(o *operation, first answer, state string) bool {
	for until := time.Now().Add(e.options.Patience); (state == inProgress || state == "") && e.ctx.Err() == nil && time.Now().Before(until); {
		state = e.poll(o, first)
	}
	return state == succeeded || state == gone
}
