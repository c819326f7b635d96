package lifecycle

import (
	"errors"
	"time"

	"github.com/defaultplan/defaultplan/osb"
)

// Credentials says what became of the credentials that a reply held.
type Credentials int

// What may become of credentials.
const (
	// NoCredentials: the reply held none, and nothing was stored.
	NoCredentials Credentials = iota
	// Stored: they are in the Secret.
	Stored
	// NotStored: they could not be written, and are lost.
	NotStored
	// Unstorable: no Secret can hold what the binding's spec makes of them.
	Unstorable
)

// A Reply is what came of a step that is a call. Of a call that went well, the one
// field that belongs to its step is set.
type Reply struct {
	// Err is what failed: an *osb.Error, or what kept the call from being made.
	Err error
	// Problem is why the call was not made after all; nil where it was. Err says so too.
	Problem  *Problem
	Response *osb.Response
	Poll     *osb.LastOperation
	Found    *Found
	// Credentials is for bindings; StoreProblem says why they were not stored.
	Credentials  Credentials
	StoreProblem string
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

// Found is an instance as its broker has it, compared with what is asked for.
type Found struct {
	// Difference is what is not as asked for, in words without values; empty: nothing.
	Difference   string
	DashboardURL string
	// MaintenanceVersion is empty where the broker tells none.
	MaintenanceVersion string
}

// An Event is told when the record is stored.
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

// Replied is what to store after the reply to a decision's call. The thing is as it was
// at the decision, and so is f, but for Now.
func (t *Thing) Replied(d Decision, reply Reply, f Facts) Outcome {
	if reply.Problem != nil {
		return t.withheld(reply.Problem, f)
	}
	c := call{thing: t, decision: d, facts: &f, words: words(t.Kind, d.Step), record: d.Record}
	c.unreached = osb.KindOf(reply.Err) == osb.NeverSent
	c.record.Deadline = c.inFlight(reply)
	switch d.Step {
	case Make, Change, Remove, Mitigate:
		if reply.Err != nil {
			return c.failed(asError(reply.Err))
		}
		return c.answered(reply)
	case Poll:
		return c.polled(reply)
	case Fetch:
		return c.fetched(reply)
	case Rest, Release:
	}
	return Outcome{Record: d.Record}
}

// inFlight is until when something that makes may still be on its way: a request whose
// connection was cut may be acted on for as long as it might have waited for an answer.
// That a removal finds nothing before then does not mean that nothing will be there.
func (c *call) inFlight(reply Reply) time.Time {
	before := c.thing.Record.Deadline
	switch c.decision.Step {
	case Make:
		if reply.Err != nil && mayStillAct(asError(reply.Err)) {
			return c.decision.Record.Deadline
		}
	case Remove, Mitigate:
		if before.After(c.facts.Now) {
			return before
		}
	case Rest, Change, Poll, Fetch, Release:
	}
	return time.Time{}
}

// mayStillAct says that a request was sent, and that its broker did not answer: nobody
// did, or a gateway on the way.
func mayStillAct(e *osb.Error) bool {
	switch e.StatusCode {
	case 0:
		return e.Kind != osb.NeverSent
	case statusBadGateway, statusGatewayTimeout:
		return true
	}
	return false
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

// A call is one step whose reply is judged.
type call struct {
	thing    *Thing
	decision Decision
	facts    *Facts
	words    wording
	record   Record
	// unreached says that the request did not get to the broker, although it was to be sent.
	unreached bool
}

// longestURL is what status takes of a dashboard's address, in bytes.
const longestURL = 8192

// answered judges a reply that is no error.
func (c *call) answered(reply Reply) Outcome {
	r, response := &c.record, reply.Response
	if n := len(response.DashboardURL); n > 0 && n <= longestURL && c.thing.Kind == Instance {
		r.DashboardURL = new(response.DashboardURL)
	}
	if c.decision.Step == Make && !c.thing.own() {
		c.claim(response)
	}
	if response.Async {
		return c.begun(response)
	}
	switch c.decision.Step {
	case Make:
		if c.thing.Kind == Binding {
			return c.bound(reply)
		}
		return c.exists()
	case Change:
		return c.exists()
	case Rest, Remove, Mitigate, Poll, Fetch, Release:
	}
	return c.removed()
}

// claim decides whether what is there under an ID that is not ours is to be removed at
// deletion: only if it was this object's request that made it.
func (c *call) claim(response *osb.Response) {
	r := &c.record
	if response.Created || response.Async && (r.Absent || c.thing.Kind == Binding) {
		r.Owed = IsOwed
		return
	}
	r.Owed = c.thing.Record.Owed
	if r.Owed != IsOwed {
		c.words.done, c.words.doneMessage = ReasonAdopted, adoptedMessage
	}
}

// bound: the broker made credentials, or had them already.
func (c *call) bound(reply Reply) Outcome {
	switch reply.Credentials {
	case Stored:
		return c.exists()
	case NotStored:
		return c.notStored(reply)
	case Unstorable:
		return c.useless(reasonStore, storeMessage(reply))
	case NoCredentials:
	}
	// The answer to a request that was repeated: credentials may be given only once.
	if c.facts.Fetchable {
		return c.fetchLater()
	}
	if reply.Response.Created {
		return c.useless(c.words.failed, "the broker made a binding that has no credentials")
	}
	return c.anew(c.words.failed, "the broker has the binding, and does not give its credentials again")
}
