package lifecycle

import (
	"fmt"
	"time"
)

// Desired is what the spec asks of the broker now.
type Desired struct {
	Request

	// PlanUpdatable says that the instance may change its plan: by its current
	// plan, or else by its class.
	PlanUpdatable bool
	// AllowContextUpdates is what the catalog says of updates of the context.
	AllowContextUpdates bool
	// Rule is how admission chose the plan, for the condition Resolved; may be empty.
	Rule string
}

// A Problem is why the spec cannot be sent to a broker.
type Problem struct {
	// Reason and Message are for the condition Ready.
	Reason, Message string
	// Waits says that it may end by itself; otherwise a user must act.
	Waits bool
	// Undecided says that no plan is decided on.
	Undecided bool
	// Told says that an event is emitted when it begins.
	Told bool
	// Failed says that the dedicated instance is Failed, and the binding with
	// it.
	Failed bool
	// Voids says that the binding's credentials are useless, too.
	Voids bool
}

// mark identifies a request that was rejected for good, by what may change
// although the spec does not.
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
	// Settled says that no call of this process is in progress: a Deadline that
	// it wrote itself need not be waited for, except for a call that creates
	// something.
	Settled bool
	// HeldBecause says why the broker is not called now; empty: it may be.
	HeldBecause string
	// BrokerGone says that the broker of what is recorded is not registered any more.
	BrokerGone bool
	// BrokerReady says that the broker's catalog was read since the removal began: its address is right,
	// and its 404 means that there is no such resource.
	BrokerReady bool
	// Holders are the bindings that prevent the deletion of an instance,
	// sorted.
	Holders []string
	// Remains reports a dedicated instance that still exists, and its state;
	// nil: it does not exist, or there never was one. The binding's finalizer
	// stays until then.
	Remains *Problem
	// SecretLost says that the Secret of a binding that exists does not.
	SecretLost bool
	// PartLost says that only the ConfigMap beside the Secret is lost: the
	// credentials exist, and are never discarded for that.
	PartLost bool
	// Stored says that the Secret of a binding holds the credentials of the ID in question, written
	// by the controller or, for an adoption, by a user; and ToldMore that more was told with them,
	// which would be recorded with the outcome alone.
	Stored, ToldMore bool
	// SecretName is the Secret of a binding that adopts, for what is said of it.
	SecretName string
	// NewID is an ID that nothing has yet, for whatever needs one.
	NewID string
	// Jitter is random, from 0 to below 1: it spreads retries.
	Jitter float64
	// MaxPolling is the longest time for an operation, MaxRetry the longest between two
	// tries; 0: an hour.
	MaxPolling, MaxRetry time.Duration
	// AlsoFailing is with how many objects, itself included, it shares the tries of what fails
	// alike: the same operation for the same plan.
	AlsoFailing int32
	// FromSecrets says that the request has parameters from Secrets, which no watch tells of.
	FromSecrets bool
	// Woken says that the next try does not wait for its time: what made the last one fail may be
	// over.
	Woken bool
}
