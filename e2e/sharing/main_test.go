package sharing_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller", "svcat"}, Parallel: 6,
		// The controller's times are long: what happens soon is what it watches.
		Stack: stack.Options{Webhooks: 1, Whole: true, Controller: &stack.ControllerOptions{Args: []string{
			"--secret-interval=10m", stack.CallTimeout(3 * time.Second), "--cluster-id=cluster", "--allow-broker-addresses=127.0.0.0/8",
		}}},
	})
}
