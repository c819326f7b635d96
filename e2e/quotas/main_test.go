package quotas_test

import (
	"context"
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// keepers are those of the shared stack, of which one leads: its webhook does not keep.
var keepers [2]*stack.Keeper

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller"}, Parallel: 6,
		Stack: stack.Options{Whole: true, Webhooks: 1, WebhookArgs: []string{"--keeper=off"}, Controller: &stack.ControllerOptions{Args: []string{
			"--secret-interval=5s", stack.CallTimeout(3 * time.Second), "--allow-broker-addresses=127.0.0.0/8",
		}}},
		Setup: startKeepers,
	})
}

func startKeepers(ctx context.Context, s *stack.Stack) (err error) {
	for i, name := range []string{"keeper-a", "keeper-b"} {
		if keepers[i], err = s.StartKeeperWith(ctx, stack.KeeperOptions{Name: name}); err != nil {
			return err
		}
	}
	return nil
}
