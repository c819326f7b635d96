package quotas_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// shared is the stack of all scenarios: one webhook that does not keep, two keepers, of
// which one leads, and one controller.
var (
	shared     *stack.Stack
	keepers    [2]*stack.Keeper
	controller *stack.Controller
)

var briskly = []string{"--secret-interval=5s", "--osb-api-request-timeout=3s", "--allow-broker-addresses=127.0.0.0/8"}

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "quotas", Up: filepath.Join("..", ".."), Binaries: []string{"controlplane", "kubectl", "webhook", "controller"}, AtOnce: 8, Run: run,
	}
	os.Exit(scenarios.Main(m))
}

func run(m *testing.M, dir, bin string) (code int, err error) {
	ctx := context.Background()
	shared, err = stack.Start(ctx, stack.Options{
		Dir: filepath.Join(dir, "stack"), Bin: bin, Whole: true, Webhooks: 1, WebhookArgs: []string{"--keeper=off"},
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	for i, name := range []string{"keeper-a", "keeper-b"} {
		if keepers[i], err = shared.StartKeeperWith(ctx, stack.KeeperOptions{Name: name}); err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, keepers[i].Stop(ctx, syscall.SIGKILL)) }()
	}
	if controller, err = shared.StartController(ctx, stack.ControllerOptions{Args: briskly}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, controller.Stop(ctx, syscall.SIGTERM)) }()
	return m.Run(), nil
}
