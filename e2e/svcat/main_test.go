package svcat_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// update writes the golden files anew.
var update = flag.Bool("update", false, "write the golden files anew")

// shared is the stack that scenarios share: one webhook, and a controller whose
// times are short.
var shared *stack.Stack

// story is another without a controller, whose catalog is that of the proposal,
// object by object: for scenarios that need its very names. They share it, and
// write nothing that stays.
var story lazyStack

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
	story.options = stack.Options{Dir: filepath.Join(dir, "story"), Bin: bin, Webhooks: 1}
	defer func() { err = errors.Join(err, story.stop()) }()
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

// A lazyStack is a stack that is started for the first scenario that needs it.
type lazyStack struct {
	options stack.Options

	once  sync.Once
	stack *stack.Stack
	err   error
}

// start returns the stack, which is running.
func (l *lazyStack) start(t *testing.T) *stack.Stack {
	t.Helper()
	l.once.Do(func() { l.stack, l.err = stack.Start(context.WithoutCancel(t.Context()), l.options) })
	require.NoError(t, l.err)
	return l.stack
}

// stop ends the stack if it was started. No scenario runs any more.
func (l *lazyStack) stop() error {
	if l.stack == nil {
		return nil
	}
	return l.stack.Stop()
}
