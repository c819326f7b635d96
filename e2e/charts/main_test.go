package charts_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

var (
	// azure is a broker on the shared stack whose catalog is the demo's: mysql has one
	// suggestion, azure-mysql/premium-p1.
	azure *osbtest.Broker
	// chartFolder is a copy of deploy/charts in which the dependencies are built.
	chartFolder string
)

func TestMain(m *testing.M) {
	suite.Main(m, suite.Options{
		Binaries: []string{"controller", "svcat", "helm", "helm3"}, Parallel: 6,
		Stack: stack.Options{Webhooks: 1, Whole: true, Controller: &stack.ControllerOptions{
			Args: []string{"--secret-interval=1s", "--maximum-retry-interval=2s"},
		}},
		Setup: setup,
	})
}

func setup(ctx context.Context, s *stack.Stack) error {
	if err := errors.Join(buildCharts(ctx, s), registerAzure(ctx, s)); err != nil {
		return err
	}
	kubelet, err := startKubelet(ctx, s.Client())
	if err != nil {
		return err
	}
	s.AtStop(func(context.Context) error {
		kubelet.stop()
		azure.Close()
		return nil
	})
	return nil
}

// buildCharts copies the charts and builds the dependencies of the copy, so that nothing
// is written beside the sources.
func buildCharts(ctx context.Context, s *stack.Stack) error {
	chartFolder = s.Path("charts")
	if err := os.CopyFS(chartFolder, os.DirFS(filepath.Join("..", "..", "deploy", "charts"))); err != nil {
		return fmt.Errorf("cannot copy the charts: %w", err)
	}
	cmd := exec.CommandContext(ctx, s.Binary("helm"), "dependency", "build", wordpress())
	cmd.Env = s.Environment()
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the dependencies of wordpress: %w: %s", err, output)
	}
	return nil
}

// registerAzure registers the shared broker and waits until its catalog was read.
func registerAzure(ctx context.Context, s *stack.Stack) error {
	azure = osbtest.New(osbtest.Options{Catalog: osbtest.DemoCatalog(osbtest.Azure)})
	if err := azure.Listen(ctx, "127.0.0.1:0"); err != nil {
		return err
	}
	b := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: osbtest.Azure}}
	b.Spec.URL = azure.URL
	if err := s.Client().Create(ctx, b); err != nil {
		return fmt.Errorf("cannot register the broker: %w", err)
	}
	return wait.Eventually(ctx, func() (bool, error) {
		if err := s.Client().Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return true, err
		}
		ready := env.ConditionOf(b, api.ConditionReady)
		if ready.Status != api.ConditionTrue {
			return false, fmt.Errorf("the broker is not ready: %s", ready.Message)
		}
		return true, nil
	})
}

func wordpress() string   { return filepath.Join(chartFolder, "examples", "wordpress") }
func brokerChart() string { return filepath.Join(chartFolder, "examples", "broker") }
