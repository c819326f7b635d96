package defaults

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/explore"
)

const (
	protocolsPage = "../../../docs/protocols.md"
	mostStates    = 1_000_000
)

// TestExploreDefaults: with one keeper at a time, a recorded default is chosen by every request
// until a user does something by which it may be lost; a type never has two; and all settles.
func TestExploreDefaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		bounds explore.Bounds
		change func(*model)
	}{
		"default, one client":               {explore.Bounds{Short: 3, Long: 5}, func(*model) {}},
		"default, two clients, three plans": {explore.Bounds{Short: 2, Long: 3}, func(m *model) { m.clients, m.plans = 2, 3 }},
		"default, two keepers that overlap": {explore.Bounds{Short: 1, Long: 2}, func(m *model) { m.keepers, m.mayLose = 2, true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, bound := range tc.bounds.Chosen() {
				m := explored()
				tc.change(m)
				explore.CheckPage(t, protocolsPage, name, bound, m.run(bound, mostStates))
			}
		})
	}
}

// TestExploreOverlap: of two keepers that write at one time, one may take an annotation off that
// the other then confirms, and so lose a default. docs/protocols.md explains it; when this
// fails because nothing is found, take it off there.
func TestExploreOverlap(t *testing.T) {
	t.Parallel()
	m := explored()
	m.keepers = 2
	explore.RequireFound(t, m.run(2, mostStates), "the default b is lost", 13, "keeper 1 clear b")
}

// TestExploreFindsUnconditionalWrites shows the exploration at work: a keeper that writes whatever
// was written since it read undoes a switch.
func TestExploreFindsUnconditionalWrites(t *testing.T) {
	t.Parallel()
	m := explored()
	m.unconditional = true
	explore.RequireFound(t, m.run(3, mostStates), "the default b is lost", 5, "keeper 1 clear a")
}

// TestExploreFindsClearedSwitches: so does one that takes every record for confirmed, to which a
// switch that is not finished looks as if the annotation had been taken off.
func TestExploreFindsClearedSwitches(t *testing.T) {
	t.Parallel()
	m := explored()
	m.settle = func(s state) action {
		s.confirmed = true
		return settle(s)
	}
	explore.RequireFound(t, m.run(1, mostStates), "the default b is lost", 4, "keeper 1 clear b")
}
