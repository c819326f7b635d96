package examiner

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/google/uuid"
)

// bindings are judged through their lives.
type bindings struct{ *runner }

// bind is the request for a new binding.
func (e *bindings) bind(instance string) operation {
	t := target{instance, uuid.NewString()}
	plan := e.ledger.find(target{instance: instance}).plan
	e.ledger.open(t, plan)
	body := object{
		"service_id": e.service.ID, "plan_id": plan, "context": environment(), "app_guid": "osb-conformance",
		"bind_resource": object{"app_guid": "osb-conformance"},
	}
	addParameters(body, e.options.Parameters.Bind)
	return operation{
		name: "bind", target: t, good: http.StatusCreated, done: "BIND-1", asyncRequired: "BIND-6", again: "BIND-3", sameOperation: "BIND-3",
		request: request{method: http.MethodPut, path: t.path(), body: body, query: url.Values{}}, meanwhile: func() []finding { return e.besideBind(t) },
	}
}

// fetchable says whether bindings of the chosen service can be fetched.
func (e *bindings) fetchable() bool { return e.service.BindingsRetrievable && e.supports("2.14") }

// besideBind fetches a binding while it is being made.
func (e *bindings) besideBind(t target) []finding {
	if !e.fetchable() {
		return nil
	}
	a := e.ask(get(t.path()))
	return []finding{{"GETB-3", a.status == http.StatusNotFound, "answered " + a.String()}}
}

// live goes through the life of bindings of an instance.
func (e *bindings) live(instance target) {
	if !e.service.bindable(e.plan) {
		e.sheet.Pass("BIND-1", "the plan is not bindable")
		return
	}
	if !e.hurried {
		e.checkAbsentBinding(instance.instance)
		e.checkRefusedBinds(instance.instance)
		e.checkWithoutApp(instance.instance)
	}
	o := e.bind(instance.instance)
	first, made := e.perform(o)
	if !made {
		return
	}
	e.checkMade(&o, first)
	if !e.hurried {
		e.checkOtherParameters(&o)
		e.rotate(&o)
	}
	e.unbind(o.target)
	if e.hurried {
		e.haltBinding(instance.instance)
	}
}

// checkAbsentBinding judges what is answered of a binding that never was.
func (e *bindings) checkAbsentBinding(instance string) {
	t := target{instance, uuid.NewString()}
	plan := e.ledger.find(target{instance: instance}).plan
	if e.supports("2.14") {
		poll := e.ask(get(t.path()+"/last_operation").with("service_id", e.service.ID).with("plan_id", plan))
		e.judgef("POLL-3", poll.status == http.StatusNotFound, "answered %s", poll)
	}
	if e.fetchable() {
		fetched := e.ask(get(t.path()))
		e.judgef("GETB-2", fetched.status == http.StatusNotFound, "answered %s", fetched)
	}
	o := e.removal(t, plan)
	removed := e.ask(e.full(&o))
	e.judgef("UNB-2", removed.status == http.StatusGone, "answered %s", removed)
}

// checkRefusedBinds judges requests that no broker may accept.
func (e *bindings) checkRefusedBinds(instance string) {
	for _, lacking := range []string{"", "service_id", "plan_id"} {
		o := e.bind(instance)
		sent, what := e.full(&o).spoiled(lacking)
		a := e.ask(sent)
		e.judgef("BIND-4", a.status == http.StatusBadRequest, "%s: answered %s", what, a)
	}
}

// checkWithoutApp judges how a bind that names no application is refused, if it is and one that
// does is not.
func (e *bindings) checkWithoutApp(instance string) {
	o := e.bind(instance)
	a := e.ask(e.full(&o).without("app_guid").without("bind_resource"))
	if a.status == http.StatusAccepted {
		e.outlast(&o, a, inProgress)
	}
	if !a.refuses() {
		e.sheet.Pass("BIND-8", "the broker needs no application")
		e.unbind(o.target)
		return
	}
	with := e.bind(instance)
	named := e.ask(e.full(&with))
	if named.status == http.StatusAccepted {
		e.outlast(&with, named, inProgress)
	}
	if named.succeeds() {
		e.judgef("BIND-8", a.is("RequiresApp"), "answered %s", a)
		e.unbind(with.target)
	}
}

// information are the fields that a binding consists of.
var information = []string{"credentials", "syslog_drain_url", "route_service_url", "volume_mounts"}

// checkMade judges what a binding that was made consists of.
func (e *bindings) checkMade(o *operation, first answer) {
	if first.status == http.StatusAccepted {
		leaks := slices.ContainsFunc(information, func(field string) bool { return first.body[field] != nil })
		e.judgef("BIND-2", !leaks, "a 202 has fields of the binding")
	}
	bodies := []object{first.body}
	if e.fetchable() {
		fetched := e.ask(get(o.target.path()))
		e.judgef("GETB-1", fetched.status == http.StatusOK && fetched.body != nil, "answered %s, or without an object", fetched)
		bodies = append(bodies, fetched.body)
	}
	for _, body := range bodies {
		if credentials := body["credentials"]; credentials != nil {
			_, is := credentials.(object)
			e.judgef("BIND-7", is, "credentials are no object")
		}
		e.checkBinding(body)
	}
	e.sheet.Pass("BIND-7", "no answer had credentials")
}

// checkOtherParameters asks for a binding that exists with other parameters.
func (e *bindings) checkOtherParameters(o *operation) {
	a := e.ask(e.full(o).having("parameters", object{"osb-conformance": "other"}))
	if a.refuses() && a.status != http.StatusConflict {
		e.sheet.Pass("BIND-5", "the other parameters were refused with "+a.String())
		return
	}
	e.judgef("BIND-5", a.status == http.StatusConflict, "answered %s", a)
}

// rotate makes a successor of a binding, beside which the predecessor stays valid.
func (e *bindings) rotate(old *operation) {
	if !e.plan.BindingRotatable || !e.supports("2.17") {
		e.sheet.Pass("ROT-1", "the plan is not binding_rotatable")
		return
	}
	successor := e.bind(old.target.instance)
	successor.done = "ROT-1"
	successor.request = successor.having("predecessor_binding_id", old.target.binding)
	a, made := e.perform(successor)
	e.judgef("ROT-1", made, "a bind with predecessor_binding_id was answered %s", a)
	if !made {
		return
	}
	if e.fetchable() {
		kept := e.ask(get(old.target.path()))
		e.judgef("ROT-2", kept.status == http.StatusOK, "the predecessor was fetched, and answered %s", kept)
	} else {
		kept := e.ask(e.full(old))
		e.judgef("ROT-2", kept.status == http.StatusOK, "the bind of the predecessor was sent again, and answered %s", kept)
	}
	e.unbind(successor.target)
}

// unbind removes a binding, and judges whether it is gone.
func (e *bindings) unbind(t target) {
	o := e.removal(t, e.ledger.find(t).plan)
	if !e.hurried {
		for _, lacking := range []string{"service_id", "plan_id"} {
			a := e.ask(e.full(&o).without(lacking))
			e.judgef("UNB-3", a.status == http.StatusBadRequest, "without %s: answered %s", lacking, a)
		}
	}
	if _, done := e.perform(o); done {
		e.checkGone("UNB-6", &o)
	}
}

// haltBinding removes a binding while it is being made.
func (e *bindings) haltBinding(instance string) {
	o := e.bind(instance)
	a := e.ask(e.full(&o))
	if a.status == http.StatusAccepted && e.asynchronous(&o) {
		e.halted(&o, a, "UNB-7", "UNB-6")
		return
	}
	e.sheet.Pass("UNB-7", "bindings are made at once")
	e.unbind(o.target)
}
