package osbtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A Violation is a call that broke a duty.
type Violation struct {
	// Rule is the duty's name, "M1" to "M14".
	Rule string
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
	// Rule is its name, shared by the duties of one kind, and Points are where the
	// specification, as the checklist numbers it, asks for it.
	Rule, Points string
	// Says is what is owed.
	Says string

	// broken says what is wrong with a call; empty for nothing. It reads the books as they
	// are before the broker acts.
	broken func(b *Broker, v *visit) string
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

// judge records the duties that a call breaks.
func (b *Broker) judge(v *visit) {
	v.stray = b.strays(v)
	if v.Verb.removes() {
		b.issue(v)
	}
	for _, duty := range everyDuty {
		text := duty.broken(b, v)
		if text == "" {
			continue
		}
		if v.violated == "" {
			v.violated = duty.Rule + ": " + text
		}
		b.violations = append(b.violations, Violation{Rule: duty.Rule, Text: text, Call: v.Call})
	}
}

// breaks says whether a call would break a duty if it were judged now.
func (b *Broker) breaks(v *visit) bool {
	v.stray = b.strays(v)
	return slices.ContainsFunc(everyDuty, func(duty Duty) bool { return duty.broken(b, v) != "" })
}

// Violations are the calls that broke a duty, so far.
func (b *Broker) Violations() []Violation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.violations)
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
