package osb_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// shared is the stack that scenarios share: one webhook, and one controller whose
// times are short, so that nothing is waited for longer than it has to be.
var (
	shared     *stack.Stack
	controller *stack.Controller
)

// briskly are the flags of a controller in these scenarios.
var briskly = []string{
	"--secret-interval=1s", "--osb-api-request-timeout=3s", "--cluster-id=cluster-of-the-scenarios",
	"--context-annotations=acme.example/", "--allow-broker-addresses=127.0.0.0/8",
}

// binFolder is where the binaries are that every stack of this package runs.
var binFolder string

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "osb", Up: filepath.Join("..", ".."), Binaries: []string{"controlplane", "kubectl", "webhook", "controller"}, AtOnce: 8, Run: run,
	}
	os.Exit(scenarios.Main(m))
}

func run(m *testing.M, dir, bin string) (code int, err error) {
	binFolder = bin
	ctx := context.Background()
	shared, err = stack.Start(ctx, stack.Options{Dir: filepath.Join(dir, "stack"), Bin: bin, Webhooks: 1})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	controller, err = shared.StartController(ctx, stack.ControllerOptions{Args: briskly})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, controller.Stop(ctx, syscall.SIGTERM)) }()
	return m.Run(), nil
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
