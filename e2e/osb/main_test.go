package osb_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// shared is the stack that scenarios share: one webhook, and one controller whose
// times are short, so that nothing is waited for longer than it has to be.
var (
	shared     *stack.Stack
	controller *stack.Controller
)

// briskly are the flags of a controller in these scenarios.
var briskly = []string{
	"--secret-interval=1s", "--osb-api-request-timeout=3s", "--cluster-id=cluster-of-the-scenarios",
	"--context-annotations=acme.example/", "--allow-broker-addresses=127.0.0.0/8",
}

// scenariosAtOnce is how many scenarios run at the same time, unless -parallel was given:
// most of them wait for other processes.
const scenariosAtOnce = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", scenariosAtOnce); err != nil {
			panic(err)
		}
	}
	ctrllog.SetLogger(logr.Discard())
	os.Exit(run(m))
}

// run keeps what the stack wrote if anything fails, and says where.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "defaultplan-osb-")
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
		fmt.Fprintf(os.Stderr, "logs of the stack: %s\n", dir)
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
	ctx := context.Background()
	shared, err = stack.Start(ctx, stack.Options{Dir: filepath.Join(dir, "stack"), Bin: bin, Webhooks: 1})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	controller, err = shared.StartController(ctx, stack.ControllerOptions{Args: briskly})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, controller.Stop(ctx, syscall.SIGTERM)) }()
	return m.Run(), nil
}

// binaries makes dir a folder of links to the binaries: those of DEFAULTPLAN_BIN
// (../../bin), but for the controller and the webhook that DEFAULTPLAN_CONTROLLER and
// DEFAULTPLAN_WEBHOOK name, such as those with the race detector.
func binaries(dir string) (string, error) {
	from := orElse(os.Getenv("DEFAULTPLAN_BIN"), filepath.Join("..", "..", "bin"))
	sources := map[string]string{
		"controlplane": filepath.Join(from, "controlplane"),
		"kubectl":      filepath.Join(from, "kubectl"),
		"webhook":      orElse(os.Getenv("DEFAULTPLAN_WEBHOOK"), filepath.Join(from, "webhook")),
		"controller":   orElse(os.Getenv("DEFAULTPLAN_CONTROLLER"), filepath.Join(from, "controller")),
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
