package rotation_test

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

// shared is the stack of all scenarios, steady its controller, and mortal a second controller of it that is
// killed: it has brokers of its own, and reaches the API server through a proxy.
var (
	shared *stack.Stack
	steady *stack.Controller
	mortal *stack.Controller
	proxy  *stack.APIProxy
	// binFolder is where the binaries are.
	binFolder string
)

// mortalName is what brokers call the controller by that is killed.
const mortalName = "mortal"

// briskly are the flags of a controller in these scenarios: nothing is waited for longer
// than it has to be.
var briskly = []string{
	"--secret-interval=1s", "--osb-api-request-timeout=3s", "--maximum-retry-interval=1s", "--rotation-overlap=2s",
	"--cluster-id=cluster-of-the-scenarios", "--allow-broker-addresses=127.0.0.0/8",
}

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "rotation", Up: filepath.Join("..", ".."), Binaries: []string{"controlplane", "kubectl", "webhook", "controller", "svcat"}, AtOnce: 16, Run: run,
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
	steady, err = shared.StartController(ctx, stack.ControllerOptions{Args: briskly})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, steady.Stop(ctx, syscall.SIGTERM)) }()
	kubeconfig, err := shared.ControllerKubeconfig(ctx)
	if err != nil {
		return 1, err
	}
	if proxy, err = shared.StartAPIProxy(ctx, "proxied", kubeconfig); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	args := append(slices.Clone(briskly), "--controller-name="+mortalName)
	if mortal, err = shared.StartController(ctx, stack.ControllerOptions{Name: mortalName, Kubeconfig: proxy.Kubeconfig(), Args: args}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, mortal.Stop(ctx, syscall.SIGTERM)) }()
	return m.Run(), nil
}
