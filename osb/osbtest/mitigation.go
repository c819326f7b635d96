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

// orphans are the account of what is to be cleaned up.
type orphans struct {
	// mitigations are those that are due or came, by what they are about.
	mitigations map[target]*Mitigation
	unexpected  []Mitigation
	// ambiguous are the IDs of what may be mitigated or not.
	ambiguous map[string]bool
}

func newOrphans() *orphans {
	return &orphans{mitigations: map[target]*Mitigation{}, ambiguous: map[string]bool{}}
}

// Mitigations are all that were due or came, in the order of the calls. A deletion
// without an identity is one, as no user asked for it.
func (b *Broker) Mitigations() []Mitigation {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.orphans.unexpected)
	for _, mitigation := range b.orphans.mitigations {
		list = append(list, *mitigation)
	}
	slices.SortFunc(list, func(a, c Mitigation) int { return cmp.Compare(max(a.Due, a.Issued), max(c.Due, c.Issued)) })
	return list
}

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

// mitigate keeps the account of orphans after a call.
func (b *Broker) mitigate(v *visit) {
	at := v.target()
	if op := b.books.operations[at]; v.said == failed && op != nil && op.verb != Update {
		b.makeDue(v, "a failed "+string(op.verb))
		return
	}
	if v.fault.doubtful || v.losesCredentials() {
		b.orphans.ambiguous[at.id()] = true
	}
	if b.ended(v) {
		if m := b.orphans.mitigations[at]; m != nil {
			m.Done = true
		}
		return
	}
	switch found, why := table(v.Verb, v.Status, v.Outcome); found {
	case due:
		b.makeDue(v, why)
	case open:
		b.orphans.ambiguous[at.id()] = true
	case notDue:
	}
}

// losesCredentials says whether a platform may find that it has no credentials and never
// will: it fetched them, and got none.
func (v *visit) losesCredentials() bool {
	none := v.Status == http.StatusNotFound || v.Status == http.StatusGone
	return v.Verb == FetchBinding && (v.Outcome != Answered || none)
}

// Excuse says that the instance or binding with an ID may be cleaned up without a reason
// that the broker can see, such as a Secret that could not be written.
func (b *Broker) Excuse(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.orphans.ambiguous[id] = true
}

// makeDue opens an account, unless one is open, or the platform has cleaned up already
// after this very call: it may leave a call before the broker knows.
func (b *Broker) makeDue(v *visit, why string) {
	at := v.target()
	m := b.orphans.mitigations[at]
	switch {
	case m == nil:
		b.orphans.mitigations[at] = &Mitigation{InstanceID: at.instance, BindingID: at.binding, Why: why, Due: v.N}
	case m.Issued > v.N && v.Verb.creates():
		// What this late call may have made came after the clean-up ended: it is due still.
		m.Done = m.Done && !b.books.exists(at)
	case m.Done:
		*m = Mitigation{InstanceID: at.instance, BindingID: at.binding, Why: why, Due: v.N}
	}
}

// ended says whether a call's answer closes an account: it is removed, or, the request
// having been repeated, the platform knows what it has.
func (b *Broker) ended(v *visit) bool {
	if v.Outcome != Answered {
		return false
	}
	switch {
	case v.Verb.removes():
		return v.Status == http.StatusOK || v.Status == http.StatusGone || v.Status == http.StatusNotFound
	case v.Verb.creates():
		return v.Status == http.StatusOK || v.Status == http.StatusCreated || v.Status == http.StatusAccepted
	case v.Verb.polls():
		op := b.books.operations[v.target()]
		return op != nil && op.verb.removes() && (v.said == succeeded || v.Status == http.StatusGone)
	}
	return false
}

// strays says whether a call is a deletion that no user asked for and that is not due.
func (b *Broker) strays(v *visit) bool {
	m := b.orphans.mitigations[v.target()]
	isDue := m != nil && !m.Done
	return v.Verb.removes() && v.Identity == nil && !isDue && !b.mayMitigate(v)
}

// issue records a deletion as the mitigation that is due, or as one that is not.
func (b *Broker) issue(v *visit) {
	at := v.target()
	m := b.orphans.mitigations[at]
	switch {
	case m != nil && !m.Done:
		m.Issued = cmp.Or(m.Issued, v.N)
	case v.Identity != nil:
	case v.stray:
		b.orphans.unexpected = append(b.orphans.unexpected, Mitigation{InstanceID: at.instance, BindingID: at.binding, Issued: v.N})
	default:
		b.orphans.mitigations[at] = &Mitigation{InstanceID: at.instance, BindingID: at.binding, Why: "given up", Due: v.N, Issued: v.N}
	}
}

// mayMitigate says whether a clean-up can be right although the broker sees no reason:
// the platform gave up an operation, left a call that is not over, or was killed.
func (b *Broker) mayMitigate(v *visit) bool {
	at := v.target()
	if b.options.Crashes || b.orphans.ambiguous[at.id()] || b.orphans.mitigations[at] != nil {
		return true
	}
	if b.recorder.creates(v) {
		return true
	}
	op := b.books.operations[at]
	return op.running() && op.verb.creates() && b.offer.overdue(op, b.options.Now())
}
