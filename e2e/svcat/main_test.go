package svcat_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// update writes the golden files anew.
var update = flag.Bool("update", false, "write the golden files anew")

// shared is the stack that scenarios share: one webhook, and a controller whose
// times are short.
var shared *stack.Stack

// binFolder is where the binaries are that every stack of this package runs.
var binFolder string

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "svcat", Up: filepath.Join("..", ".."), AtOnce: 6, Run: run,
		Binaries: []string{"controlplane", "kubectl", "webhook", "controller", "svcat"},
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
	controller, err := shared.StartController(ctx, stack.ControllerOptions{Args: []string{
		"--secret-interval=1s", "--osb-api-request-timeout=3s", "--allow-broker-addresses=127.0.0.0/8",
	}})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, controller.Stop(ctx, syscall.SIGTERM)) }()
	return m.Run(), nil
}
