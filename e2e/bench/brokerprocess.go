package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

const (
	brokerCommandName = "broker"
	brokerName        = "bench"
	keptCalls         = 100
)

// brokerCommand is a broker that answers at once, as a process of its own.
func brokerCommand() *cobra.Command {
	var services, plans, port int
	command := &cobra.Command{
		Use: brokerCommandName, Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return osbtest.Serve(c.Context(), osbtest.Options{
				Catalog: osbtest.GeneratedCatalog(services, plans), KeepCalls: keptCalls,
			}, loopback.Address(port))
		},
	}
	command.Flags().IntVar(&services, "services", 1, "services in the catalog")
	command.Flags().IntVar(&plans, "plans", 1, "plans of each")
	command.Flags().IntVar(&port, "port", 0, "port to listen on")
	return command
}

// A market is a stack with a controller and a broker of so many plans.
type market struct {
	*stack.Stack

	controller *stack.Controller
	brokerURL  string
}

// onMarket starts all of it, calls work, and stops it.
func onMarket(ctx context.Context, bin string, services, plans int, work func(*market) error) error {
	return inFolder(func(dir string) (err error) {
		started, err := stack.Start(ctx, stack.Options{Dir: dir, Bin: bin, Webhooks: 1, ReadyWithin: marketPatience})
		if err != nil {
			return err
		}
		m := &market{Stack: started}
		defer func() { err = errors.Join(err, m.stop(context.WithoutCancel(ctx))) }()
		if m.controller, err = started.StartController(ctx, stack.ControllerOptions{}); err != nil {
			return err
		}
		if err := m.startBroker(ctx, services, plans); err != nil {
			return err
		}
		return work(m)
	})
}

func (m *market) stop(ctx context.Context) error {
	var err error
	if m.controller != nil {
		err = m.controller.Stop(ctx, syscall.SIGTERM)
	}
	return errors.Join(err, m.Stop()) //nolint:contextcheck // it stops even if ctx ended
}

// used is the processor time of the processes until now: this program's, those that are always there, and others.
func (m *market) used(others ...string) (measure.Usage, error) {
	const self = "the benchmark"
	pid := func(name string) (int, error) {
		if name == self {
			return os.Getpid(), nil
		}
		return m.Pid(name) //nolint:wrapcheck // it says what failed
	}
	return measure.UsedBy(pid, append(others, controlPlaneProcess, webhookProcess, keeperProcess, controllerProcess, self)...) //nolint:wrapcheck // it says what failed
}

// startBroker starts this program once more, and waits until it listens.
func (m *market) startBroker(ctx context.Context, services, plans int) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %w", err)
	}
	ports, err := loopback.FreePorts(ctx, 1)
	if err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	port := ports[0]
	args := []string{brokerCommandName, "--services=" + strconv.Itoa(services), "--plans=" + strconv.Itoa(plans), "--port=" + strconv.Itoa(port)}
	if err := m.StartProcess(brokerCommandName, self, args...); err != nil { //nolint:contextcheck // it ends with the stack
		return err
	}
	address := loopback.Address(port)
	m.brokerURL = "http://" + address
	return wait.Eventually(ctx, func() (bool, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return false, err //nolint:wrapcheck // told with the reason for waiting
		}
		return true, conn.Close()
	})
}

// register makes the broker known and waits until its catalog was taken over.
func (m *market) register(ctx context.Context) error {
	broker := &api.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: brokerName}}
	broker.Spec.URL = m.brokerURL
	if err := m.Client().Create(ctx, broker); err != nil {
		return fmt.Errorf("cannot register the broker: %w", err)
	}
	return m.listed(ctx, broker)
}

// listed waits until the broker's catalog was taken over as its spec is now.
func (m *market) listed(ctx context.Context, broker *api.ClusterServiceBroker) error {
	ctx, cancel := context.WithTimeout(ctx, marketPatience)
	defer cancel()
	return wait.Eventually(ctx, func() (bool, error) {
		if err := m.Client().Get(ctx, client.ObjectKeyFromObject(broker), broker); err != nil {
			return false, fmt.Errorf("cannot read the broker: %w", err)
		}
		ready, _ := api.FindCondition(broker.Status.Conditions, api.ConditionReady)
		if ready.Status == api.ConditionTrue && broker.Status.ReconciledGeneration == broker.Generation {
			return true, nil
		}
		// What it lists may be ten thousand plans: each thousand of them is progress.
		const step = 1000
		return false, fmt.Errorf("the broker is not ready, with %d plans or more: %s", m.plans(ctx)/step*step, ready.Message)
	})
}

// plans counts the cluster's plans, without reading them; 0 if that fails.
func (m *market) plans(ctx context.Context) int64 {
	var first api.ClusterServicePlanList
	if m.Client().List(ctx, &first, client.Limit(1)) != nil || first.RemainingItemCount == nil {
		return int64(len(first.Items))
	}
	return int64(len(first.Items)) + *first.RemainingItemCount
}
