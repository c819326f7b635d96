package osbtest

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// A Call is one request that came, and what came of it. Its maps are shared: read them
// only.
type Call struct {
	// N counts the calls of a broker from 1, in the order in which they came.
	N    int
	Verb Verb
	// InstanceID and BindingID are from the path; empty where it has none.
	InstanceID, BindingID string
	Query                 url.Values
	// Header lacks Authorization: Authorized says what there is to say of it.
	Header     http.Header
	Authorized bool
	// Body is the request's JSON object, and Raw its text; nil where it had none, and
	// where a fault cut the call before it was read.
	Body map[string]any
	Raw  []byte
	// Identity is the user for whom the call was made; nil where it did not say.
	Identity *Identity
	// RequestID is the platform's name for the call; may be empty.
	RequestID string
	// Began and Ended are by the broker's clock. Ended is zero until it has answered.
	Began, Ended time.Time
	// Status is what was answered; 0 where no answer was sent, or not all of it.
	Status int
	// Acted says whether the broker did what was asked for, as far as it lawfully could:
	// a refusal for a reason is an act, a fault in its place is none.
	Acted bool
	// Fault is what the script had in store: a name such as "CutAfter", or empty.
	Fault   string
	Outcome Outcome
	// Left says that the platform closed the connection so soon after the answer that it
	// may not have read it.
	Left bool
}

// An Outcome is what a platform can know of a call.
type Outcome string

// The outcomes of a call.
const (
	// Pending: it is not over.
	Pending Outcome = ""
	// Answered with a body such as the specification says.
	Answered Outcome = "answered"
	// Malformed: answered with a body that no specification allows.
	MalformedAnswer Outcome = "malformed answer"
	// Lost: no answer reached the platform, or half of one.
	Lost Outcome = "lost"
)

// An Identity is the header X-Broker-API-Originating-Identity.
type Identity struct {
	// Platform is its first word.
	Platform string
	// Value is the decoded JSON object; nil where it cannot be decoded.
	Value map[string]any
}

func (c *Call) target() target { return target{c.InstanceID, c.BindingID} }

// text is a string of the body, empty where there is none.
func (c *Call) text(key string) string {
	value, _ := c.Body[key].(string)
	return value
}

// hint is a service or plan ID: of the query where the verb has no body.
func (c *Call) hint(key string) string {
	if c.Verb.creates() || c.Verb == Update {
		return c.text(key)
	}
	return c.Query.Get(key)
}

func (c *Call) object(key string) map[string]any {
	value, _ := c.Body[key].(map[string]any)
	return value
}

// given says whether the body has the key at all.
func (c *Call) given(key string) bool {
	_, found := c.Body[key]
	return found
}

func passes(call Call, filters []func(Call) bool) bool {
	for _, filter := range filters {
		if !filter(call) {
			return false
		}
	}
	return true
}

// Of keeps the calls of the verbs.
func Of(verbs ...Verb) func(Call) bool {
	return func(c Call) bool { return slices.Contains(verbs, c.Verb) }
}

// About keeps the calls about an instance, its bindings included, or about a binding.
func About(id string) func(Call) bool {
	return func(c Call) bool { return c.InstanceID == id || c.BindingID == id }
}

// Writes keeps the calls that change something.
func Writes() func(Call) bool {
	return func(c Call) bool { return c.Verb.mutates() }
}
