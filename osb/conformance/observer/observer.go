package observer

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"

	"github.com/defaultplan/defaultplan/osb/conformance"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

//go:embed catalog.json
var catalog []byte

// slowPlan is the plan of the catalog that takes its time.
const slowPlan = "6f9b2c5e-3a70-4f4b-9d7b-6d2f6a3b7c12"

// Options are those of a broker for platforms to be judged with: its catalog has a plan for
// each rule, and what takes time asks to be polled once in a second.
func Options() osbtest.Options {
	return osbtest.Options{
		Catalog: slices.Clone(catalog), RetryAfter: "1",
		Pace: map[string]map[osbtest.Verb]int{slowPlan: {osbtest.Provision: 2, osbtest.Update: 1, osbtest.Deprovision: 1, osbtest.Bind: 1, osbtest.Unbind: 1}},
	}
}

// latest is the version of a platform that says none.
func latest() string { return conformance.Versions()[len(conformance.Versions())-1] }

// Report is what a broker has seen of a platform so far. It is judged by the version of the API
// that its calls speak, the latest if there are several.
func Report(broker *osbtest.Broker) conformance.Report {
	r := record{calls: broker.Calls(), sheet: nil}
	r.sheet = conformance.NewSheet(conformance.Platform, r.version())
	for _, violation := range broker.Violations() {
		if r.counts(violation) {
			r.sheet.Break(violation.Duty, violation.String())
		}
		if violation.Duty == "M10.1" && r.counts(violation) && r.wasBusy(violation.Call) {
			r.sheet.Break("M12.3", violation.String())
		}
	}
	for _, orphan := range broker.Orphans() {
		r.sheet.Break("M10.2", fmt.Sprintf("%s was not cleaned up, after %s to call %d", about(orphan), orphan.Why, orphan.Due))
	}
	r.keep(broker.Mitigations())
	return r.sheet.Report()
}

// about says what a mitigation is about.
func about(m osbtest.Mitigation) string {
	if m.BindingID != "" {
		return "binding " + m.BindingID
	}
	return "instance " + m.InstanceID
}

// A record is what a platform did, and what it is judged by.
type record struct {
	calls []osbtest.Call
	sheet *conformance.Sheet
}

// version is the latest that the platform speaks.
func (r *record) version() string {
	found := ""
	for _, call := range r.calls {
		if spoken := call.Header.Get("X-Broker-Api-Version"); conformance.AtLeast(spoken, found) && conformance.AtLeast(spoken, conformance.Versions()[0]) {
			found = spoken
		}
	}
	if found == "" {
		return latest()
	}
	return found
}

// some says whether a call has something.
func (r *record) some(has func(osbtest.Call) bool) bool { return slices.ContainsFunc(r.calls, has) }

func hasIdentity(call osbtest.Call) bool  { return call.Identity != nil }
func hasRequestID(call osbtest.Call) bool { return call.RequestID != "" }

// counts says whether a broken duty breaks a rule of the specification. The duties ask for more:
// for what a platform may leave out, and for what only Kubernetes has.
func (r *record) counts(v osbtest.Violation) bool {
	context, _ := v.Call.Body["context"].(map[string]any)
	polls := v.Call.Verb == osbtest.PollInstance || v.Call.Verb == osbtest.PollBinding
	switch v.Duty {
	case "M1.3":
		return r.some(hasRequestID)
	case "M2.1", "M10.1", "M13.1":
		// A removal without an identity is taken for a clean-up.
		return r.some(hasIdentity)
	case "M2.3":
		named, has := context["platform"]
		return v.Call.Identity.Platform == "kubernetes" || v.Call.Identity.Value == nil || has && named != v.Call.Identity.Platform
	case "M3.1":
		return !polls
	case "M3.4":
		return context["platform"] == "kubernetes"
	case "M6.1":
		return !polls || v.Call.Query.Get("plan_id") != ""
	}
	return true
}

// wasBusy says whether the last request to make what a call removes was refused as the broker
// was busy with another.
func (r *record) wasBusy(removal osbtest.Call) bool {
	for _, call := range slices.Backward(r.calls) {
		if call.N < removal.N && call.InstanceID == removal.InstanceID && call.BindingID == removal.BindingID && creates(call) {
			return refusedAsBusy(call)
		}
	}
	return false
}

func creates(call osbtest.Call) bool {
	return call.Verb == osbtest.Provision || call.Verb == osbtest.Bind
}

// refusedAsBusy says whether a call was answered with ConcurrencyError. The broker's other reasons
// for a 422 are that the call accepts no asynchronous answer, and its maintenance_info.
func refusedAsBusy(call osbtest.Call) bool {
	if call.Fault != "" || call.Status != http.StatusUnprocessableEntity {
		return call.Fault == osbtest.ConcurrencyError().String()
	}
	return call.Query.Get("accepts_incomplete") == "true" && call.Body["maintenance_info"] == nil
}
