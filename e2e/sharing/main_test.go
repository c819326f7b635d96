package sharing_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// shared is the stack that all scenarios share, with all that is shipped; controller is
// the one that runs there.
var (
	shared     *stack.Stack
	controller *stack.Controller
)

// binFolder is where the binaries are.
var binFolder string

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "sharing", Up: filepath.Join("..", ".."), Binaries: []string{"controlplane", "kubectl", "webhook", "controller", "svcat"}, AtOnce: 8, Run: run,
	}
	os.Exit(scenarios.Main(m))
}

func run(m *testing.M, dir, bin string) (code int, err error) {
	binFolder = bin
	ctx := context.Background()
	shared, err = stack.Start(ctx, stack.Options{Dir: filepath.Join(dir, "stack"), Bin: bin, Webhooks: 1, Whole: true})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	// Its times are long: what happens soon is what it watches.
	controller, err = shared.StartController(ctx, stack.ControllerOptions{Args: []string{
		"--secret-interval=10m", "--osb-api-request-timeout=3s", "--cluster-id=cluster", "--allow-broker-addresses=127.0.0.0/8",
	}})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, controller.Stop(ctx, syscall.SIGTERM)) }()
	return m.Run(), nil
}
