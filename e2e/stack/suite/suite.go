package suite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

const project = "github.com/defaultplan/defaultplan"

// Options say what the tests of one package run on. The zero value suits tests that
// each start stacks of their own, with New.
type Options struct {
	// Binaries are those that tests run besides controlplane, kubectl and webhook, such
	// as controller and svcat.
	Binaries []string
	// Parallel is how many tests run at the same time, unless -parallel is given: most
	// of them wait for other processes, so the number of CPUs says little. Zero: that of
	// go test.
	Parallel int
	// Stack is the stack that tests share. Dir and Bin are set by Main.
	Stack stack.Options
	// Setup prepares the shared stack once it runs. What it starts is ended by a
	// function given to AtStop.
	Setup func(ctx context.Context, s *stack.Stack) error
}

// A run is a suite while its tests run.
type run struct {
	options Options

	// dir has the state of all stacks, and bin links to the binaries.
	dir, bin string
	// shared starts the shared stack when it is called first; started is that stack,
	// nil until it is called.
	shared  func() (*stack.Stack, error)
	started *stack.Stack
}

// current is what Main runs: a test binary has one package, and so one suite.
var current *run

// Main runs the tests of a package on a suite, and exits. It keeps what stacks wrote if
// a test failed, and prints where.
func Main(m *testing.M, options Options) {
	options.Binaries = append([]string{"controlplane", "kubectl", "webhook"}, options.Binaries...)
	given := options.binaryFlags(flag.CommandLine)
	flag.Parse()
	collectLess()
	os.Exit(options.run(m, given))
}

// collectLess has this process and those that it starts trade memory for processor time,
// of which garbage collection takes a fifth, unless GOGC is set.
func collectLess() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const percent = 400
	debug.SetGCPercent(percent)
	if err := os.Setenv("GOGC", strconv.Itoa(percent)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// Shared is the stack that the tests of a package share. It is started for the first
// test that asks.
func Shared(tb testing.TB) *stack.Stack {
	tb.Helper()
	require.NotNil(tb, current, "TestMain does not call suite.Main")
	s, err := current.shared()
	require.NoError(tb, err)
	return s
}

// New starts a stack for one test, which ends it. Without Dir its folder is TempDir.
func New(tb testing.TB, options stack.Options) *stack.Stack {
	tb.Helper()
	if options.Dir == "" {
		options.Dir = TempDir(tb)
	}
	options.Bin = current.bin
	s, err := stack.Start(tb.Context(), options)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Errorf("the stack did not end well: %v", err)
		}
	})
	return s
}

// TempDir makes a folder for the stack of one test. It is removed when the test ends,
// unless the test failed: then its logs are kept.
func TempDir(tb testing.TB) string {
	tb.Helper()
	require.NotNil(tb, current, "TestMain does not call suite.Main")
	dir, err := os.MkdirTemp(current.dir, strings.ReplaceAll(tb.Name(), "/", "-")+"-") //nolint:usetesting // that of a test is removed though the test failed
	require.NoError(tb, err)
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("logs of the stack: %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			tb.Errorf("cannot remove the stack's folder: %v", err)
		}
	})
	return dir
}

func (o *Options) run(m *testing.M, given map[string]*string) int {
	if flag.Lookup("test.list").Value.String() != "" {
		return m.Run()
	}
	ctrllog.SetLogger(logr.Discard())
	code, err := o.runIn(m, given)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	if current == nil {
		return code
	}
	if code != 0 {
		fmt.Fprintf(os.Stderr, "logs of the stacks: %s\n", current.dir)
		return code
	}
	if err := os.RemoveAll(current.dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (o *Options) runIn(m *testing.M, given map[string]*string) (code int, err error) {
	here, err := os.Getwd()
	if err != nil {
		return 1, fmt.Errorf("cannot find the package: %w", err)
	}
	root, err := projectRoot(here)
	if err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "defaultplan-"+filepath.Base(here)+"-")
	if err != nil {
		return 1, fmt.Errorf("cannot make a folder for stacks: %w", err)
	}
	current = &run{options: *o, dir: dir, bin: filepath.Join(dir, "bin")}
	current.shared = sync.OnceValues(current.startShared)
	if err := errors.Join(o.limit(), o.link(root, current.bin, given)); err != nil {
		return 1, err
	}
	if err := warnOutdated(os.Stderr, root, current.bin, o.Binaries); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, current.stopShared()) }()
	return m.Run(), nil
}

// startShared starts the shared stack and what the suite has beside it.
func (r *run) startShared() (*stack.Stack, error) {
	// It outlives the test that needs it first.
	ctx := context.Background()
	options := r.options.Stack
	options.Dir, options.Bin = filepath.Join(r.dir, "shared"), r.bin
	s, err := stack.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	r.started = s
	if r.options.Setup != nil {
		if err := r.options.Setup(ctx, s); err != nil {
			return nil, fmt.Errorf("cannot set up the shared stack: %w", err)
		}
	}
	return s, nil
}

func (r *run) stopShared() error {
	if r.started == nil {
		return nil
	}
	return r.started.Stop()
}

// projectRoot is the folder of the project that a folder is part of. Packages that have a module of
// their own are part of it, too.
func projectRoot(folder string) (string, error) {
	for {
		content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module "+project+"\n") {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", fmt.Errorf("cannot find the project: no parent folder has a go.mod of module %s", project)
		}
		folder = parent
	}
}

// limit sets how many tests run at the same time, unless the command line does.
func (o *Options) limit() error {
	given := o.Parallel == 0
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(o.Parallel))
}

// binaryFlags lets each of the binaries be given by a flag of its name, such as
// -controller=/path/to/another.
func (o *Options) binaryFlags(flags *flag.FlagSet) map[string]*string {
	given := map[string]*string{}
	for _, name := range o.Binaries {
		given[name] = flags.String(name, "", "the "+name+" to run in place of the one that was built: a path, best an absolute one")
	}
	return given
}

// link makes bin a folder of links to the binaries: those of DEFAULTPLAN_BIN (bin of
// the module), but for one that a flag or DEFAULTPLAN_NAME names, as
// DEFAULTPLAN_WEBHOOK: such as one with the race detector, or another's.
func (o *Options) link(root, bin string, given map[string]*string) error {
	from := os.Getenv("DEFAULTPLAN_BIN")
	if from == "" {
		from = filepath.Join(root, "bin")
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		return fmt.Errorf("cannot make a folder for binaries: %w", err)
	}
	for _, name := range o.Binaries {
		source := *given[name]
		if source == "" {
			source = os.Getenv("DEFAULTPLAN_" + strings.ToUpper(name))
		}
		if source == "" {
			source = filepath.Join(from, name)
		}
		source, err := filepath.Abs(source)
		if err != nil {
			return fmt.Errorf("cannot find binary %q: %w", name, err)
		}
		if _, err := os.Stat(source); err != nil { //nolint:gosec // the user who runs the tests names the binaries
			return fmt.Errorf("cannot find binary %q: run `make build`: %w", name, err)
		}
		if err := os.Symlink(source, filepath.Join(bin, name)); err != nil {
			return fmt.Errorf("cannot link binary %q: %w", name, err)
		}
	}
	return nil
}
