package osbtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
)

// A Mitigation is one clean-up of an orphan: due, come, or both.
type Mitigation struct {
	// InstanceID is always there; BindingID says that it is the binding's.
	InstanceID, BindingID string
	// Why is the row of the specification's table; empty where none was due.
	Why string
	// Due is the N of the call that made it due; 0 where none was.
	Due int
	// Issued is the N of the deletion that followed; 0 while there is none.
	Issued int
	// Done says that a deletion ended well, or that a repeated request did: then the
	// platform knows what it has.
	Done bool
}

// Unexpected says that it came although none was due.
func (m Mitigation) Unexpected() bool { return m.Due == 0 }

func (m Mitigation) target() target { return target{m.InstanceID, m.BindingID} }

// A verdict is what the table says of an answer.
type verdict int

const (
	notDue verdict = iota
	// open: the table says nothing, or platforms may see it in two ways.
	open
	due
)

// table is the specification's table of orphan mitigation, for an answer but for polls.
func table(verb Verb, status int, outcome Outcome) (verdict, string) {
	cleans := verb.creates() || verb.removes()
	switch {
	case !cleans:
		return notDue, ""
	case outcome == Lost && verb.creates():
		return due, "no answer"
	case outcome == Lost:
		return notDue, ""
	case outcome == MalformedAnswer && verb.creates() && (status == http.StatusCreated || status == http.StatusAccepted):
		return due, "a malformed " + strconv.Itoa(status)
	case outcome == MalformedAnswer && status == http.StatusAccepted:
		return open, ""
	case unlawful(verb, status):
		return due, "an unlawful " + strconv.Itoa(status)
	case status >= http.StatusInternalServerError:
		return due, strconv.Itoa(status)
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest && verb.creates():
		return due, "a redirection"
	}
	return notDue, ""
}

// unlawful says whether a status is of those of success, and not one that the verb has.
func unlawful(verb Verb, status int) bool {
	if status < http.StatusOK || status >= http.StatusMultipleChoices {
		return false
	}
	lawful := status == http.StatusOK || status == http.StatusAccepted || status == http.StatusCreated && verb.creates()
	return !lawful
}

// orphans are the account of what is to be cleaned up.
type orphans struct {
	options  *Options
	offer    *offer
	books    *books
	recorder *recorder
	// mitigations are those that are due or came, by what they are about.
	mitigations map[target]*Mitigation
	unexpected  []Mitigation
	// ambiguous are the IDs of what may be mitigated or not.
	ambiguous map[string]bool
}

func newOrphans(options *Options, offer *offer, books *books, recorder *recorder) *orphans {
	return &orphans{
		options: options, offer: offer, books: books, recorder: recorder,
		mitigations: map[target]*Mitigation{}, ambiguous: map[string]bool{},
	}
}

// list are all mitigations that were due or came, in the order of the calls.
func (o *orphans) list() []Mitigation {
	list := slices.Clone(o.unexpected)
	for _, mitigation := range o.mitigations {
		list = append(list, *mitigation)
	}
	slices.SortFunc(list, func(a, c Mitigation) int { return cmp.Compare(max(a.Due, a.Issued), max(c.Due, c.Issued)) })
	return list
}

// mitigate keeps the account of orphans after a call.
func (o *orphans) mitigate(v *visit) {
	at := v.target()
	if op := o.books.operations[at]; v.said == failed && op != nil && op.verb != Update {
		o.makeDue(v, "a failed "+string(op.verb))
		return
	}
	if v.fault.doubtful || v.losesCredentials() {
		o.ambiguous[at.id()] = true
	}
	if o.ended(v) {
		if m := o.mitigations[at]; m != nil {
			m.Done = true
		}
		return
	}
	switch found, why := table(v.Verb, v.Status, v.Outcome); found {
	case due:
		o.makeDue(v, why)
	case open:
		o.ambiguous[at.id()] = true
	case notDue:
	}
}

// losesCredentials says whether a platform may find that it has no credentials and never
// will: it fetched them, and got none.
func (v *visit) losesCredentials() bool {
	none := v.Status == http.StatusNotFound || v.Status == http.StatusGone
	return v.Verb == FetchBinding && (v.Outcome != Answered || none)
}

// makeDue opens an account, unless one is open, or the platform has cleaned up already
// after this very call: it may leave a call before the broker knows.
func (o *orphans) makeDue(v *visit, why string) {
	at := v.target()
	m := o.mitigations[at]
	switch {
	case m == nil:
		o.mitigations[at] = &Mitigation{InstanceID: at.instance, BindingID: at.binding, Why: why, Due: v.N}
	case m.Issued > v.N && v.Verb.creates():
		// What this late call may have made came after the clean-up ended: it is due still.
		m.Done = m.Done && !o.books.exists(at)
	case m.Done:
		*m = Mitigation{InstanceID: at.instance, BindingID: at.binding, Why: why, Due: v.N}
	}
}

// ended says whether a call's answer closes an account: it is removed, or, the request
// having been repeated, the platform knows what it has.
func (o *orphans) ended(v *visit) bool {
	if v.Outcome != Answered {
		return false
	}
	switch {
	case v.Verb.removes():
		return v.Status == http.StatusOK || v.Status == http.StatusGone || v.Status == http.StatusNotFound
	case v.Verb.creates():
		return v.Status == http.StatusOK || v.Status == http.StatusCreated || v.Status == http.StatusAccepted
	case v.Verb.polls():
		op := o.books.operations[v.target()]
		return op != nil && op.verb.removes() && (v.said == succeeded || v.Status == http.StatusGone)
	}
	return false
}

// strays says whether a call is a deletion that no user asked for and that is not due.
func (o *orphans) strays(v *visit) bool {
	m := o.mitigations[v.target()]
	isDue := m != nil && !m.Done
	return v.Verb.removes() && v.Identity == nil && !isDue && !o.mayMitigate(v)
}

// issue records a deletion as the mitigation that is due, or as one that is not.
func (o *orphans) issue(v *visit) {
	at := v.target()
	m := o.mitigations[at]
	switch {
	case m != nil && !m.Done:
		m.Issued = cmp.Or(m.Issued, v.N)
	case v.Identity != nil:
	case v.stray:
		o.unexpected = append(o.unexpected, Mitigation{InstanceID: at.instance, BindingID: at.binding, Issued: v.N})
	default:
		o.mitigations[at] = &Mitigation{InstanceID: at.instance, BindingID: at.binding, Why: "given up", Due: v.N, Issued: v.N}
	}
}

// mayMitigate says whether a clean-up can be right although the broker sees no reason:
// the platform gave up an operation, left a call that is not over, or was killed.
func (o *orphans) mayMitigate(v *visit) bool {
	at := v.target()
	if o.options.Crashes || o.ambiguous[at.id()] || o.mitigations[at] != nil {
		return true
	}
	if o.recorder.creates(v) {
		return true
	}
	op := o.books.operations[at]
	return op.running() && op.verb.creates() && o.offer.overdue(op, o.options.Now())
}

// doubt takes back what was taken for granted of an answer that may not have been read.
func (o *orphans) doubt(v *visit) {
	if v.Verb.creates() || v.Verb == FetchBinding {
		o.ambiguous[v.target().id()] = true
	}
}
