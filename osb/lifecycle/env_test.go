package lifecycle

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/defaultplan/defaultplan/osb"
)

// A place is what a broker has under one ID.
type place int

const (
	nothing place = iota
	making
	there
	removing
)

// An env is what the broker really has under the ID in force. Tests show it to the
// code under test by responses alone.
type env struct {
	place place
	// body is what it was made with; next is what an update that runs will make of it,
	// or failedUpdate.
	body, next string
	// ours says that a request of the object made it.
	ours bool
	// cut is a request to make it that may still be acted on until a time.
	cut      bool
	cutBody  string
	cutUntil time.Time
	// secret says that the credentials are stored; for bindings.
	secret bool
}

// put is the env after a request to make something was acted on.
func (w env) put(body string, at place) env {
	if w.place == nothing {
		w.place, w.body, w.ours = at, body, true
	}
	return w
}

// landed is the env after the request that was cut off was acted on after all.
func (w env) landed() env {
	w.cut = false
	return w.put(w.cutBody, there)
}

// finished is the env after an operation that is not polled has ended.
func (w env) finished(r *Record) env {
	switch {
	case r.Async:
	case w.place == making:
		w.place = there
	case w.place == removing:
		return w.removed()
	}
	return w
}

func (w env) removed() env {
	w.place, w.ours, w.body, w.next = nothing, false, "", ""
	return w
}

// An answer is a response, and the env that it leaves.
type answer struct {
	name   string
	result CallResult
	env    env
	// took is how long the call took.
	took time.Duration
	// orphan says that table 1.15 asks for mitigation, if it was to make something.
	orphan bool
}

const (
	callTimeout  = time.Minute
	failedUpdate = "failed"
)

// refusals are answers by which nothing happens.
var refusals = map[string]osb.Error{
	"400":            {Kind: osb.Rejected, StatusCode: 400},
	"401":            {Kind: osb.Auth, StatusCode: 401},
	"404":            {Kind: osb.NotFound, StatusCode: 404},
	"408":            {Kind: osb.Rejected, StatusCode: 408},
	"412":            {Kind: osb.Version, StatusCode: 412},
	"422Async":       {Kind: osb.AsyncRequired, StatusCode: 422},
	"422Concurrency": {Kind: osb.Concurrency, StatusCode: 422},
	"422Maintenance": {Kind: osb.MaintenanceConflict, StatusCode: 422},
	"422RequiresApp": {Kind: osb.RequiresApp, StatusCode: 422},
	"422Other":       {Kind: osb.Rejected, StatusCode: 422},
	"429":            {Kind: osb.Unavailable, StatusCode: 429, RetryAfter: time.Hour},
	"NeverSent":      {Kind: osb.NeverSent},
}

// doubts are answers that do not say whether anything happened.
var doubts = map[string]osb.Error{
	"204":     {Kind: osb.BrokerFault, StatusCode: 204},
	"302":     {Kind: osb.BrokerFault, StatusCode: 302},
	"500":     {Kind: osb.BrokerFault, StatusCode: 500},
	"503":     {Kind: osb.Unavailable, StatusCode: 503, RetryAfter: time.Hour},
	"Timeout": {Kind: osb.MaybeReceived},
}

func fails(name string, e osb.Error, w env) answer {
	e.Operation = "do"
	took := time.Second
	if e.Kind == osb.MaybeReceived {
		took = callTimeout
	}
	return answer{name: name, result: CallResult{Err: &e}, env: w, took: took}
}

func sorted(errs map[string]osb.Error) []string { return slices.Sorted(maps.Keys(errs)) }

func refusing(w env) []answer {
	var all []answer
	for _, name := range sorted(refusals) {
		all = append(all, fails(name, refusals[name], w))
	}
	return all
}

func succeeds(name string, r osb.Response, w env) answer {
	return answer{name: name, result: CallResult{Response: &r}, env: w, took: time.Second}
}

// answersToProvision are all that a request to make something may be answered with.
func (w env) answersToProvision(s *scenario, body string) []answer {
	all := refusing(w)
	acted := w.put(body, there)
	for _, name := range sorted(doubts) {
		e := doubts[name]
		all = append(all, orphaned(fails(name, e, w)), orphaned(fails(name+"Acted", e, acted)), orphaned(fails(name+"Begun", e, w.put(body, making))))
	}
	late := w
	late.cut, late.cutBody = true, body
	cut := fails("Cut", osb.Error{Kind: osb.MaybeReceived}, late)
	cut.took = time.Second
	all = append(all, orphaned(cut))
	all = append(all, fails("410", osb.Error{Kind: osb.Gone, StatusCode: 410}, w),
		orphaned(fails("201Malformed", osb.Error{Kind: osb.BrokerFault, StatusCode: 201, Malformed: true}, acted)),
		orphaned(fails("202Malformed", osb.Error{Kind: osb.BrokerFault, StatusCode: 202, Malformed: true}, w.put(body, making))),
	)
	if w.place == nothing || w.place == there && w.body == body {
		all = append(all, fails("200Malformed", osb.Error{Kind: osb.BrokerFault, StatusCode: 200, Malformed: true}, acted))
	}
	if w.place != nothing {
		all = append(all, fails("409", osb.Error{Kind: osb.Conflict, StatusCode: 409}, w))
	}
	return append(all, w.made(s, body)...)
}

func orphaned(a answer) answer {
	a.orphan = true
	return a
}

// made are the answers of success that are true.
func (w env) made(s *scenario, body string) []answer {
	switch {
	case w.place == nothing:
		all := []answer{succeeds("202", osb.Response{Async: true, Operation: new("op")}, w.put(body, making)),
			succeeds("202Later", osb.Response{Async: true, RetryAfter: time.Hour}, w.put(body, making))}
		return append(all, s.credited(succeeds("201", osb.Response{Created: true}, w.put(body, there)))...)
	case w.place == making && w.body == body:
		return []answer{succeeds("202", osb.Response{Async: true}, w)}
	case w.place == there && w.body == body:
		return s.credited(succeeds("200", osb.Response{DashboardURL: "https://there"}, w))
	}
	return []answer{fails("409", osb.Error{Kind: osb.Conflict, StatusCode: 409}, w)}
}

// credited is what may become of the credentials in an answer; the first is the best.
func (s *scenario) credited(a answer) []answer {
	if s.kind == Instance {
		return []answer{a}
	}
	stored, notStored, without := a, a, a
	stored.result.Credentials, stored.env.secret = Stored, true
	notStored.name, notStored.result.Credentials, notStored.result.StoreProblem = a.name+"NotStored", NotStored, "no"
	without.name = a.name + "NoCredentials"
	return []answer{stored, notStored, without}
}

func (w env) answersToUpdate(body string) []answer {
	if w.place != there {
		return []answer{fails("404", osb.Error{Kind: osb.NotFound, StatusCode: 404}, w)}
	}
	all := refusing(w)
	changed, begun := w, w
	changed.body, begun.next = body, body
	for _, name := range sorted(doubts) {
		e := doubts[name]
		all = append(all, fails(name, e, w), fails(name+"Acted", e, changed))
	}
	once := osb.Error{Kind: osb.BrokerFault, StatusCode: 500, Repeatable: new(false), Usable: new(false)}
	return append(all, fails("NotRepeatable", once, w), fails("NotRepeatableActed", once, changed),
		fails("200Malformed", osb.Error{Kind: osb.BrokerFault, StatusCode: 200, Malformed: true}, changed),
		succeeds("202", osb.Response{Async: true, Operation: new("")}, begun), succeeds("200", osb.Response{}, changed))
}

func (w env) answersToDeprovision() []answer {
	if w.place == nothing {
		return []answer{
			fails("NeverSent", osb.Error{Kind: osb.NeverSent}, w), fails("500", osb.Error{Kind: osb.BrokerFault, StatusCode: 500}, w),
			fails("404", osb.Error{Kind: osb.Gone, StatusCode: 404}, w), fails("410", osb.Error{Kind: osb.Gone, StatusCode: 410}, w),
		}
	}
	leaving := w
	leaving.place = removing
	var all []answer
	for _, name := range sorted(refusals) {
		if name != "404" {
			all = append(all, fails(name, refusals[name], w))
		}
	}
	for _, name := range sorted(doubts) {
		e := doubts[name]
		all = append(all, fails(name, e, w), fails(name+"Acted", e, w.removed()), fails(name+"Begun", e, leaving))
	}
	all = append(all, succeeds("202", osb.Response{Async: true}, leaving))
	if w.place == removing {
		return all
	}
	unusable := osb.Error{Kind: osb.Rejected, StatusCode: 400, Usable: new(false)}
	return append(all, fails("Unusable", unusable, w), succeeds("200", osb.Response{}, w.removed()))
}

func polls(name string, last osb.LastOperation, w env) answer {
	return answer{name: name, result: CallResult{Poll: &last}, env: w, took: time.Second}
}

// answersToPoll begins with what tells nothing; the last is the best.
func (w env) answersToPoll(operation Operation) []answer {
	all := []answer{
		fails("404", osb.Error{Kind: osb.NotFound, StatusCode: 404}, w), fails("400", osb.Error{Kind: osb.Rejected, StatusCode: 400}, w),
		fails("500", osb.Error{Kind: osb.BrokerFault, StatusCode: 500}, w), fails("Timeout", osb.Error{Kind: osb.MaybeReceived}, w),
		fails("NeverSent", osb.Error{Kind: osb.NeverSent}, w), fails("Malformed", osb.Error{Kind: osb.BrokerFault, StatusCode: 200, Malformed: true}, w),
	}
	if operation != Deprovisioning || w.place == nothing {
		all = append(all, fails("410", osb.Error{Kind: osb.Gone, StatusCode: 410}, w))
	}
	if w.place == nothing { // only a removal ends so
		return append(all, polls("Succeeded", osb.LastOperation{State: osb.Succeeded}, w))
	}
	done, failed := w, w
	switch operation {
	case Deprovisioning:
		done, failed.place = w.removed(), there
	case Updating:
		done.body, failed.next = w.next, failedUpdate
	default:
		done.place, failed.place = there, there
	}
	if operation == Updating && w.next == failedUpdate { // the broker said so, and it was not recorded
		return append(all, polls("Failed", osb.LastOperation{State: osb.Failed}, w))
	}
	return append(all,
		polls("InProgress", osb.LastOperation{State: osb.InProgress, Description: "half", RetryAfter: time.Second}, w),
		polls("InProgressLong", osb.LastOperation{State: osb.InProgress, RetryAfter: time.Hour}, w),
		polls("Failed", osb.LastOperation{State: osb.Failed, Description: "no", Usable: new(false)}, failed),
		polls("Succeeded", osb.LastOperation{State: osb.Succeeded}, done))
}

func (w env) answersToFetch(s *scenario, body string) []answer {
	all := []answer{
		fails("500", osb.Error{Kind: osb.BrokerFault, StatusCode: 500}, w), fails("400", osb.Error{Kind: osb.Rejected, StatusCode: 400}, w),
		fails("Timeout", osb.Error{Kind: osb.MaybeReceived}, w), fails("401", osb.Error{Kind: osb.Auth, StatusCode: 401}, w),
	}
	found := answer{name: "Found", result: CallResult{Found: &Found{DashboardURL: "https://found"}}, env: w, took: time.Second}
	switch {
	case w.place == nothing, w.place == making, w.place == removing:
		return append(all, fails("404", osb.Error{Kind: osb.Gone, StatusCode: 404}, w))
	case s.kind == Binding:
		found.result.Found = nil
		credited := s.credited(found)
		return append(all, credited[2], credited[1], credited[0])
	case w.body != body:
		found.name, found.result.Found = "Different", &Found{Difference: "the plan"}
	}
	return append(all, found)
}

// best is the answer of a broker that does what it can.
func best(all []answer) answer { return all[len(all)-1] }

// bestMade is that of a broker that makes what it is asked for, at once.
func (w env) bestMade(s *scenario, body string) answer {
	all := w.made(s, body)
	for _, a := range all {
		if strings.HasPrefix(a.name, "201") {
			return a
		}
	}
	return all[0]
}
