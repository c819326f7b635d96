package examiner

import (
	"net/http"
	"net/url"
)

// change is the request for an update of an instance that changes nothing yet.
func (e *instances) change(t target) operation {
	body := object{"service_id": e.service.ID, "context": environment(), "previous_values": object{"plan_id": e.ledger.find(t).plan}}
	return operation{
		name: "update", target: t, good: http.StatusOK, done: "UPD-1", asyncRequired: "UPD-7", again: "UPD-9", sameOperation: "UPD-9",
		request: request{method: http.MethodPatch, path: t.path(), body: body, query: url.Values{}}, meanwhile: func() []finding { return e.besideUpdate(t) },
	}
}

// besideUpdate fetches an instance, and sends another update, while it is updated. That one changes
// nothing: neither may a broker refuse it for what it changes, nor is the instance another for it.
func (e *instances) besideUpdate(t target) []finding {
	var findings []finding
	if e.retrievable() {
		a := e.ask(get(t.path()))
		findings = append(findings, finding{"GETI-4", a.status == http.StatusOK || a.is("ConcurrencyError"), "answered " + a.String()})
	}
	o := e.change(t)
	a := e.ask(e.full(&o))
	return append(findings, finding{"CON-1", a.succeeds() || a.is("ConcurrencyError"), "another update while one runs was answered " + a.String()})
}

// update changes an instance in the ways that its plan has.
func (e *instances) update(t target) {
	if !e.hurried {
		e.checkRefusedUpdates(t)
	}
	other := e.service.other(e.plan)
	if other != nil && e.service.updatable(e.plan) {
		e.changePlan(t, other.ID)
		if e.service.updatable(other) && e.ledger.find(t).plan == other.ID {
			e.changePlan(t, e.plan.ID)
		}
	}
	e.changeParameters(t)
}

// checkRefusedUpdates judges updates that no broker may accept, and whether they changed
// something.
func (e *instances) checkRefusedUpdates(t target) {
	before := e.seen(t)
	o := e.change(t)
	var a answer
	for _, lacking := range []string{"", "service_id"} {
		sent, what := e.full(&o).having("parameters", object{}).spoiled(lacking)
		a = e.ask(sent)
		e.judgef("UPD-2", a.status == http.StatusBadRequest, "%s: answered %s", what, a)
	}
	if e.plan.MaintenanceInfo != nil {
		a = e.ask(e.full(&o).having("maintenance_info", object{"version": otherVersion}))
		e.judgef("UPD-8", a.is("MaintenanceInfoConflict"), "answered %s", a)
	}
	if other := e.service.other(e.plan); other != nil && !e.service.updatable(e.plan) {
		e.ledger.find(t).may(other.ID)
		a = e.ask(e.full(&o).having("plan_id", other.ID))
		e.judgef("UPD-3", a.status == http.StatusUnprocessableEntity, "answered %s", a)
	}
	if a.refuses() {
		after := e.seen(t)
		e.checkKept("UPD-6", "plan_id", before, after)
		e.checkKept("UPD-6", "parameters", before, after)
	}
}

// changePlan changes an instance's plan, and nothing else.
func (e *instances) changePlan(t target, plan string) {
	before := e.seen(t)
	o := e.change(t)
	o.request = o.having("plan_id", plan)
	e.ledger.find(t).may(plan)
	if _, done := e.perform(o); done {
		e.ledger.find(t).plan = plan
		e.checkKept("UPD-5", "parameters", before, e.seen(t))
	}
}

// changeParameters changes an instance's parameters, and nothing else.
func (e *instances) changeParameters(t target) {
	before := e.seen(t)
	o := e.change(t)
	o.request = o.having("parameters", object{})
	addParameters(o.body, e.options.Parameters.Update)
	if _, done := e.perform(o); done {
		e.checkKept("UPD-4", "plan_id", before, e.seen(t))
	}
}
