package examiner

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"sync"

	"github.com/google/uuid"

	"github.com/defaultplan/defaultplan/osb/conformance"
)

// newScrap is a sheet that is thrown away.
func newScrap() *conformance.Sheet { return conformance.NewSheet(conformance.Broker, "2.13") }

func get(path string) request {
	return request{method: http.MethodGet, path: path, query: url.Values{}}
}

// environment is the context that requests come with.
func environment() object {
	return object{"platform": "kubernetes", "namespace": "osb-conformance", "clusterid": "osb-conformance", "instance_name": "osb-conformance"}
}

// instances are judged through their lives, with what is bound to them.
type instances struct {
	*runner

	bound *bindings
}

// provision is the request for a new instance of the chosen plan.
func (e *instances) provision() operation {
	t := target{instance: uuid.NewString()}
	e.ledger.open(t, e.plan.ID)
	body := object{
		"service_id": e.service.ID, "plan_id": e.plan.ID, "organization_guid": "osb-conformance", "space_guid": "osb-conformance", "context": environment(),
	}
	addParameters(body, e.options.Parameters.Provision)
	return operation{
		name: "provision", target: t, good: http.StatusCreated, done: "PRO-1", asyncRequired: "PRO-6", again: "PRO-2", sameOperation: "PRO-3",
		request: request{method: http.MethodPut, path: t.path(), body: body, query: url.Values{}},
	}
}

func addParameters(body object, parameters json.RawMessage) {
	if len(parameters) > 0 {
		body["parameters"] = parameters
	}
}

// retrievable says whether instances of the chosen service can be fetched.
func (e *instances) retrievable() bool { return e.service.InstancesRetrievable && e.supports("2.14") }

// checkAbsent judges what is answered of an instance that never was.
func (e *instances) checkAbsent() {
	t := target{instance: uuid.NewString()}
	poll := e.ask(get(t.path()+"/last_operation").with("service_id", e.service.ID).with("plan_id", e.plan.ID))
	e.judgef("POLL-2", poll.status == http.StatusNotFound, "answered %s", poll)
	if e.retrievable() {
		fetched := e.ask(get(t.path()))
		e.judgef("GETI-2", fetched.status == http.StatusNotFound, "answered %s", fetched)
	}
	o := e.removal(t, e.plan.ID)
	removed := e.ask(e.full(&o))
	e.judgef("DEP-2", removed.status == http.StatusGone, "answered %s", removed)
}

// checkRefused judges requests that no broker may accept, and what they leave.
func (e *instances) checkRefused() {
	for _, lacking := range []string{"", "service_id", "plan_id", "organization_guid", "space_guid"} {
		o := e.provision()
		sent, what := e.full(&o).spoiled(lacking)
		a := e.ask(sent)
		e.judgef("PRO-4", a.status == http.StatusBadRequest, "%s: answered %s", what, a)
		e.checkNothingLeft(&o, a)
	}
	if e.plan.MaintenanceInfo != nil {
		o := e.provision()
		a := e.ask(e.full(&o).having("maintenance_info", object{"version": otherVersion}))
		e.judgef("PRO-7", a.is("MaintenanceInfoConflict"), "answered %s", a)
		e.checkNothingLeft(&o, a)
	}
}

// otherVersion is no version of any catalog.
const otherVersion = "0.0.0-osb-conformance"

// checkNothingLeft judges whether a provision that was refused left an instance.
func (e *instances) checkNothingLeft(o *operation, a answer) {
	if !a.refuses() || e.sheet.Outcome("DEP-2") != conformance.Kept {
		return
	}
	removal := e.removal(o.target, e.plan.ID)
	removed := e.ask(e.full(&removal))
	e.judgef("ERR-4", removed.status == http.StatusGone, "its deprovisioning was answered %s", removed)
	if removed.status == http.StatusGone {
		e.ledger.close(o.target)
	}
}

// live goes through the life of an instance.
func (e *instances) live() {
	o := e.provision()
	o.meanwhile = func() []finding {
		if !e.retrievable() {
			return nil
		}
		a := e.ask(get(o.target.path()))
		return []finding{{"GETI-3", a.status == http.StatusNotFound, "answered " + a.String()}}
	}
	a, made := e.perform(o)
	if !made {
		if a.refuses() {
			e.refusal = errRefused
		}
		return
	}
	e.checkDashboard(&o, a)
	if !e.hurried {
		e.checkRepeated(&o)
	}
	e.update(o.target)
	e.bound.live(o.target)
	e.deprovision(o.target)
}

// hurry goes through the life of an instance again, with what is asynchronous from the first request.
func (e *instances) hurry() {
	e.hurried = true
	e.live()
}

// checkDashboard judges the dashboard_url of the first answer, and whether a fetched instance has
// one that was not in it.
func (e *instances) checkDashboard(o *operation, first answer) {
	early := first.body["dashboard_url"]
	if early != nil {
		_, is := early.(string)
		e.judgef("PRO-8", is, "dashboard_url is neither a string nor null")
	}
	if !e.retrievable() {
		return
	}
	fetched := e.ask(get(o.target.path()))
	e.judgef("GETI-1", fetched.status == http.StatusOK && fetched.body != nil, "answered %s, or without an object", fetched)
	if url := fetched.body["dashboard_url"]; url != nil {
		e.judgef("PRO-9", early != nil, "the first answer had none, after a %s", first)
	}
}

// checkRepeated judges requests for an instance that is there.
func (e *instances) checkRepeated(o *operation) {
	same := e.ask(e.full(o))
	extended := e.ask(e.full(o).having("x-osb-conformance", object{"unknown": true}))
	e.judgef("EXT-1", same.status == extended.status, "answered %s, and %s without the field", extended, same)
	other := e.full(o).having("parameters", object{"osb-conformance": "other"})
	if plan := e.service.other(e.plan); plan != nil {
		other = e.full(o).having("plan_id", plan.ID)
		e.ledger.find(o.target).may(plan.ID)
	}
	a := e.ask(other)
	if a.refuses() && a.status != http.StatusConflict {
		e.sheet.Pass("PRO-5", "the other attributes were refused with "+a.String())
		return
	}
	e.judgef("PRO-5", a.status == http.StatusConflict, "answered %s", a)
}

// race sends one request twice at the same time.
func (e *instances) race() {
	o := e.provision()
	var answers [2]answer
	var both sync.WaitGroup
	for i := range answers {
		both.Go(func() {
			got, err := e.send(e.ctx, e.full(&o))
			if err == nil {
				answers[i] = got
			}
		})
	}
	both.Wait()
	for _, a := range answers {
		lawful := a.status == http.StatusOK || a.status == http.StatusCreated || a.status == http.StatusAccepted || a.status == http.StatusConflict
		e.judgef("CON-1", lawful || a.is("ConcurrencyError"), "one of two provisions at the same time was answered %s", a)
	}
	if !e.settled(&o, answers[0], answers[1]) {
		return // The removal of everything waits for it.
	}
	e.deprovision(o.target)
}

// settled waits for an instance that was asked for twice, unless it is not clear by which operation.
func (e *instances) settled(o *operation, one, two answer) bool {
	if one.status != http.StatusAccepted {
		one, two = two, one
	}
	if one.status != http.StatusAccepted {
		return true
	}
	if two.status == http.StatusAccepted {
		key, had := one.operation()
		other, has := two.operation()
		same := key == other && had == has
		e.judgef("PRO-3", same, "two provisions at the same time have two operations")
		if !same {
			return false
		}
	}
	return e.outlast(o, one, inProgress)
}

// shown is what a fetched instance says of its plan and its parameters.
func shown(a answer) object {
	some := maps.Clone(a.body)
	maps.DeleteFunc(some, func(key string, _ any) bool { return key != "plan_id" && key != "parameters" })
	return some
}

// seen fetches what an instance says of itself; nil where it cannot be fetched.
func (e *instances) seen(t target) object {
	if !e.retrievable() {
		return nil
	}
	if a := e.ask(get(t.path())); a.status == http.StatusOK {
		return shown(a)
	}
	return nil
}

// checkKept judges whether a field of an instance is as it was before.
func (e *instances) checkKept(id, field string, before, after object) {
	was, had := before[field]
	if had && after != nil {
		e.judgef(id, reflect.DeepEqual(was, after[field]), "%s is not as before", field)
	}
}

// deprovision removes an instance, and judges whether it is gone.
func (e *instances) deprovision(t target) {
	current := e.ledger.find(t)
	o := e.removal(t, current.plan)
	if !e.hurried {
		for _, lacking := range []string{"service_id", "plan_id"} {
			a := e.ask(e.full(&o).without(lacking))
			e.judgef("DEP-3", a.status == http.StatusBadRequest, "without %s: answered %s", lacking, a)
		}
	}
	if _, done := e.perform(o); done {
		e.checkGone("DEP-6", &o)
	}
}

// halt removes an instance while it is being made.
func (e *instances) halt() {
	o := e.provision()
	if a := e.ask(e.full(&o)); a.status == http.StatusAccepted {
		e.halted(&o, a, "DEP-7", "DEP-6")
		return
	}
	e.sheet.Pass("DEP-7", "instances are made at once")
	e.deprovision(o.target)
}
