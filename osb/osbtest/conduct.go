package osbtest

import (
	"net/http"
	"time"
)

// A patience is what may not be called again yet.
type patience struct {
	target
	verb Verb
}

// conduct is what the duties ask of a platform's calls so far.
type conduct struct {
	options *Options
	books   *books
	// shutOut is what the last call about was refused for its credentials or its version,
	// for M13.
	shutOut map[target]bool
	// removed are the IDs that the platform has had removed, and by which call, for M14.
	removed map[string]int
	// spent are the IDs under which a call may still be on its way, or that were removed
	// otherwise than by the first clean-up that was answered at once, for M14.
	spent map[string]bool
	// patience is when a platform may call again.
	patience map[patience]time.Time
	// uncertain are the instances of which the platform cannot know what its updates did.
	uncertain map[string]bool
}

func newConduct(options *Options, books *books) *conduct {
	return &conduct{
		options: options, books: books,
		shutOut: map[target]bool{}, removed: map[string]int{}, spent: map[string]bool{},
		patience: map[patience]time.Time{}, uncertain: map[string]bool{},
	}
}

// remember keeps what the duties ask for later.
func (c *conduct) remember(v *visit) {
	at := v.target()
	delete(c.shutOut, at)
	if v.Status == http.StatusUnauthorized || v.Status == http.StatusForbidden || v.Status == http.StatusPreconditionFailed {
		c.shutOut[at] = true
	}
	if v.Outcome == Answered {
		c.noteRemoval(v, v.Status)
	}
	c.spend(v)
	c.rememberUpdate(v)
}

// spend keeps which IDs name one thing for good. A clean-up frees an ID if the broker itself
// answered all that made something under it, and this first removal with 200.
func (c *conduct) spend(v *visit) {
	id := v.target().id()
	unanswered := v.Outcome == Lost || v.Status == http.StatusBadGateway || v.Status == http.StatusGatewayTimeout
	switch {
	case v.Verb.removes() && v.Identity == nil && v.Outcome == Answered && v.Status == http.StatusOK && !c.spent[id]:
		delete(c.removed, id)
		c.books.history(id).Freed++
	case v.Verb.removes(), v.Verb.creates() && unanswered:
		c.spent[id] = true
	}
}

// rememberUpdate keeps which instances a platform cannot know: all those of which an
// update was sent, until it is told that one is done. A refusal says that nothing was
// done, and does not tell what became of those before. How far an operation that failed
// has come is not known.
func (c *conduct) rememberUpdate(v *visit) {
	told := v.Outcome == Answered && !v.fault.doubtful
	op := c.books.operations[v.target()]
	switch {
	case v.Verb.polls() && told && v.said == succeeded && op != nil && op.verb == Update:
		delete(c.uncertain, v.InstanceID)
	case v.Verb != Update:
	case told && v.Status == http.StatusOK:
		delete(c.uncertain, v.InstanceID)
	case told && refuses(v):
	default:
		c.uncertain[v.InstanceID] = true
	}
}

// refuses says whether a call's answer means that nothing was done, and nothing was.
func refuses(v *visit) bool {
	rejected := v.Status >= http.StatusBadRequest && v.Status < http.StatusInternalServerError
	return rejected || v.Status >= http.StatusInternalServerError && !v.Acted
}

// noteRemoval records that a deletion was done, or said to be. What the broker knows of
// it counts, whether or not the answer arrived.
func (c *conduct) noteRemoval(v *visit, status int) {
	id := v.target().id()
	done := status == http.StatusOK || status == http.StatusAccepted || status == http.StatusGone
	if v.Verb.removes() && done && c.removed[id] == 0 {
		c.removed[id] = v.N
	}
}

// bePatient records a Retry-After that the platform was sent.
func (c *conduct) bePatient(v *visit, answer response) {
	now := c.options.Now()
	key := patience{v.target(), v.Verb}
	if answer.status == http.StatusAccepted {
		key.verb = v.Verb.poll()
	}
	delete(c.patience, key)
	if asked := retryAfter(answer.header.Get("Retry-After"), now); asked > 0 {
		c.patience[key] = now.Add(asked)
	}
}

// impatience is how much too early a call is, after a Retry-After; 0 if it is not.
func (c *conduct) impatience(v *visit) time.Duration {
	until, asked := c.patience[patience{v.target(), v.Verb}]
	if !asked {
		return 0
	}
	return max(until.Sub(v.Began), 0)
}

// doubt takes back what was taken for granted of an answer that may not have been read.
func (c *conduct) doubt(v *visit) {
	at := v.target()
	if v.Verb == Update {
		c.uncertain[v.InstanceID] = true
	}
	delete(c.shutOut, at)
	delete(c.patience, patience{at, v.Verb})
	delete(c.patience, patience{at, v.Verb.poll()})
}
