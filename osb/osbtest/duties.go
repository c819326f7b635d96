package osbtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A Violation is a call that broke a duty.
type Violation struct {
	// Duty is the ID of what was broken, such as "M3.2", and Rule the name that duties of one
	// kind share, "M1" to "M14".
	Duty, Rule string
	// Text says what was wrong, without a value of a parameter.
	Text string
	Call Call
}

// String is the violation in one line.
func (v Violation) String() string {
	return fmt.Sprintf("%s: call %d, %s of %s: %s", v.Rule, v.Call.N, v.Call.Verb, v.Call.target(), v.Text)
}

// A Duty is one thing that a platform owes a broker with every call.
type Duty struct {
	// ID never changes its meaning, and no two have the same.
	ID string
	// Rule is its name, shared by the duties of one kind, and Points are where the
	// specification, as the checklist numbers it, asks for it.
	Rule, Points string
	// Says is what is owed.
	Says string

	// broken says what is wrong with a call; empty for nothing. It reads the books as they
	// are before the broker acts.
	broken func(j *judge, v *visit) string
}

// Duties are all of them, in their order: M1 the headers, M2 whose call it is, M3 what
// is required, M4 asynchronous answers accepted, M5 the operation echoed, M6 the plan as
// the broker knows it, M7 nothing that did not change, M8 nothing that the offer
// excludes, M9 bindings before instances, M10 orphan mitigation, M11 patience, M12 one
// at a time, M13 no clean-up after a broker refused access, M14 no ID twice.
func Duties() []Duty {
	return slices.Concat(headerDuties, fieldDuties, offerDuties, orderDuties)
}

var everyDuty = Duties()

// Violations are the calls that broke a duty, so far.
func (b *Broker) Violations() []Violation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.judge.violations)
}

// Mitigations are all that were due or came, in the order of the calls. A deletion
// without an identity is one, as no user asked for it.
func (b *Broker) Mitigations() []Mitigation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.orphans.list()
}

// Excuse says that the instance or binding with an ID may be cleaned up without a reason
// that the broker can see, such as a Secret that could not be written.
func (b *Broker) Excuse(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.orphans.ambiguous[id] = true
}

// Orphans are the mitigations that were due and have not ended well.
func (b *Broker) Orphans() []Mitigation {
	return slices.DeleteFunc(b.Mitigations(), func(m Mitigation) bool { return m.Done || m.Unexpected() })
}

// AssertDuties fails a test for every violation but those of the rules excepted, and
// under M10 for every mitigation that is still due: it is for the end, when all is
// quiet.
func (b *Broker) AssertDuties(t assert.TestingT, except ...string) bool {
	if helper, is := t.(testing.TB); is {
		helper.Helper()
	}
	kept := true
	for _, violation := range b.Violations() {
		if !slices.Contains(except, violation.Rule) {
			kept = assert.Fail(t, violation.String())
		}
	}
	for _, orphan := range b.Orphans() {
		if !slices.Contains(except, "M10") {
			kept = assert.Fail(t, fmt.Sprintf("M10: %s is not mitigated, after %s to call %d", orphan.target(), orphan.Why, orphan.Due))
		}
	}
	return kept
}
