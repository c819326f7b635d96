package races_test

import (
	"errors"
	"fmt"

	"github.com/defaultplan/defaultplan/e2e/offering"
	"github.com/defaultplan/defaultplan/resolve"
)

// A moment is one state of a contest, and what resolve makes of it.
type moment struct {
	offering.Glance

	revision int64
	// plan is what an instance that names only the type gets; empty where it is
	// refused, for reason.
	plan   string
	reason resolve.Reason
	// recorded says that resolve goes by the record.
	recorded bool
}

// momentOf is the state that a catalogue is at a revision.
func momentOf(s offering.Catalogue, c *contest, revision int64) moment {
	m := moment{Glance: s.Glance(c.Env, c.kind), revision: revision}
	found := s.Entries()
	found.Classes = []resolve.ClassEntry{c.class}
	choice, err := resolve.Plan(resolve.Request{Namespace: c.Namespace, Type: c.kind}, found)
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		m.reason = refused.Reason
		return m
	}
	m.plan, m.recorded = choice.Plan.Name, choice.Recorded
	return m
}

// believesOne says what is wrong with what resolve believes: a record that names
// a plan decides, and with none a plan that alone is annotated; two are refused.
func (m moment) believesOne() error {
	want, reason := m.Record, resolve.Reason("")
	if want == "" {
		switch len(m.Annotated) {
		case 0:
			reason = resolve.NoDefault
		case 1:
			want = m.Annotated[0]
		default:
			reason = resolve.Ambiguous
		}
	}
	if m.plan != want || m.reason != reason || m.recorded != (m.Record != "") {
		return fmt.Errorf("at revision %d resolve believes %q (%q): %+v", m.revision, m.plan, m.reason, m.Glance)
	}
	return nil
}
