package examiner

import (
	"net/http"
	"net/url"
)

// removal is the request for something to be removed.
func (e *runner) removal(t target, plan string) operation {
	o := operation{
		name: "deprovision", target: t, good: http.StatusOK, done: "DEP-1", asyncRequired: "DEP-4", again: "DEP-5", sameOperation: "DEP-5",
		request: request{method: http.MethodDelete, path: t.path(), query: url.Values{"service_id": {e.service.ID}, "plan_id": {plan}}},
	}
	if t.binding != "" {
		o.name, o.done, o.asyncRequired, o.again, o.sameOperation = "unbind", "UNB-1", "UNB-4", "UNB-5", "UNB-5"
	}
	return o
}

// checkGone judges whether what was removed is gone.
func (e *runner) checkGone(id string, o *operation) {
	again := e.ask(e.full(o))
	e.judgef(id, again.status == http.StatusGone, "the same %s again was answered %s", o.name, again)
	if again.status == http.StatusGone {
		e.ledger.close(o.target)
	}
}

// halted removes what is being made. A broker may refuse that, until it is made.
func (e *runner) halted(o *operation, first answer, halts, goes string) {
	removal := e.removal(o.target, e.ledger.find(o.target).plan)
	a := e.ask(e.full(&removal))
	switch {
	case a.status == http.StatusOK, a.status == http.StatusAccepted:
		ended := a.status == http.StatusOK || e.outlast(&removal, a, inProgress)
		again := e.ask(e.full(&removal))
		e.judgef(halts, ended && again.status == http.StatusGone, "it is there still: the same %s again was answered %s", removal.name, again)
	case a.refuses():
		e.judgef("CON-1", a.is("ConcurrencyError"), "%s while it is being made was answered %s", removal.name, a)
		e.sheet.Pass(halts, "the broker refuses it")
		e.outlast(o, first, inProgress)
		if _, done := e.perform(removal); done {
			e.checkGone(goes, &removal)
		}
	}
}
