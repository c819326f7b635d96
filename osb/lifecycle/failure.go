package lifecycle

import (
	"fmt"

	"github.com/defaultplan/defaultplan/osb"
)

// failed handles the error of a call that creates, changes or removes.
func (c *call) failed(e *osb.Error) Outcome {
	if e.Usable != nil && c.resource.Kind == Instance {
		c.record.Unusable = !*e.Usable
	}
	reason, message := told(c.words.reason(e), e)
	var o Outcome
	switch c.decision.Step {
	case Deprovision, MitigateOrphan:
		o = c.deprovisionFailed(e, reason, message)
	case Update:
		o = c.updateFailed(e, reason, message)
	case Rest, Provision, Poll, Fetch, Release:
		o = c.provisionFailed(e, reason, message)
	}
	o.Relist = o.Relist || e.Kind == osb.MaintenanceConflict
	return o
}

// deprovisionFailed handles a failed removal. 410 is success, and so is 404 if
// the broker's address is known to be right.
func (c *call) deprovisionFailed(e *osb.Error, reason, message string) Outcome {
	if e.Kind != osb.Gone || e.StatusCode != statusGone && !c.facts.BrokerReady {
		o := c.again(reason, message, e)
		o.Relist = e.Kind == osb.Gone // is its address right?
		return o
	}
	return c.deprovisioned()
}

// provisionFailed handles a failed provision or bind.
func (c *call) provisionFailed(e *osb.Error, reason, message string) Outcome {
	switch {
	case Orphans(Provision, e) && c.resource.own():
		return c.undo(reason, message, e)
	case Orphans(Provision, e): // the same request brings it to light
		return c.again(reason, message, e)
	case e.Kind == osb.Conflict:
		return c.conflicts(message)
	}
	if refused(e) {
		c.restore()
	}
	switch {
	case forGood(e) && c.resource.Kind == Binding && c.resource.own() && c.resource.Record.FetchRequired:
		return c.discard(reason, message) // it was made before its credentials were asked for
	case forGood(e):
		return c.stop(reason, message)
	}
	return c.again(reason, message, e)
}

// refused says whether the request had no effect: it was not sent, or the
// broker rejected it.
func refused(e *osb.Error) bool { return e.Kind == osb.NeverSent || e.StatusCode >= statusBadRequest }

// conflicts: something else exists under the ID, or the same that an earlier
// request of this object created.
func (c *call) conflicts(message string) Outcome {
	lost := c.resource.own() && c.resource.Record.InProgress != nil
	request := c.record.InProgress
	switch {
	case c.facts.Fetchable && (c.resource.Kind == Instance || lost):
		c.restore()
		c.record.InProgress = request
		return c.fetchAgain()
	case (c.record.Exists || c.record.FetchRequired) && c.resource.own(): // its credentials are lost
		return c.undo(reasonConflict, message, &osb.Error{})
	}
	c.restore()
	return c.stop(reasonConflict, message+fmt.Sprintf("; there is something else under the ID %q", c.record.ID))
}

// updateFailed handles a failed update. An update is never undone. After 5xx or
// no response the broker may have made the change: the outcome stays unknown.
func (c *call) updateFailed(e *osb.Error, reason, message string) Outcome {
	if request := c.record.InProgress; refused(e) {
		c.restore() // The operation is over: new bindings need not wait for it.
		if e.StatusCode >= statusInternalServerError {
			c.record.InProgress = request
		}
	}
	if forGood(e) || e.Repeatable != nil && !*e.Repeatable {
		return c.stop(reason, message)
	}
	return c.again(reason, message, e)
}

// restore: the request had no effect. The state before it is restored.
func (c *call) restore() {
	r, before := &c.record, &c.resource.Record
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
