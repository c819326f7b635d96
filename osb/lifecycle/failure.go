package lifecycle

import (
	"fmt"

	"github.com/defaultplan/defaultplan/osb"
)

// A failure is a call that creates, changes or removes, and that failed.
type failure struct {
	call *call
	err  *osb.Error
	// reason and message say it to people.
	reason, message string
}

func failureOf(c *call, e *osb.Error) failure {
	reason, message := told(c.words.reason(e), e)
	return failure{call: c, err: e, reason: reason, message: message}
}

// outcome is what the failure leads to.
func (f failure) outcome() Outcome {
	c, e := f.call, f.err
	if e.Usable != nil && c.resource.Kind == Instance {
		c.record.Unusable = !*e.Usable
	}
	var o Outcome
	switch c.decision.Step {
	case Deprovision, MitigateOrphan:
		o = f.ofDeprovision()
	case Update:
		o = f.ofUpdate()
	case Rest, Provision, Poll, Fetch, Release:
		o = f.ofProvision()
	}
	o.Relist = o.Relist || e.Kind == osb.MaintenanceConflict
	return o
}

// ofDeprovision handles a failed removal. 410 is success, and so is 404 if
// the broker's address is known to be right.
func (f failure) ofDeprovision() Outcome {
	c, e := f.call, f.err
	if e.Kind != osb.Gone || e.StatusCode != statusGone && !c.facts.BrokerReady {
		o := c.again(f.reason, f.message, e)
		o.Relist = e.Kind == osb.Gone // is its address right?
		return o
	}
	return c.deprovisioned()
}

// ofProvision handles a failed provision or bind.
func (f failure) ofProvision() Outcome {
	c, e := f.call, f.err
	switch {
	case Orphans(Provision, e) && c.resource.own():
		return c.undo(f.reason, f.message, e)
	case Orphans(Provision, e): // the same request brings it to light
		return c.again(f.reason, f.message, e)
	case e.Kind == osb.Conflict:
		return f.conflicts()
	}
	if refused(e) {
		f.restore()
	}
	switch {
	case forGood(e) && c.resource.Kind == Binding && c.resource.own() && c.resource.Record.FetchRequired:
		return c.discard(f.reason, f.message) // it was made before its credentials were asked for
	case forGood(e):
		return c.stop(f.reason, f.message)
	}
	return c.again(f.reason, f.message, e)
}

// refused says whether the request had no effect: it was not sent, or the
// broker rejected it.
func refused(e *osb.Error) bool { return e.Kind == osb.NeverSent || e.StatusCode >= statusBadRequest }

// conflicts: something else exists under the ID, or the same that an earlier
// request of this object created.
func (f failure) conflicts() Outcome {
	c := f.call
	lost := c.resource.own() && c.resource.Record.InProgress != nil
	request := c.record.InProgress
	switch {
	case c.facts.Fetchable && (c.resource.Kind == Instance || lost):
		f.restore()
		c.record.InProgress = request
		return c.fetchAgain()
	case (c.record.Exists || c.record.FetchRequired) && c.resource.own(): // its credentials are lost
		return c.undo(reasonConflict, f.message, &osb.Error{})
	}
	f.restore()
	return c.stop(reasonConflict, f.message+fmt.Sprintf("; there is something else under the ID %q", c.record.ID))
}

// ofUpdate handles a failed update. An update is never undone. After 5xx or
// no response the broker may have made the change: the outcome stays unknown.
func (f failure) ofUpdate() Outcome {
	c, e := f.call, f.err
	if request := c.record.InProgress; refused(e) {
		f.restore() // The operation is over: new bindings need not wait for it.
		if e.StatusCode >= statusInternalServerError {
			c.record.InProgress = request
		}
	}
	if forGood(e) || e.Repeatable != nil && !*e.Repeatable {
		return c.stop(f.reason, f.message)
	}
	return c.again(f.reason, f.message, e)
}

// restore: the request had no effect. The state before it is restored.
func (f failure) restore() {
	r, before := &f.call.record, &f.call.resource.Record
	r.Operation, r.Started, r.InProgress = before.Operation, before.Started, before.InProgress
	r.DeprovisionStatus, r.FetchRequired = before.DeprovisionStatus, before.FetchRequired
}

// forGood says whether the same request would be rejected again.
func forGood(e *osb.Error) bool {
	switch e.Kind {
	case osb.Rejected:
		return e.StatusCode != statusRequestTimeout
	case osb.Conflict, osb.RequiresApp:
		return true
	case osb.Gone, osb.NotFound, osb.AsyncRequired, osb.Concurrency, osb.MaintenanceConflict, osb.Auth, osb.Version,
		osb.Unavailable, osb.BrokerFault, osb.NeverSent, osb.MaybeReceived:
	}
	return false
}
