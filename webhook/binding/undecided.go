package binding

import (
	"fmt"

	"github.com/defaultplan/defaultplan/webhook/instance"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// hold denies what cannot be decided, or leaves it undecided.
func (d decider) hold(denied *review.Denial, refuse bool) {
	if refuse {
		d.draft.Deny(denied)
		return
	}
	d.leave(denied.Label, denied.Causes[0].Field+": "+denied.Causes[0].Message, "the binding waits")
}

// wait leaves a binding undecided until its instance is decided, or denies it
// if the instance is in another namespace.
func (d decider) wait(waits string, refuse bool) {
	namespace := d.draft.Req.Namespace
	at := instanceAt(&d.draft.Spec, namespace)
	if at.Namespace != namespace {
		d.hold(sharedWaits(at, waits), refuse)
		return
	}
	becomes := "the binding waits"
	if waits == waitsForPlan { // the controller needs no plan to bind to what its broker has
		becomes = "the binding is made without the plan's defaults if the instance is provisioned, and waits else"
	}
	d.leave("Waiting", fmt.Sprintf("instance %q %s", at.Name, waits), becomes)
}

// leave admits the binding without a decision, and warns of the reason and
// of what happens next.
func (d decider) leave(label, why, becomes string) {
	d.draft.Rule = review.RuleUndecided
	d.draft.Audit("undecided", label)
	d.draft.Warnf(instance.UndecidedYet+"%s; %s", why, becomes)
}
