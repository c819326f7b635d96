package stack

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
	"github.com/defaultplan/defaultplan/e2e/stack/process"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// controllerUser is who the controller is to the API server; deploy/rbac gives it its
// rights.
const controllerUser = "system:serviceaccount:defaultplan-system:defaultplan-controller"

// ControllerOptions say how a controller is run.
type ControllerOptions struct {
	// Name is that of its process and log; empty: controller.
	Name string
	// Kubeconfig is how it reaches the API server; empty: directly, as its own
	// ServiceAccount.
	Kubeconfig string
	// Args are further flags; they come last. Without any it is not elected: it is the
	// only one.
	Args []string
}

// A Controller is a controller process. It can be killed and started again. It ends with
// the stack at the latest.
type Controller struct {
	stack           *Stack
	options         ControllerOptions
	health, metrics int
	// process is nil while it is stopped.
	process *process.Process
}

// StartController starts a controller and returns when its caches are filled.
func (s *Stack) StartController(ctx context.Context, options ControllerOptions) (*Controller, error) {
	ports, err := loopback.FreePorts(ctx, 2)
	if err != nil {
		return nil, err
	}
	if options.Name == "" {
		options.Name = "controller"
	}
	if options.Kubeconfig == "" {
		if options.Kubeconfig, err = s.ControllerKubeconfig(ctx); err != nil {
			return nil, err
		}
	}
	c := &Controller{stack: s, options: options, health: ports[0], metrics: ports[1]}
	s.AtStop(func(ctx context.Context) error { return c.Stop(ctx, syscall.SIGTERM) })
	return c, c.Start(ctx)
}

// Controller is the stack's own, that of Options; nil if it has none.
func (s *Stack) Controller() *Controller { return s.controller }

// ControllerKubeconfig is a file with which a process is the controller to the API
// server.
func (s *Stack) ControllerKubeconfig(ctx context.Context) (string, error) {
	return s.KubeconfigFor(ctx, controllerUser)
}

// Start starts the controller again, as one that knows nothing of the last.
func (c *Controller) Start(ctx context.Context) error {
	if err := c.Launch(ctx); err != nil {
		return err
	}
	return c.Ready(ctx)
}

// Launch starts the controller and does not wait until it is ready.
func (c *Controller) Launch(ctx context.Context) error {
	if c.process != nil && c.process.Gone() == nil {
		return fmt.Errorf("cannot start %q: it runs", c.options.Name)
	}
	options := c.stack.options
	var err error
	c.process, err = options.start(ctx, process.Command{
		Name: c.options.Name, Binary: filepath.Join(options.Bin, "controller"),
		Args: append([]string{
			"--kubeconfig=" + c.options.Kubeconfig, "--leader-elect=false",
			"--health-address=" + loopback.Address(c.health), "--metrics-address=" + loopback.Address(c.metrics),
		}, c.options.Args...),
	})
	return err
}

// Ready returns when its caches are filled.
func (c *Controller) Ready(ctx context.Context) error {
	running := c.process
	if running == nil {
		return errors.New("cannot wait for the controller: it was stopped")
	}
	err := untilReady(ctx, running, c.stack.options.ReadyWithin, func(ctx context.Context) (bool, error) {
		err := probe(ctx, "http://"+loopback.Address(c.health)+"/readyz")
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("cannot start %q: %w", c.options.Name, err)
	}
	return nil
}

// Stop sends the signal and returns when the controller ended. One that is stopped
// already stays so.
func (c *Controller) Stop(ctx context.Context, signal syscall.Signal) error {
	if c.process == nil {
		return nil
	}
	ended := c.process
	c.process = nil
	return ended.End(ctx, signal)
}

// Log is the file with the controller's output.
func (c *Controller) Log() string { return process.LogFile(c.stack.options.Dir, c.options.Name) }

// Metrics is the URL of the controller's metrics.
func (c *Controller) Metrics() string { return "https://" + loopback.Address(c.metrics) + "/metrics" }

// CallTimeout is the flag of a controller that bounds each call to a broker by timeout,
// scaled as wait.Patience scales it.
func CallTimeout(timeout time.Duration) string {
	return "--osb-api-request-timeout=" + wait.Patience(timeout).Round(time.Millisecond).String()
}
