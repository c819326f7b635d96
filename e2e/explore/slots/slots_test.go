package slots_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/explore"
)

const (
	page       = "../../../docs/protocols.md"
	mostStates = 1_000_000
)

// TestExploreSlots: there are never more at the broker than the limits allow, slots that are not
// needed are taken back, and nothing waits while there is room.
func TestExploreSlots(t *testing.T) {
	t.Parallel()
	bounds := explore.Bounds{Short: 1, Long: 2}
	for name, change := range map[string]func(*model){
		"slots, one limit":                  func(*model) {},
		"slots, two limits and other plans": func(m *model) { m.keepers, m.policies, m.asks = 1, 2, []plan{small, large, twice} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, bound := range bounds.Chosen() {
				m := explored()
				change(m)
				explore.CheckPage(t, page, name, bound, m.run(bound, mostStates))
			}
		})
	}
}

// TestExploreFindsUnreadPolicies shows the exploration at work: a controller that does not read the
// policies after its intent calls the broker without a slot.
func TestExploreFindsUnreadPolicies(t *testing.T) {
	t.Parallel()
	m := explored()
	m.unread = true
	explore.RequireFound(t, m.run(1, mostStates), "the broker has 1 of p, which allows 0", 5, "controller 1 calls the broker: object 0 gets small")
}

// TestExploreFindsHastyGrants: a keeper that grants a slot that it took back without listing the
// objects in between gives it to two.
func TestExploreFindsHastyGrants(t *testing.T) {
	t.Parallel()
	m := explored()
	m.hasty, m.keepers = true, 1
	explore.RequireFound(t, m.run(0, mostStates), "the broker has 2 of p, which allows 1", 14, "controller 2 calls the broker: object 1 gets small")
}
