package rotation_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/apiproxy"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// mortal is a second controller on the shared stack that is killed: it has brokers of its
// own, and reaches the API server through proxy.
var (
	mortal *stack.Controller
	proxy  *apiproxy.Proxy
)

// mortalName is the name by which brokers ask for mortal.
const mortalName = "mortal"

// controllerFlags are those of a controller in these scenarios: nothing is waited for
// longer than it has to be.
var controllerFlags = []string{
	"--secret-interval=1s", stack.CallTimeout(3 * time.Second), "--maximum-retry-interval=1s", "--rotation-overlap=2s",
	"--cluster-id=cluster-of-the-scenarios", "--allow-broker-addresses=127.0.0.0/8",
}

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller", "svcat"}, Parallel: 6,
		Stack: stack.Options{Webhooks: 1, Whole: true, Controller: &stack.ControllerOptions{Args: controllerFlags}},
		Setup: startMortal,
	})
}

func startMortal(ctx context.Context, s *stack.Stack) error {
	kubeconfig, err := s.ControllerKubeconfig(ctx)
	if err != nil {
		return err
	}
	if proxy, err = s.StartAPIProxy(ctx, "proxied", kubeconfig); err != nil {
		return err
	}
	s.AtStop(func(context.Context) error { return proxy.Close() })
	args := append(slices.Clone(controllerFlags), "--controller-name="+mortalName)
	mortal, err = s.StartController(ctx, stack.ControllerOptions{Name: mortalName, Kubeconfig: proxy.Kubeconfig(), Args: args})
	return err
}
