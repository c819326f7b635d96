package stack

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// Scenarios are the tests of one package that share stacks.
type Scenarios struct {
	// Name is the package's, for the folder of logs.
	Name string
	// Up is the path from the package to the root of the project.
	Up string
	// Binaries are those that the scenarios run, such as webhook and kubectl.
	Binaries []string
	// AtOnce is how many scenarios run at the same time, unless -parallel was
	// given: most of them wait for other processes, so that the number of CPUs says
	// little.
	AtOnce int
	// Run starts what is shared, with state below dir and the binaries of bin, runs
	// the tests and ends it.
	Run func(m *testing.M, dir, bin string) (code int, err error)
}

// Main runs the tests of a package and returns the exit code. It keeps what the
// stacks wrote if anything fails, and says where.
func (s *Scenarios) Main(m *testing.M) int {
	given := s.binaryFlags(flag.CommandLine)
	flag.Parse()
	s.limit()
	ctrllog.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "defaultplan-"+s.Name+"-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code, err := s.runIn(m, dir, given)
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

func (s *Scenarios) limit() {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(s.AtOnce)); err != nil {
		panic(err)
	}
}

func (s *Scenarios) runIn(m *testing.M, dir string, given map[string]*string) (int, error) {
	bin := filepath.Join(dir, "bin")
	if err := s.link(bin, given); err != nil {
		return 1, err
	}
	if err := warnOutdated(os.Stderr, s.Up, bin, s.Binaries); err != nil {
		return 1, err
	}
	return s.Run(m, dir, bin)
}

// binaryFlags lets each of the binaries be given by a flag of its name, such as
// -controller=/path/to/another.
func (s *Scenarios) binaryFlags(flags *flag.FlagSet) map[string]*string {
	given := map[string]*string{}
	for _, name := range s.Binaries {
		given[name] = flags.String(name, "", "the "+name+" to run in place of the one that was built: a path, best an absolute one")
	}
	return given
}

// link makes bin a folder of links to the binaries: those of DEFAULTPLAN_BIN (bin
// of the project), but for one that a flag or DEFAULTPLAN_NAME names, as
// DEFAULTPLAN_WEBHOOK: such as one with the race detector, or another's.
func (s *Scenarios) link(bin string, given map[string]*string) error {
	from := os.Getenv("DEFAULTPLAN_BIN")
	if from == "" {
		from = filepath.Join(s.Up, "bin")
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		return fmt.Errorf("cannot make a folder for binaries: %w", err)
	}
	for _, name := range s.Binaries {
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
		if _, err := os.Stat(source); err != nil { //nolint:gosec // whoever runs the tests names the binaries
			return fmt.Errorf("cannot find binary %q: run `make build`: %w", name, err)
		}
		if err := os.Symlink(source, filepath.Join(bin, name)); err != nil {
			return fmt.Errorf("cannot link binary %q: %w", name, err)
		}
	}
	return nil
}
