package lifecycle_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/explore"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

const (
	page       = "../../../docs/protocols.md"
	mostStates = 500_000
)

// TestExploreLifecycle: nothing is made twice, nothing is lost at the broker, and everything ends.
func TestExploreLifecycle(t *testing.T) {
	t.Parallel()
	bounds := explore.Bounds{Short: 3, Long: 5}
	for name, binding := range map[string]bool{"lifecycle, an instance": false, "lifecycle, a binding that rotates": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, bound := range bounds.Chosen() {
				explore.CheckPage(t, page, name, bound, explored(binding).run(bound, mostStates))
			}
		})
	}
}

// TestExploreFindsForgottenDeadlines shows the exploration at work: a controller that forgets until
// when a request may be acted on gives up its ID too early.
func TestExploreFindsForgottenDeadlines(t *testing.T) {
	t.Parallel()
	m := explored(false)
	m.stored = func(_, after *lifecycle.Record) { after.Deadline = time.Time{} }
	explore.RequireFound(t, m.run(1, mostStates), "what the broker may still make under ID 0 is lost", 2, "mitigate, ID 0: 410")
}

// TestExploreFindsIDsGivenUp: one that asks again under another ID, without removing what it may
// have made before, makes it twice.
func TestExploreFindsIDsGivenUp(t *testing.T) {
	t.Parallel()
	m := explored(false)
	m.stored = func(before, after *lifecycle.Record) {
		if after.Mitigating && !before.Mitigating {
			after.Mitigating, after.Operation, after.InProgress, after.ID = false, lifecycle.NoOperation, nil, idOf(numberOf(after.ID)+1)
		}
	}
	explore.RequireFound(t, m.run(1, mostStates), "what the broker has under ID 0 is lost", 1, "make, ID 0: the reply is lost")
}

// TestExploreFindsLateUpdates: one that does not wait for an update that was cut off is undone by it.
func TestExploreFindsLateUpdates(t *testing.T) {
	t.Parallel()
	m := explored(false)
	m.stored = func(_, after *lifecycle.Record) {
		if after.Operation == lifecycle.Updating {
			after.Deadline = time.Time{}
		}
	}
	explore.RequireFound(t, m.run(3, mostStates), "unfinished: it is ready, and the broker has 1, in force {2 b}", 6, "the broker acts late on a request to change, ID 0")
}
