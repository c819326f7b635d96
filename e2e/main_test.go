package e2e_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

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
	flag.Parse()
	scenariosAtOnce(6)
	ctrllog.SetLogger(logr.Discard())
	os.Exit(run(m))
}

// scenariosAtOnce lets n scenarios run at the same time, unless -parallel was
// given: most of them wait for other processes, so the number of CPUs says little.
func scenariosAtOnce(n int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// run keeps what the stack wrote if anything fails, and says where.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "defaultplan-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code, err := runIn(dir, m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	if code != 0 {
		fmt.Fprintf(os.Stderr, "logs of the shared stacks: %s\n", dir)
		return code
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runIn(dir string, m *testing.M) (code int, err error) {
	bin, err := binaries(filepath.Join(dir, "bin"))
	if err != nil {
		return 1, err
	}
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

// binaries makes dir a folder of links to the binaries: those of DEFAULTPLAN_BIN
// (../bin), but for the webhook that DEFAULTPLAN_WEBHOOK names, such as one with
// the race detector.
func binaries(dir string) (string, error) {
	from := orElse(os.Getenv("DEFAULTPLAN_BIN"), filepath.Join("..", "bin"))
	sources := map[string]string{
		"controlplane": filepath.Join(from, "controlplane"),
		"kubectl":      filepath.Join(from, "kubectl"),
		"webhook":      orElse(os.Getenv("DEFAULTPLAN_WEBHOOK"), filepath.Join(from, "webhook")),
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot make a folder for binaries: %w", err)
	}
	for name, source := range sources {
		source, err := filepath.Abs(source)
		if err != nil {
			return "", fmt.Errorf("cannot find binary %q: %w", name, err)
		}
		if _, err := os.Stat(source); err != nil {
			return "", fmt.Errorf("cannot find binary %q: run `make build`: %w", name, err)
		}
		if err := os.Symlink(source, filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("cannot link binary %q: %w", name, err)
		}
	}
	return dir, nil
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

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
