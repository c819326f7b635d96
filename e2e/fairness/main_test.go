package fairness_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// Calls have all the time that they have by default: what hangs does so for longer than
// another tenant waits.
func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{
		Binaries: []string{"controller"}, Parallel: 1,
		Options:    stack.Options{Webhooks: 1, Whole: true},
		Controller: &stack.ControllerOptions{Args: []string{"--allow-broker-addresses=127.0.0.0/8"}},
	})
}
