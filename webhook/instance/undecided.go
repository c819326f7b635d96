package instance

import (
	"fmt"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// UndecidedYet begins the warning of a write that is admitted without a plan.
const UndecidedYet = "no plan is decided yet: "

// hold denies what cannot be decided, or leaves it undecided: plan and
// parameters are decided together, or not at all.
func (d Decider) hold(denied *review.Denial, refuse bool) {
	if refuse {
		d.Draft.Deny(denied)
		return
	}
	d.leave(denied.Label, denied.Causes[0].Field+": "+denied.Causes[0].Message)
}

// unresolved admits or denies what could not be resolved. A decided instance does not wait for
// another plan: its references stay, and contradict the names of the other.
func (d Decider) unresolved(refused *resolve.Error, req resolve.Request, refuse bool) {
	waits := req.Plan.Value != "" && waitsForNamed(refused.Reason) ||
		d.Tools.Options.Unresolved == options.UnresolvedWait && waitsForOperator(refused.Reason)
	if refuse && (!waits || d.Draft.Before().Decided()) {
		d.tried(string(refused.Reason))
		d.Draft.Deny(decision.Unresolved(refused, req))
		return
	}
	field := refused.Field
	if refused.Value != "" {
		field += fmt.Sprintf(" %.100q", refused.Value)
	}
	d.leave(string(refused.Reason), field+": "+refused.Detail)
}

// tried records a failed attempt to decide.
func (d Decider) tried(label string) {
	d.Draft.Rule = review.RuleUndecided
	d.Draft.Audit("undecided", label)
}

// leave admits the instance without a decision, and says why.
func (d Decider) leave(label, why string) {
	d.tried(label)
	if before := d.Draft.Before(); before.Decided() {
		d.Draft.Warnf("the decided plan %s is gone, and no other is found: %s; it stays until spec changes again",
			references.Of(&before.DecidedReference, d.Draft.Req.Namespace).Plan.Name, why)
		return
	}
	d.Draft.Warnf(UndecidedYet+"%s; the %s waits", why, waiter(d.Draft.Req.Kind.Kind))
}

// waiter names what waits in a request for a kind: the instance, or the binding that it is
// dedicated to.
func waiter(kind string) string {
	if kind == "ServiceBinding" {
		return "binding"
	}
	return "instance"
}

// waitsForNamed says whether a class and plan, both named, may be created
// later: the retired catalog admitted such an instance, too.
func waitsForNamed(reason resolve.Reason) bool {
	return reason == resolve.ClassNotFound || reason == resolve.PlanNotFound || reason == resolve.Unusable
}

// waitsForOperator says that the catalog, not the request, has to change.
func waitsForOperator(reason resolve.Reason) bool {
	return waitsForNamed(reason) || reason == resolve.NoDefault || reason == resolve.NoMatch
}
