package simulate_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller", "svcat"}, Parallel: 6,
		Stack: stack.Options{Webhooks: 1, WebhookArgs: []string{"--unresolved=wait"}, Controller: &stack.ControllerOptions{Args: []string{
			"--secret-interval=1h", stack.CallTimeout(3 * time.Second), "--allow-broker-addresses=127.0.0.0/8",
		}}},
	})
}
