package examiner_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/osb/conformance"
	"github.com/defaultplan/defaultplan/osb/conformance/examiner"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A fault is how a broker is wrong.
type fault struct {
	reason string
	// async has the broker take its time, and box has it judged with a plan that cannot be changed.
	async, box    bool
	before, after func(*visit)
}

// answers has a status replaced: of an endpoint, where another condition holds if there is one.
func answers(what string, is, instead int, when ...func(*visit) bool) func(*visit) {
	return func(v *visit) {
		if v.is(what) && v.status == is && (len(when) == 0 || when[0](v)) {
			v.status = instead
		}
	}
}

func again(v *visit) bool  { return v.times > 0 }
func made(v *visit) bool   { return v.made }
func absent(v *visit) bool { return !v.made }

// refusesAtOnce refuses what does not accept an asynchronous answer, without the code.
func refusesAtOnce(what string) func(*visit) {
	return func(v *visit) {
		if v.is(what) && !v.async() {
			v.answer(http.StatusUnprocessableEntity, object{})
		}
	}
}

// catalog changes the catalog on its way out.
func catalog(edit func(db, box object)) func(*visit) {
	return func(v *visit) {
		if services, is := v.body["services"].([]any); is {
			edit(services[0].(object), services[1].(object))
		}
	}
}

func planOf(service object, at int) object { return service["plans"].([]any)[at].(object) }

func schemaOf(db object) object {
	create := planOf(db, 0)["schemas"].(object)["service_instance"].(object)["create"].(object)
	return create["parameters"].(object)
}

// pretends answers the first removal of what was made with 200, and does nothing.
func pretends(what string, when ...func(*visit) bool) func(*visit) {
	return func(v *visit) {
		whole := v.URL.Query().Get("service_id") != "" && v.URL.Query().Get("plan_id") != ""
		if v.is(what) && v.made && v.times == 0 && whole && (len(when) == 0 || when[0](v)) {
			v.answer(http.StatusOK, object{})
		}
	}
}

// otherOperation names another operation when a request is repeated.
func otherOperation(what string) func(*visit) {
	return func(v *visit) {
		if v.is(what) && v.status == http.StatusAccepted && v.times > 0 {
			v.body["operation"] = "another"
		}
	}
}

// field sets a field of answers with 200 or 201.
func field(what, name string, value any) func(*visit) {
	return func(v *visit) {
		if v.is(what) && v.status < http.StatusAccepted {
			v.body[name] = value
		}
	}
}

// refusal sets a field of the refusals of provisions.
func refusal(name string, value any) func(*visit) {
	return func(v *visit) {
		if v.is("PUT instance") && v.status == http.StatusBadRequest {
			v.body[name] = value
		}
	}
}

const tooLong = 10_001

var faults = map[string]fault{
	"AUTH-1": {reason: "403 for wrong credentials", after: answers("GET catalog", 401, 403, func(v *visit) bool { return v.Header.Get("Authorization") != "" })},
	"AUTH-2": {reason: "403 for no credentials", after: answers("GET catalog", 401, 403, func(v *visit) bool { return v.Header.Get("Authorization") == "" })},
	"EXT-1": {reason: "strict decoding", before: func(v *visit) {
		if v.sent["x-osb-conformance"] != nil {
			v.answer(http.StatusBadRequest, object{})
		}
	}},
	"ERR-1": {reason: "an empty code", after: refusal("error", "")},
	"ERR-2": {reason: "a description that is an object", after: refusal("description", object{})},
	"ERR-3": {reason: "what is usable, of a provision", after: refusal("instance_usable", true)},
	"ERR-4": {reason: "a refused provision is made", before: func(v *visit) {
		if v.is("PUT instance") && v.sent != nil && v.sent["service_id"] == nil {
			v.change(func(sent object) { sent["service_id"] = "db" })
		}
	}, after: func(v *visit) {
		if v.is("PUT instance") && v.changed {
			v.answer(http.StatusBadRequest, object{})
		}
	}},
	"CON-1": {reason: "a 422 without the code", async: true, after: func(v *visit) {
		if v.is("PATCH instance") && v.code() == "ConcurrencyError" && v.sent["plan_id"] == nil && v.sent["parameters"] == nil {
			delete(v.body, "error")
		}
	}},
	"CAT-1":  {reason: "201", after: answers("GET catalog", 200, 201)},
	"CAT-2":  {reason: "two offerings of a name", after: catalog(func(_, box object) { box["name"] = "db" })},
	"CAT-3":  {reason: "two offerings of an ID", after: catalog(func(_, box object) { box["id"] = "db" })},
	"CAT-4":  {reason: "bindable is left out", after: catalog(func(_, box object) { delete(box, "bindable") })},
	"CAT-5":  {reason: "no plans", after: catalog(func(_, box object) { box["plans"] = []any{} })},
	"CAT-6":  {reason: "two plans of an ID, in two offerings", after: catalog(func(_, box object) { planOf(box, 0)["id"] = "small" })},
	"CAT-7":  {reason: "two plans of a name", after: catalog(func(_, box object) { planOf(box, 0)["name"] = "other" })},
	"CAT-8":  {reason: "an empty description", after: catalog(func(_, box object) { planOf(box, 0)["description"] = "" })},
	"CAT-9":  {reason: "no $schema", after: catalog(func(db, _ object) { delete(schemaOf(db), "$schema") })},
	"CAT-10": {reason: "a reference to another site", after: catalog(func(db, _ object) { schemaOf(db)["not"] = object{"$ref": "https://schemas.example/a.json"} })},
	"CAT-11": {reason: "a long description", after: catalog(func(db, _ object) { schemaOf(db)["description"] = strings.Repeat("x", 64<<10) })},
	"CAT-12": {reason: "a version of two numbers", after: catalog(func(db, _ object) { planOf(db, 1)["maintenance_info"] = object{"version": "1.0"} })},
	"CAT-13": {reason: "another ID in the second catalog", after: func(v *visit) {
		if v.times > 0 {
			catalog(func(db, _ object) { planOf(db, 0)["id"] = "small-2" })(v)
		}
	}},

	"POLL-1": {reason: "a state of its own", async: true, after: func(v *visit) {
		if v.body["state"] == "in progress" {
			v.body["state"] = "running"
		}
	}},
	"POLL-2": {reason: "200 for what never was", after: answers("GET poll", 404, 200, func(v *visit) bool { return !v.binding() })},
	"POLL-3": {reason: "410 for what never was", after: answers("GET poll", 404, 410, (*visit).binding)},
	"POLL-4": {reason: "a long operation", async: true, before: func(v *visit) {
		if query := v.URL.Query(); v.is("GET poll") {
			query.Set("operation", strings.TrimRight(query.Get("operation"), "x"))
			v.URL.RawQuery = query.Encode()
		}
	}, after: func(v *visit) {
		if operation, is := v.body["operation"].(string); is {
			v.body["operation"] = operation + strings.Repeat("x", tooLong)
		}
	}},

	"PRO-1": {reason: "200 for a new instance", after: answers("PUT instance", 201, 200)},
	"PRO-2": {reason: "200 before it is made", async: true, after: answers("PUT instance", 202, 200, again)},
	"PRO-3": {reason: "another operation", async: true, after: otherOperation("PUT instance")},
	"PRO-4": {reason: "422 for what is malformed", after: answers("PUT instance", 400, 422)},
	"PRO-5": {reason: "200 for another plan", after: answers("PUT instance", 409, 200)},
	"PRO-6": {reason: "no code", async: true, before: refusesAtOnce("PUT instance")},
	"PRO-7": {reason: "400 for another version", after: answers("PUT instance", 422, 400, func(v *visit) bool { return v.code() == "MaintenanceInfoConflict" })},
	"PRO-8": {reason: "a number", after: field("PUT instance", "dashboard_url", 7)},
	"PRO-9": {reason: "only with a fetched instance", after: field("PUT instance", "dashboard_url", nil)},

	"GETI-1": {reason: "404 for what was made", after: answers("GET instance", 200, 404)},
	"GETI-2": {reason: "410 for what never was", after: answers("GET instance", 404, 410, absent)},
	"GETI-3": {reason: "200 before it is made", async: true, after: answers("GET instance", 404, 200, made)},
	"GETI-4": {reason: "409 while it is updated", async: true, after: answers("GET instance", 422, 409)},

	"UPD-1": {reason: "201 for an update", after: answers("PATCH instance", 200, 201)},
	"UPD-2": {reason: "422 for what is malformed", after: answers("PATCH instance", 400, 422)},
	"UPD-3": {reason: "400 for a change of plan", box: true, after: answers("PATCH instance", 422, 400, func(v *visit) bool { return v.sent["plan_id"] != nil })},
	"UPD-4": {reason: "parameters change the plan", before: func(v *visit) {
		if v.is("PATCH instance") && v.sent["plan_id"] == nil && v.sent["service_id"] != nil && v.sent["maintenance_info"] == nil {
			v.change(func(sent object) { sent["plan_id"] = "large" })
		}
	}},
	"UPD-5": {reason: "a plan brings parameters", before: func(v *visit) {
		if v.is("PATCH instance") && v.sent["plan_id"] != nil {
			v.change(func(sent object) { sent["parameters"] = object{"size": "of the plan"} })
		}
	}},
	"UPD-6": {reason: "a refused update changes the plan", before: func(v *visit) {
		if v.is("PATCH instance") && v.sent["maintenance_info"] != nil {
			v.change(func(sent object) {
				delete(sent, "maintenance_info")
				sent["plan_id"] = "large"
			})
		}
	}, after: func(v *visit) {
		if v.is("PATCH instance") && v.changed {
			v.answer(http.StatusUnprocessableEntity, object{"error": "MaintenanceInfoConflict"})
		}
	}},
	"UPD-7": {reason: "no code", async: true, before: refusesAtOnce("PATCH instance")},
	"UPD-8": {reason: "400 for another version", after: answers("PATCH instance", 422, 400, func(v *visit) bool { return v.code() == "MaintenanceInfoConflict" })},
	"UPD-9": {reason: "200 before it is done", async: true, after: answers("PATCH instance", 422, 200, func(v *visit) bool {
		return v.code() == "ConcurrencyError" && v.sent["plan_id"] != nil
	})},

	"BIND-1": {reason: "200 for a new binding", after: answers("PUT binding", 201, 200)},
	"BIND-2": {reason: "credentials at once", async: true, after: func(v *visit) {
		if v.is("PUT binding") && v.status == http.StatusAccepted {
			v.body["credentials"] = object{}
		}
	}},
	"BIND-3": {reason: "200 before it is made", async: true, after: answers("PUT binding", 202, 200, again)},
	"BIND-4": {reason: "422 for what is malformed", after: answers("PUT binding", 400, 422)},
	"BIND-5": {reason: "200 for other parameters", after: answers("PUT binding", 409, 200)},
	"BIND-6": {reason: "no code", async: true, before: refusesAtOnce("PUT binding")},
	"BIND-7": {reason: "credentials that are a text", after: func(v *visit) {
		if v.body["credentials"] != nil {
			v.body["credentials"] = "user:password"
		}
	}},
	"BIND-8": {reason: "400 without an application", before: func(v *visit) {
		if v.is("PUT binding") && v.sent != nil && v.sent["app_guid"] == nil {
			v.answer(http.StatusBadRequest, object{})
		}
	}},
	"BIND-9":  {reason: "ports that are numbers", after: field("PUT binding", "endpoints", []object{{"host": "db.example.com", "ports": []int{3306}}})},
	"BIND-10": {reason: "a date without fractions", after: field("PUT binding", "metadata", object{"expires_at": "2026-01-02T03:04:05Z"})},
	"BIND-11": {reason: "not declared", after: field("PUT binding", "syslog_drain_url", "syslog://logs.example.com")},

	"ROT-1": {reason: "the predecessor is refused", before: func(v *visit) {
		if v.sent["predecessor_binding_id"] != nil {
			v.answer(http.StatusBadRequest, object{})
		}
	}},
	"ROT-2": {reason: "the predecessor ends with its successor", after: func() func(*visit) {
		replaced := ""
		return func(v *visit) {
			if id, is := v.sent["predecessor_binding_id"].(string); is {
				replaced = id
			}
			if v.is("GET binding") && replaced != "" && strings.HasSuffix(v.URL.Path, replaced) {
				v.answer(http.StatusNotFound, object{})
			}
		}
	}()},

	"GETB-1": {reason: "no object", after: func(v *visit) {
		if v.is("GET binding") && v.status == http.StatusOK {
			v.body = nil
		}
	}},
	"GETB-2": {reason: "410 for what never was", after: answers("GET binding", 404, 410, absent)},
	"GETB-3": {reason: "200 before it is made", async: true, after: answers("GET binding", 404, 200, made)},

	"UNB-1": {reason: "204", after: answers("DELETE binding", 200, 204)},
	"UNB-2": {reason: "404 for what never was", after: answers("DELETE binding", 410, 404, absent)},
	"UNB-3": {reason: "422 for what lacks something", after: answers("DELETE binding", 400, 422)},
	"UNB-4": {reason: "no code", async: true, before: refusesAtOnce("DELETE binding")},
	"UNB-5": {reason: "200 before it is done", async: true, after: answers("DELETE binding", 202, 200, again)},
	"UNB-6": {reason: "nothing is removed", before: pretends("DELETE binding")},
	"UNB-7": {reason: "the creation goes on", async: true, before: pretends("DELETE binding", func(v *visit) bool { return !v.polled })},

	"DEP-1": {reason: "204", after: answers("DELETE instance", 200, 204)},
	"DEP-2": {reason: "404 for what never was", after: answers("DELETE instance", 410, 404, absent)},
	"DEP-3": {reason: "422 for what lacks something", after: answers("DELETE instance", 400, 422)},
	"DEP-4": {reason: "no code", async: true, before: refusesAtOnce("DELETE instance")},
	"DEP-5": {reason: "200 before it is done", async: true, after: answers("DELETE instance", 202, 200, again)},
	"DEP-6": {reason: "nothing is removed", before: pretends("DELETE instance")},
	"DEP-7": {reason: "the creation goes on", async: true, before: pretends("DELETE instance", func(v *visit) bool { return !v.polled })},
}

// TestWrongBrokers: each rule is broken by a broker that is wrong in this one way, and no other is.
func TestWrongBrokers(t *testing.T) {
	t.Parallel()
	var ids []string
	for _, rule := range conformance.RulesFor(conformance.Broker) {
		ids = append(ids, rule.ID)
	}
	assert.ElementsMatch(t, ids, slices.Collect(maps.Keys(faults)), "each rule has a wrong broker")
	for id, f := range faults {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			right := osbtest.New(options(f.async))
			report := examine(t, &wrong{right: right, before: f.before, after: f.after, good: map[string]int{}, polls: map[string]bool{}}, func(o *examiner.Options) {
				if f.box {
					o.Service, o.Plan = "box", "only"
				}
			})
			found := broken(report)
			assert.Equal(t, []string{id}, slices.Collect(maps.Keys(found)), "%s: %v", f.reason, found)
			assert.Empty(t, report.Leftovers)
			assert.Empty(t, right.Instances(), "nothing is left")
			assert.Empty(t, right.Bindings())
		})
	}
}

// TestWhatABrokerMayDo: a broker is right that has no credentials to give, or takes no parameters while
// it changes the plan.
func TestWhatABrokerMayDo(t *testing.T) {
	t.Parallel()
	changes := "" // what last changed its plan
	for name, f := range map[string]struct {
		async         bool
		before, after func(right *osbtest.Broker, v *visit)
	}{
		"NoCredentials": {after: func(_ *osbtest.Broker, v *visit) { delete(v.body, "credentials") }},
		"ParametersLater": {async: true, before: func(right *osbtest.Broker, v *visit) {
			if !v.is("PATCH instance") {
				return
			}
			switch {
			case v.sent["plan_id"] != nil:
				changes = v.URL.Path
			case v.sent["parameters"] != nil && changes == v.URL.Path && len(right.Running()) > 0:
				v.answer(http.StatusUnprocessableEntity, object{})
			case v.sent["parameters"] != nil:
				changes = ""
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			right := osbtest.New(options(f.async))
			lawful := &wrong{right: right, good: map[string]int{}, polls: map[string]bool{}}
			if f.before != nil {
				lawful.before = func(v *visit) { f.before(right, v) }
			}
			if f.after != nil {
				lawful.after = func(v *visit) { f.after(right, v) }
			}
			report := examine(t, lawful)
			assert.Empty(t, broken(report))
			assert.Empty(t, report.Leftovers)
		})
	}
}
