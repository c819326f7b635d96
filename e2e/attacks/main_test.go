package attacks_test

import (
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

func TestMain(m *testing.M) {
	stack.Main(m, stack.Suite{
		Binaries: []string{"controller"}, Parallel: 6,
		Options:    stack.Options{Webhooks: 1, Whole: true},
		Controller: &stack.ControllerOptions{Args: []string{stack.CallTimeout(3 * time.Second), "--allow-broker-addresses=127.0.0.0/8", "--deny-broker-cidrs=198.51.100.0/24"}},
	})
}
