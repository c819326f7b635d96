package e2e_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// update writes the golden files anew.
var update = flag.Bool("update", false, "write the golden files anew")

// shared is the stack that scenarios share: two webhook processes behind a
// balancer, all flags at their defaults, audit log on, and a Releaser at work.
var shared *stack.Stack

// crowded is another like it, for scenarios that make hundreds of types: a keeper
// is busy with those for minutes, and others wait for theirs.
var crowded lazyStack

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

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{Name: "e2e", Up: "..", Binaries: []string{"controlplane", "kubectl", "webhook", "controller", "svcat"}, AtOnce: 6, Run: run}
	os.Exit(scenarios.Main(m))
}

func run(m *testing.M, dir, bin string) (code int, err error) {
	binFolder = bin
	crowded.options = stack.Options{Dir: filepath.Join(dir, "crowded"), Bin: bin, Webhooks: 2}
	defer func() { err = errors.Join(err, crowded.stop()) }()
	shared, err = stack.Start(context.Background(), stack.Options{
		Dir: filepath.Join(dir, "stack"), Bin: bin, Webhooks: 2, ControlPlaneArgs: []string{"-audit"},
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	stop, err := release(shared)
	if err != nil {
		return 1, err
	}
	defer stop()
	return m.Run(), nil
}

// binFolder is where the binaries are that every stack of this package runs.
var binFolder string

// release starts a Releaser, which the returned function stops.
func release(s *stack.Stack) (stop func(), err error) {
	releaser, err := stack.NewReleaser(s.RESTConfig())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- releaser.Run(ctx) }()
	return func() {
		cancel()
		<-done
	}, nil
}

// startStack starts a stack of the test's own, for flags that the shared one
// does not have: one webhook, and a Releaser. It is stopped when the test ends.
func startStack(t *testing.T, edit func(*stack.Options)) *stack.Stack {
	t.Helper()
	options := stack.Options{Dir: t.TempDir(), Bin: binFolder, Webhooks: 1}
	if edit != nil {
		edit(&options)
	}
	s, err := stack.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	stop, err := release(s)
	require.NoError(t, err)
	t.Cleanup(stop)
	return s
}
