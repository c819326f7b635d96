package moving_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/defaultplan/defaultplan/e2e/retired"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// oldSide is the control plane that is left. It serves the API of the retired catalog, which
// does not run: only its definitions and objects are there.
var oldSide *stack.Stack

// TestMain runs the tests on two control planes: the shared stack is the new side.
func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller", "svcat"}, Parallel: 6, Setup: startOldSide,
		Stack: stack.Options{Webhooks: 1, Whole: true, Controller: &stack.ControllerOptions{Args: []string{
			"--secret-interval=1s", stack.CallTimeout(3 * time.Second), "--allow-broker-addresses=127.0.0.0/8", "--cluster-id=new-cluster",
		}}},
	})
}

func startOldSide(ctx context.Context, shared *stack.Stack) (err error) {
	oldSide, err = stack.Start(ctx, stack.Options{Dir: shared.Path("old"), Bin: filepath.Dir(shared.Binary("svcat")), Bare: true})
	if err != nil {
		return err
	}
	shared.AtStop(func(context.Context) error { return oldSide.Stop() })
	return retired.Define(ctx, oldSide.Client())
}
