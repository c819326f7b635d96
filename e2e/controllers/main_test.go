package controllers_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// shared is the stack of all scenarios. They run one after another: they stop and start
// its controllers.
var shared *stack.Stack

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "controllers", Up: filepath.Join("..", ".."), Binaries: []string{"controlplane", "kubectl", "webhook", "controller"}, AtOnce: 1, Run: run,
	}
	os.Exit(scenarios.Main(m))
}

func run(m *testing.M, dir, bin string) (code int, err error) {
	shared, err = stack.Start(context.Background(), stack.Options{
		Dir: filepath.Join(dir, "stack"), Bin: bin, Webhooks: 1, Whole: true, ControlPlaneArgs: []string{"-audit"},
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	return m.Run(), nil
}

// end stops a controller at the end of a test, if it still runs.
func end(t *testing.T, c *stack.Controller) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Stop(context.Background(), syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
}
