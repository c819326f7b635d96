package fairness_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// callTimeout is more than by default: what hangs does so for longer than another tenant waits,
// also on a busy machine.
const callTimeout = 5 * time.Minute

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller"}, Parallel: 1,
		Stack: stack.Options{Webhooks: 1, Whole: true, Controller: &stack.ControllerOptions{Args: []string{"--allow-broker-addresses=127.0.0.0/8", stack.CallTimeout(callTimeout)}}},
	})
}
