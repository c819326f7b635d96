package endpoints_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// controllerFlags are those of the controllers on the shared stack, whose times are short.
var controllerFlags = []string{
	"--endpoints", "--secret-interval=1s", stack.CallTimeout(4 * time.Second), "--maximum-retry-interval=2s", "--cluster-id=cluster-of-the-endpoints",
	"--allow-broker-addresses=127.0.0.0/8", "--cluster-cidrs=10.244.0.0/16", "--allow-endpoints=allowed.svc",
}

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller"}, Parallel: 6,
		Stack: stack.Options{Webhooks: 1, Whole: true, Endpoints: true, Controller: &stack.ControllerOptions{Args: controllerFlags}},
	})
}
