package osb_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// controllerFlags are those of a controller in these scenarios: its times are short, so
// that nothing is waited for longer than it has to be.
var controllerFlags = []string{
	"--secret-interval=1s", stack.CallTimeout(3 * time.Second), "--cluster-id=cluster-of-the-scenarios",
	"--context-annotations=acme.example/", "--allow-broker-addresses=127.0.0.0/8",
}

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{
		Binaries: []string{"controller", "svcat"}, Parallel: 6,
		Options: stack.Options{Webhooks: 1}, Controller: &stack.ControllerOptions{Args: controllerFlags},
	})
}
