package observer

import (
	"net/http"
	"slices"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// any of these verbs is what most rules are about.
var (
	changing = []osbtest.Verb{osbtest.Provision, osbtest.Update, osbtest.Deprovision, osbtest.Bind, osbtest.Unbind}
	making   = []osbtest.Verb{osbtest.Provision, osbtest.Bind}
	polling  = []osbtest.Verb{osbtest.PollInstance, osbtest.PollBinding}
	fetching = []osbtest.Verb{osbtest.FetchInstance, osbtest.FetchBinding}
)

func of(verbs ...osbtest.Verb) func(osbtest.Call) bool { return osbtest.Of(verbs...) }

// gives is for calls whose body has one of some fields.
func gives(fields ...string) func(osbtest.Call) bool {
	return func(call osbtest.Call) bool {
		return slices.ContainsFunc(fields, func(field string) bool { return call.Body[field] != nil })
	}
}

func both(one, two func(osbtest.Call) bool) func(osbtest.Call) bool {
	return func(call osbtest.Call) bool { return one(call) && two(call) }
}

func shutOut(call osbtest.Call) bool {
	refused := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusPreconditionFailed}
	return creates(call) && slices.Contains(refused, call.Status)
}

// evidence are the calls by which a rule is seen to be kept, if none broke it.
var evidence = map[string]func(osbtest.Call) bool{
	"M1.1":  func(osbtest.Call) bool { return true },
	"M1.2":  func(osbtest.Call) bool { return true },
	"M1.3":  hasRequestID,
	"M1.4":  func(call osbtest.Call) bool { return call.Raw != nil },
	"M2.1":  both(of(osbtest.Provision, osbtest.Update, osbtest.Bind), hasIdentity),
	"M2.3":  hasIdentity,
	"M3.1":  of(changing...),
	"M3.2":  of(changing...),
	"M3.3":  of(changing...),
	"M3.4":  gives("context"),
	"M3.6":  gives("parameters", "maintenance_info"),
	"M4.1":  of(changing...),
	"M5.1":  of(polling...),
	"M6.1":  of(slices.Concat(polling, []osbtest.Verb{osbtest.Deprovision, osbtest.Unbind})...),
	"M7.1":  of(osbtest.Update),
	"M8.1":  of(osbtest.Bind),
	"M8.2":  both(of(osbtest.Update), gives("plan_id")),
	"M8.3":  of(fetching...),
	"M8.4":  gives("predecessor_binding_id"),
	"M8.5":  of(osbtest.Update),
	"M9.1":  of(osbtest.Deprovision),
	"M10.1": of(making...),
	"M11.1": of(polling...),
	"M11.2": of(polling...),
	"M12.1": of(changing...),
	"M12.2": of(changing...),
	"M12.3": func(call osbtest.Call) bool { return creates(call) && refusedAsBusy(call) },
	"M13.1": shutOut,
	"M14.1": of(making...),
}

// keep says of each rule that was not broken whether something was seen of it.
func (r *record) keep(mitigations []osbtest.Mitigation) {
	for id, is := range evidence {
		if r.some(is) {
			r.sheet.Keep(id)
		}
		r.sheet.Explain(id, "no call was about it")
	}
	if slices.ContainsFunc(mitigations, func(m osbtest.Mitigation) bool { return m.Done && !m.Unexpected() }) {
		r.sheet.Keep("M10.2")
	}
	r.sheet.Explain("M10.2", "nothing was to be cleaned up: give the broker a script of faults")
}
