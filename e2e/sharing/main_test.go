package sharing_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{
		Binaries: []string{"controller", "svcat"}, Parallel: 6,
		Options: stack.Options{Webhooks: 1, Whole: true},
		// Its times are long: what happens soon is what it watches.
		Controller: &stack.ControllerOptions{Args: []string{
			"--secret-interval=10m", stack.CallTimeout(3 * time.Second), "--cluster-id=cluster", "--allow-broker-addresses=127.0.0.0/8",
		}},
	})
}
