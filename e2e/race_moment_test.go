package e2e_test

import (
	"errors"
	"fmt"

	"github.com/defaultplan/defaultplan/resolve"
)

// A moment is one state of a contest, and what resolve makes of it.
type moment struct {
	glance

	revision int64
	// plan is what an instance that names only the type gets; empty where it is
	// refused, for reason.
	plan   string
	reason resolve.Reason
	// recorded says that resolve goes by the record.
	recorded bool
}

func (s catalogue) moment(c *contest, revision int64) moment {
	m := moment{glance: s.glance(c.world, c.kind), revision: revision}
	found := s.entries()
	found.Classes = []resolve.ClassEntry{c.class}
	choice, err := resolve.Plan(resolve.Request{Namespace: c.namespace, Type: c.kind}, found)
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
	want, reason := m.record, resolve.Reason("")
	if want == "" {
		switch len(m.annotated) {
		case 0:
			reason = resolve.NoDefault
		case 1:
			want = m.annotated[0]
		default:
			reason = resolve.Ambiguous
		}
	}
	if m.plan != want || m.reason != reason || m.recorded != (m.record != "") {
		return fmt.Errorf("at revision %d resolve believes %q (%q): %+v", m.revision, m.plan, m.reason, m.glance)
	}
	return nil
}
