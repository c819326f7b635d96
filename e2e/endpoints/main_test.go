package endpoints_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// shared is the stack of these scenarios, with the policies that are shipped. One
// controller works there, whose times are short.
var shared *stack.Stack

// briskly are the flags of a controller in these scenarios.
var briskly = []string{
	"--secret-interval=1s", "--osb-api-request-timeout=4s", "--maximum-retry-interval=2s", "--cluster-id=cluster-of-the-endpoints",
	"--allow-broker-addresses=127.0.0.0/8", "--cluster-cidrs=10.244.0.0/16", "--allow-endpoints=allowed.svc",
}

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "endpoints", Up: filepath.Join("..", ".."), Binaries: []string{"controlplane", "kubectl", "webhook", "controller"}, AtOnce: 12, Run: run,
	}
	os.Exit(scenarios.Main(m))
}

func run(m *testing.M, dir, bin string) (code int, err error) {
	ctx := context.Background()
	shared, err = stack.Start(ctx, stack.Options{Dir: filepath.Join(dir, "stack"), Bin: bin, Webhooks: 1, Whole: true})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	controller, err := shared.StartController(ctx, stack.ControllerOptions{Args: briskly})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, controller.Stop(ctx, syscall.SIGTERM)) }()
	return m.Run(), nil
}
