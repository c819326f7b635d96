package controllers_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// The tests run one after another: they stop and start the shared stack's controllers.
func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller"}, Parallel: 1,
		Stack: stack.Options{Webhooks: 1, Whole: true, Endpoints: true, ControlPlaneArgs: []string{"-audit"}},
	})
}

// end stops a controller at the end of a test, if it still runs.
func end(t *testing.T, c *stack.Controller) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Stop(context.WithoutCancel(t.Context()), syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
}
