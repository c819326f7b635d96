package osbtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// A patience is what may not be called again yet.
type patience struct {
	target
	verb Verb
}

// conduct is what the duties ask of a platform's calls so far.
type conduct struct {
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

func newConduct() *conduct {
	return &conduct{
		shutOut: map[target]bool{}, removed: map[string]int{}, spent: map[string]bool{},
		patience: map[patience]time.Time{}, uncertain: map[string]bool{},
	}
}

// settle records, once, what a platform gets to know of a call, and what follows from
// that.
func (b *Broker) settle(v *visit, answer response) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v.Outcome != Pending {
		return
	}
	defer close(v.told)
	v.Status, v.Outcome, v.settled = answer.status, Lost, b.options.Now()
	if answer.status != 0 {
		v.Outcome = MalformedAnswer
		if wellFormed(v.Verb, answer) {
			v.Outcome = Answered
			v.said = stateIn(v.Verb, answer)
		}
		b.bePatient(v, answer)
	}
	if v.started != nil && v.Outcome == Answered {
		v.started.heard = true
	}
	b.remember(v)
	b.mitigate(v)
}

// remember keeps what the duties ask for later.
func (b *Broker) remember(v *visit) {
	at := v.target()
	delete(b.conduct.shutOut, at)
	if v.Status == http.StatusUnauthorized || v.Status == http.StatusForbidden || v.Status == http.StatusPreconditionFailed {
		b.conduct.shutOut[at] = true
	}
	if v.Outcome == Answered {
		b.noteRemoval(v, v.Status)
	}
	b.spend(v)
	b.rememberUpdate(v)
}

// spend keeps which IDs name one thing for good. A clean-up frees an ID if the broker itself
// answered all that made something under it, and this first removal with 200.
func (b *Broker) spend(v *visit) {
	id := v.target().id()
	unanswered := v.Outcome == Lost || v.Status == http.StatusBadGateway || v.Status == http.StatusGatewayTimeout
	switch {
	case v.Verb.removes() && v.Identity == nil && v.Outcome == Answered && v.Status == http.StatusOK && !b.conduct.spent[id]:
		delete(b.conduct.removed, id)
		b.books.history(id).Freed++
	case v.Verb.removes(), v.Verb.creates() && unanswered:
		b.conduct.spent[id] = true
	}
}

// rememberUpdate keeps which instances a platform cannot know: all those of which an
// update was sent, until it is told that one is done. A refusal says that nothing was
// done, and does not tell what became of those before. How far an operation that failed
// has come is not known.
func (b *Broker) rememberUpdate(v *visit) {
	told := v.Outcome == Answered && !v.fault.doubtful
	op := b.books.operations[v.target()]
	switch {
	case v.Verb.polls() && told && v.said == succeeded && op != nil && op.verb == Update:
		delete(b.conduct.uncertain, v.InstanceID)
	case v.Verb != Update:
	case told && v.Status == http.StatusOK:
		delete(b.conduct.uncertain, v.InstanceID)
	case told && refuses(v):
	default:
		b.conduct.uncertain[v.InstanceID] = true
	}
}

// refuses says whether a call's answer means that nothing was done, and nothing was.
func refuses(v *visit) bool {
	rejected := v.Status >= http.StatusBadRequest && v.Status < http.StatusInternalServerError
	return rejected || v.Status >= http.StatusInternalServerError && !v.Acted
}

// noteRemoval records that a deletion was done, or said to be. What the broker knows of
// it counts, whether or not the answer arrived.
func (b *Broker) noteRemoval(v *visit, status int) {
	id := v.target().id()
	done := status == http.StatusOK || status == http.StatusAccepted || status == http.StatusGone
	if v.Verb.removes() && done && b.conduct.removed[id] == 0 {
		b.conduct.removed[id] = v.N
	}
}

// bePatient records a Retry-After that the platform was sent.
func (b *Broker) bePatient(v *visit, answer response) {
	now := b.options.Now()
	key := patience{v.target(), v.Verb}
	if answer.status == http.StatusAccepted {
		key.verb = v.Verb.poll()
	}
	delete(b.conduct.patience, key)
	if asked := retryAfter(answer.header.Get("Retry-After"), now); asked > 0 {
		b.conduct.patience[key] = now.Add(asked)
	}
}

// wellFormed says whether an answer's body is as the specification says. Of a refusal
// nothing is asked, nor of a deletion that is done: what is read of them is optional.
func wellFormed(verb Verb, answer response) bool {
	if answer.status >= http.StatusMultipleChoices || verb.removes() && answer.status == http.StatusOK {
		return true
	}
	var body map[string]any
	if err := json.Unmarshal(answer.text, &body); err != nil || body == nil {
		return false
	}
	switch {
	case verb.polls():
		return oneOf(body["state"], inProgress, succeeded, failed)
	case verb == GetCatalog:
		_, lawful := body["services"].([]any)
		return lawful
	}
	return isText(body["operation"]) && isText(body["dashboard_url"]) && isObject(body["credentials"]) && isObject(body["parameters"])
}

// stateIn is what a well-formed answer to a poll says; empty for any other.
func stateIn(verb Verb, answer response) string {
	var body struct {
		State string `json:"state"`
	}
	if !verb.polls() || answer.status != http.StatusOK || json.Unmarshal(answer.text, &body) != nil {
		return ""
	}
	return body.State
}

// maxOperation is the most characters of an operation key.
const maxOperation = 10000

func isText(value any) bool {
	text, is := value.(string)
	return value == nil || is && len(text) <= maxOperation
}

func isObject(value any) bool {
	_, is := value.(map[string]any)
	return value == nil || is
}

func oneOf(value any, words ...string) bool {
	text, _ := value.(string)
	return strings.Contains("|"+strings.Join(words, "|")+"|", "|"+text+"|") && text != ""
}

// impatience is how much too early a call is, after a Retry-After; 0 if it is not.
func (b *Broker) impatience(v *visit) time.Duration {
	until, asked := b.conduct.patience[patience{v.target(), v.Verb}]
	if !asked {
		return 0
	}
	return max(until.Sub(v.Began), 0)
}
