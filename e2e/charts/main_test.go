package charts_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

var (
	// shared is the stack of all scenarios, and azure the broker on it whose catalog is
	// the demo's: mysql has one suggestion, azure-mysql/premium-p1.
	shared *stack.Stack
	azure  *osbtest.Broker
	// binFolder has the binaries, chartFolder a copy of deploy/charts in which the
	// dependencies are built.
	binFolder, chartFolder string
)

func TestMain(m *testing.M) {
	scenarios := stack.Scenarios{
		Name: "charts", Up: filepath.Join("..", ".."), AtOnce: 8, Run: run,
		Binaries: []string{"controlplane", "kubectl", "webhook", "controller", "svcat", "helm", "helm3"},
	}
	os.Exit(scenarios.Main(m))
}

func run(m *testing.M, dir, bin string) (code int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	binFolder, chartFolder = bin, filepath.Join(dir, "charts")
	shared, err = stack.Start(ctx, stack.Options{Dir: filepath.Join(dir, "stack"), Bin: bin, Webhooks: 1})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	controller, err := shared.StartController(ctx, stack.ControllerOptions{Args: []string{"--secret-interval=1s", "--maximum-retry-interval=2s"}})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, controller.Stop(context.WithoutCancel(ctx), syscall.SIGTERM)) }()
	if err := errors.Join(buildCharts(ctx), registerAzure(ctx)); err != nil {
		return 1, err
	}
	defer azure.Close()
	kubelet, err := startKubelet(ctx, shared.Client())
	if err != nil {
		return 1, err
	}
	defer kubelet.stop()
	return m.Run(), nil
}

// buildCharts copies the charts and builds the dependencies of the copy, so that nothing
// is written beside the sources.
func buildCharts(ctx context.Context) error {
	if err := os.CopyFS(chartFolder, os.DirFS(filepath.Join("..", "..", "deploy", "charts"))); err != nil {
		return fmt.Errorf("cannot copy the charts: %w", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(binFolder, "helm"), "dependency", "build", wordpress())
	cmd.Env = shared.Environment()
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the dependencies of wordpress: %w: %s", err, output)
	}
	return nil
}

// registerAzure registers the shared broker and waits until its catalog was read.
func registerAzure(ctx context.Context) error {
	azure = osbtest.New(osbtest.Options{Catalog: osbtest.DemoCatalog(osbtest.Azure)})
	if err := azure.Listen(ctx, "127.0.0.1:0"); err != nil {
		return err
	}
	b := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: osbtest.Azure}}
	b.Spec.URL = azure.URL
	if err := shared.Client().Create(ctx, b); err != nil {
		return fmt.Errorf("cannot register the broker: %w", err)
	}
	return stack.Eventually(ctx, func() (bool, error) {
		if err := shared.Client().Get(ctx, clientKey(b), b); err != nil {
			return true, err
		}
		ready, _ := api.FindCondition(b.Status.Conditions, api.ConditionReady)
		if ready.Status != api.ConditionTrue {
			return false, fmt.Errorf("the broker is not ready: %s", ready.Message)
		}
		return true, nil
	})
}

func wordpress() string   { return filepath.Join(chartFolder, "examples", "wordpress") }
func brokerChart() string { return filepath.Join(chartFolder, "examples", "broker") }
