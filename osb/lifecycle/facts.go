package lifecycle

import (
	"fmt"
	"time"
)

// Desired is what the spec asks of the broker now.
type Desired struct {
	Request

	// PlanUpdatable says that the plan that the instance has may be left for another: its own word, or else its class's.
	PlanUpdatable bool
	// AllowContextUpdates is what the catalog says of updates of the context.
	AllowContextUpdates bool
	// Rule is how admission chose the plan, for the condition Resolved; may be empty.
	Rule string
}

// A Problem is why the spec cannot be brought to a broker.
type Problem struct {
	// Reason and Message are for the condition Ready.
	Reason, Message string
	// Waits says that it may go away by itself; otherwise someone must act.
	Waits bool
	// Undecided says that no plan is decided on.
	Undecided bool
	// Told says that an event is made of it when it begins.
	Told bool
	// Failed says that the binding's own instance is Failed, and the binding with it.
	Failed bool
	// Voids says that what the binding has is of no use any more, either.
	Voids bool
}

// mark tells requests apart that are judged for good: by what may change although the
// spec does not.
func mark(request *Request, desired *Desired) string {
	return fmt.Sprintf("%s %s %t", request.ParameterChecksum, request.PlanExternalID, desired.PlanUpdatable)
}

// Facts are what else the next step depends on.
type Facts struct {
	Now time.Time
	// Desired is nil where there is a Problem.
	Desired *Desired
	Problem *Problem
	// Fetchable says that the broker can be asked for it: instances_retrievable or
	// bindings_retrievable.
	Fetchable bool
	// MaxDeadline is the longest time that a call and what comes before it may take; 0:
	// an hour. A Deadline that is further away was written by a clock that is ahead.
	MaxDeadline time.Duration
	// Settled says that no call of this process is under way: the Deadline that it
	// wrote itself need not be waited out, but for a call that makes something.
	Settled bool
	// HeldBecause says why the broker is not called now; empty: it may be.
	HeldBecause string
	// BrokerGone says that the broker of what is recorded is not registered any more.
	BrokerGone bool
	// BrokerReady says that the broker's catalog was read since the removal began: its address is right,
	// and its 404 means that there is no such resource.
	BrokerReady bool
	// Holders are the bindings that keep an instance from going, sorted.
	Holders []string
	// Remains says that the own instance of a binding is there still, and how it does; nil:
	// it is not, or there never was one. A binding is not let go before.
	Remains *Problem
	// SecretLost says that the Secret of a binding that exists is not there.
	SecretLost bool
	// PartLost says that only what is beside the Secret is lost: the credentials are there,
	// and are not given up for that, whatever the broker says.
	PartLost bool
	// Stored says that the Secret of a binding holds the credentials of the ID in question, and
	// ToldMore that more was told with them, which would be recorded with the outcome alone.
	Stored, ToldMore bool
	// NewID is an ID that nothing has yet, for whatever needs one.
	NewID string
	// Jitter is random, from 0 to below 1: it spreads retries.
	Jitter float64
	// MaxPolling is the longest time for an operation, MaxRetry the longest between two
	// tries; 0: five minutes.
	MaxPolling, MaxRetry time.Duration
}
