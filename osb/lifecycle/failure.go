package lifecycle

import (
	"fmt"

	"github.com/defaultplan/defaultplan/osb"
)

// failed judges the error of a call that makes, changes or removes.
func (c *call) failed(e *osb.Error) Outcome {
	if e.Usable != nil && c.thing.Kind == Instance {
		c.record.Unusable = !*e.Usable
	}
	reason, message := told(c.words.reason(e), e)
	var o Outcome
	switch c.decision.Step {
	case Remove, Mitigate:
		o = c.notRemoved(e, reason, message)
	case Change:
		o = c.notChanged(e, reason, message)
	case Rest, Make, Poll, Fetch, Release:
		o = c.notMade(e, reason, message)
	}
	o.Relist = o.Relist || e.Kind == osb.MaintenanceConflict
	return o
}

// notRemoved judges why something was not removed. That there is nothing is success;
// 404 says so too where the broker's address is known to be right.
func (c *call) notRemoved(e *osb.Error, reason, message string) Outcome {
	if e.Kind != osb.Gone || e.StatusCode != statusGone && !c.facts.BrokerReady {
		o := c.again(reason, message, e)
		o.Relist = e.Kind == osb.Gone // is its address right?
		return o
	}
	return c.removed()
}

// notMade judges why something was not made.
func (c *call) notMade(e *osb.Error, reason, message string) Outcome {
	switch {
	case Orphans(Make, e) && c.thing.own():
		return c.undo(reason, message, e)
	case Orphans(Make, e): // the same request brings it to light
		return c.again(reason, message, e)
	case e.Kind == osb.Conflict:
		return c.conflicts(message)
	}
	if refused(e) {
		c.restore()
	}
	switch {
	case forGood(e) && c.thing.Kind == Binding && c.thing.own() && c.thing.Record.FetchRequired:
		return c.useless(reason, message) // it was made before its credentials were asked for
	case forGood(e):
		return c.stop(reason, message)
	}
	return c.again(reason, message, e)
}

// refused says that the request did nothing: it was not sent, or answered so.
func refused(e *osb.Error) bool { return e.Kind == osb.NeverSent || e.StatusCode >= statusBadRequest }

// conflicts: there is something else under the ID, or the same that an earlier request
// of this object made.
func (c *call) conflicts(message string) Outcome {
	lost := c.thing.own() && c.thing.Record.InProgress != nil
	sent := c.record.InProgress
	switch {
	case c.facts.Fetchable && (c.thing.Kind == Instance || lost):
		c.restore()
		c.record.InProgress = sent
		return c.fetchLater()
	case (c.record.Exists || c.record.FetchRequired) && c.thing.own(): // its credentials are lost
		return c.undo(reasonConflict, message, &osb.Error{})
	}
	c.restore()
	return c.stop(reasonConflict, message+fmt.Sprintf("; there is something else under the ID %q", c.record.ID))
}

// notChanged judges why something was not changed. Nothing is undone, ever. A broker that
// answers 5xx may have made the change, as one that did not answer: it stays in doubt.
func (c *call) notChanged(e *osb.Error, reason, message string) Outcome {
	if sent := c.record.InProgress; refused(e) {
		c.restore() // The operation is over: new bindings need not wait for it.
		if e.StatusCode >= statusInternalServerError {
			c.record.InProgress = sent
		}
	}
	if forGood(e) || e.Repeatable != nil && !*e.Repeatable {
		return c.stop(reason, message)
	}
	return c.again(reason, message, e)
}

// restore: the request did nothing. What is known and not known of those before it is
// as it was.
func (c *call) restore() {
	r, before := &c.record, &c.thing.Record
	r.Operation, r.Started, r.InProgress = before.Operation, before.Started, before.InProgress
	r.Owed, r.FetchRequired = before.Owed, before.FetchRequired
}

// forGood says that the same request would be refused again.
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
