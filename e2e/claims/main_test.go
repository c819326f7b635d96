package claims_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// shared is the stack of these scenarios, with the policies that are shipped. One
// controller works there, whose times are short.
var shared *stack.Stack

// briskly are the flags of a controller in these scenarios.
var briskly = []string{
	"--secret-interval=1s", "--osb-api-request-timeout=3s", "--maximum-retry-interval=2s", "--cluster-id=cluster-of-the-claims",
	"--allow-broker-addresses=127.0.0.0/8",
}

// crashFlags are those of a controller that is killed: a call that it left is waited for
// no longer than it has to be, and many calls are held at once.
var crashFlags = append(slices.Clone(briskly), "--workers=64", "--osb-api-request-timeout=4s")

// binFolder is where the binaries are that every stack of this package runs.
var binFolder string

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "claims", Up: filepath.Join("..", ".."), Binaries: []string{"controlplane", "kubectl", "webhook", "controller"}, AtOnce: 12, Run: run,
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
	controller, err := shared.StartController(ctx, stack.ControllerOptions{Args: briskly})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, controller.Stop(ctx, syscall.SIGTERM)) }()
	return m.Run(), nil
}
