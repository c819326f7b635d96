package osb_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// controllerFlags are those of a controller in these scenarios: its times are short, so
// that nothing is waited for longer than it has to be.
var controllerFlags = []string{
	"--secret-interval=1s", stack.CallTimeout(3 * time.Second), "--cluster-id=cluster-of-the-scenarios",
	"--context-annotations=acme.example/", "--allow-broker-addresses=127.0.0.0/8",
}

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller", "svcat"}, Parallel: 6,
		Stack: stack.Options{Webhooks: 1, Controller: &stack.ControllerOptions{Args: controllerFlags}},
	})
}
