package lifecycle

import (
	"errors"
	"time"

	"github.com/defaultplan/defaultplan/osb"
)

// Credentials says whether the credentials of a response were stored.
type Credentials int

// The results of storing credentials.
const (
	// NoCredentials: the response held none, and nothing was stored.
	NoCredentials Credentials = iota
	// Stored: they are in the Secret.
	Stored
	// NotStored: they could not be written, and are lost.
	NotStored
	// Unstorable: no Secret can hold what the binding's spec makes of them.
	Unstorable
)

// A CallResult is the result of a call. If the call succeeded, the one field
// for its step is set.
type CallResult struct {
	// Err is what failed: an *osb.Error, or what kept the call from being made.
	Err error
	// Problem is why the call was not made after all; nil where it was. Err says so too.
	Problem  *Problem
	Response *osb.Response
	Poll     *osb.LastOperation
	Found    *Found
	// Credentials is for bindings; StoreProblem says why they were not stored, and EmptyBecause
	// why the Secret that they were stored in holds nothing: empty, if it holds something.
	Credentials                Credentials
	StoreProblem, EmptyBecause string
}

// An APIError is that of a request to the API server. What came before a call and failed
// with one keeps the call from being made, and says nothing of the broker.
type APIError struct {
	// Text is for people; empty: that of Err.
	Text string
	Err  error
}

// Error is the text.
func (e *APIError) Error() string {
	if e.Text == "" {
		return e.Err.Error()
	}
	return e.Text
}

// Unwrap is what the API server, or the way there, said.
func (e *APIError) Unwrap() error { return e.Err }

// Found is an instance or binding as its broker has it, compared with what is asked for.
type Found struct {
	// Difference is what is not as asked for, in words without values; empty: nothing.
	Difference   string
	DashboardURL string
	// MaintenanceVersion is empty where the broker tells none.
	MaintenanceVersion string
}

// An Event is emitted once the record is stored.
type Event struct {
	Warning         bool
	Reason, Message string
}

// An Outcome is what to store after a call, and what to do then.
type Outcome struct {
	Record Record
	// Release says that nothing is left at the broker: the finalizer can be taken off,
	// and nothing needs to be stored.
	Release bool
	// After is how long to rest; 0: look again at once, as the stored record asks for.
	After time.Duration
	// Event is nil where there is nothing new to tell.
	Event *Event
	// Relist says that the broker's catalog is not what we know.
	Relist bool
}

// HandleResult is what to store after the result of a decision's call. The resource is as it was
// at the decision, and so is f, but for Now.
func (t *Resource) HandleResult(d Decision, result CallResult, f Facts) Outcome {
	if result.Problem != nil {
		return next{t, &f}.withheld(result.Problem)
	}
	c := call{resource: t, decision: d, facts: &f, words: words(t.Kind, d.Step), record: d.Record}
	c.unreached = osb.KindOf(result.Err) == osb.NeverSent
	c.record.Deadline = c.inFlight(result)
	if o := c.judged(result); !c.believes(result, &o) {
		return o
	}
	c.record = d.Record
	return c.believed()
}

// judged returns the outcome that a result leads to.
func (c *call) judged(result CallResult) Outcome {
	switch c.decision.Step {
	case Provision, Update, Deprovision, MitigateOrphan:
		if result.Err != nil {
			return failureOf(c, asError(result.Err)).outcome()
		}
		return c.answered(result)
	case Poll:
		return poll{c}.outcome(result)
	case Fetch:
		return fetch{c}.outcome(result)
	case Rest, Release:
	}
	return Outcome{Record: c.decision.Record}
}

// inFlight is until when something that makes may still be on its way: a request whose
// connection was cut may be acted on for as long as it might have waited for an answer.
// That a removal finds nothing before then does not mean that nothing will be there.
func (c *call) inFlight(result CallResult) time.Time {
	before := c.resource.Record.Deadline
	switch c.decision.Step {
	case Provision, Update:
		if result.Err != nil && mayStillAct(asError(result.Err)) {
			return c.decision.Record.Deadline
		}
	case Deprovision, MitigateOrphan, Poll:
		if before.After(c.facts.Now) && c.decision.Record.Operation == Deprovisioning {
			return before
		}
	case Rest, Fetch, Release:
	}
	return time.Time{}
}

// mayStillAct says that a request was sent and that the broker itself did not answer:
// there was no answer, or a gateway on the way sent it.
func mayStillAct(e *osb.Error) bool {
	switch e.StatusCode {
	case 0:
		return e.Kind != osb.NeverSent
	case statusBadGateway, statusGatewayTimeout:
		return true
	}
	return false
}

// wasAnswered says that the broker itself answered, and whole.
func wasAnswered(e *osb.Error) bool {
	return e.StatusCode != 0 && e.Kind != osb.MaybeReceived && !mayStillAct(e)
}

// asError is the error of a call as this package judges it. What kept a call from
// being made was never sent.
func asError(err error) *osb.Error {
	if e := (*osb.Error)(nil); errors.As(err, &e) {
		return e
	}
	return &osb.Error{Kind: osb.NeverSent, Operation: "call the broker", Cause: err}
}

// told is the reason of a call that failed, and the message. What the API server kept from
// being made is not told as the broker's failure.
func told(reason string, e *osb.Error) (was, message string) {
	if errors.As(e.Cause, new(*APIError)) {
		return reasonAPI, e.Cause.Error()
	}
	return reason, e.Error()
}

// A call is one step whose response is judged.
type call struct {
	resource *Resource
	decision Decision
	facts    *Facts
	words    wording
	record   Record
	// unreached says that the request did not get to the broker, although it was to be sent.
	unreached bool
	// freed says that nothing that was sent under the ID can be on its way any more.
	freed bool
}

// longestURL is what status takes of a dashboard's address, in bytes.
const longestURL = 8192

// answered judges a response that is no error.
func (c *call) answered(result CallResult) Outcome {
	r, response := &c.record, result.Response
	if n := len(response.DashboardURL); n > 0 && n <= longestURL && c.resource.Kind == Instance {
		r.DashboardURL = new(response.DashboardURL)
	}
	if c.decision.Step == Provision && !c.resource.own() {
		c.takeOver(response)
	}
	if response.Async {
		return c.begun(response)
	}
	switch c.decision.Step {
	case Provision:
		if c.resource.Kind == Binding {
			return c.bound(result)
		}
		return c.exists()
	case Update:
		return c.exists()
	case Rest, Deprovision, MitigateOrphan, Poll, Fetch, Release:
	}
	// A removal that was sent before may be acted on later, and remove what is made next.
	c.freed = r.KeepsID && c.resource.Record.Operation != Deprovisioning
	return c.deprovisioned()
}

// takeOver decides whether what is there under an ID that is not ours is to be removed at
// deletion: only if it was this object's request that made it.
func (c *call) takeOver(response *osb.Response) {
	r := &c.record
	if response.Created || response.Async && (r.Absent || c.resource.Kind == Binding) {
		r.DeprovisionStatus = DeprovisionRequired
		return
	}
	r.DeprovisionStatus = c.resource.Record.DeprovisionStatus
	if r.DeprovisionStatus != DeprovisionRequired {
		c.words.done, c.words.doneMessage = ReasonAdopted, adoptedMessage
	}
}

// bound: the broker made credentials, or had them already.
func (c *call) bound(result CallResult) Outcome {
	if o, decided := c.received(result); decided {
		return o
	}
	// The answer to a request that was repeated: credentials may be given only once.
	if c.facts.Fetchable {
		return c.fetchAgain()
	}
	if result.Response.Created {
		return c.discard(c.words.failed, "the broker made a binding that has no credentials")
	}
	return c.retryWithNewID(c.words.failed, "the broker has the binding, and does not give its credentials again")
}

// received is the outcome of credentials that a broker gave; false: it gave none.
func (c *call) received(result CallResult) (o Outcome, decided bool) {
	switch result.Credentials {
	case Stored:
		if result.EmptyBecause != "" {
			c.words.doneMessage = emptyMessage + result.EmptyBecause
		}
		return c.exists(), true
	case NotStored:
		return c.notStored(result), true
	case Unstorable:
		return c.discard(reasonStore, storeMessage(result)), true
	case NoCredentials:
	}
	return Outcome{}, false
}
