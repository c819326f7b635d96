package attacks_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller"}, Parallel: 6,
		Stack: stack.Options{Webhooks: 1, Whole: true, Controller: &stack.ControllerOptions{Args: []string{stack.CallTimeout(3 * time.Second), "--allow-broker-addresses=127.0.0.0/8", "--deny-broker-cidrs=198.51.100.0/24"}}},
	})
}
