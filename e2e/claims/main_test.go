package claims_test

import (
	"slices"
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// controllerFlags are those of the controller on the shared stack, whose times are short.
var controllerFlags = []string{
	"--secret-interval=1s", stack.CallTimeout(3 * time.Second), "--maximum-retry-interval=2s", "--cluster-id=cluster-of-the-claims",
	"--allow-broker-addresses=127.0.0.0/8",
}

// crashFlags are those of a controller that is killed: it waits for a call that it left
// no longer than it has to, and holds many calls at once.
var crashFlags = append(slices.Clone(controllerFlags), "--workers=64", stack.CallTimeout(4*time.Second))

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller"}, Parallel: 6,
		Stack: stack.Options{Webhooks: 1, Whole: true, Controller: &stack.ControllerOptions{Args: controllerFlags}},
	})
}
