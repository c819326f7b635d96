package svcat_test

import (
	"flag"
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// update writes the golden files again.
var update = flag.Bool("update", false, "write the golden files again")

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller", "svcat"}, Parallel: 6, Stack: stack.Options{Webhooks: 1, Controller: &stack.ControllerOptions{Args: []string{
			"--secret-interval=1s", stack.CallTimeout(3 * time.Second), "--allow-broker-addresses=127.0.0.0/8",
		}}},
	})
}
