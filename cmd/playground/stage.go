package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Names of processes, chosen so that they are ended before the control plane: that goes
// by their names, backwards.
const (
	controllerName   = "defaultplan-controller"
	brokerNamePrefix = "demo-broker-"
)

// controllerArgs have the controller elected, as where it is installed, let people
// register a ServiceBroker of their own on this machine, and have a Secret that they
// delete come back while they still look.
var controllerArgs = []string{"--leader-elect=true", "--endpoints", "--allow-broker-addresses=127.0.0.0/8", "--secret-interval=10s"}

// A stage is a stack with a controller and the demo's brokers.
type stage struct {
	*stack.Stack

	controller *stack.Controller
	// others are controllers beside it, each with a name.
	others  []*stack.Controller
	brokers []entry
}

// startStage starts all of it, the brokers not registered yet. When it fails, what was
// started is ended.
func startStage(ctx context.Context, options stack.Options) (s *stage, err error) {
	for _, name := range []string{"controller", "svcat", "playground"} {
		if _, err := os.Stat(filepath.Join(options.Bin, name)); err != nil {
			return nil, fmt.Errorf("cannot find binary %q: run `make build`: %w", name, err)
		}
	}
	for _, name := range brokerNames { // those of an earlier stack
		if err := os.Remove(entryFile(options.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot remove the entry of broker %q: %w", name, err)
		}
	}
	// Of the admission policies one keeps out what is not decided, and so is not for a
	// webhook that lets it wait.
	options.Whole = !slices.Contains(options.WebhookArgs, "--unresolved=wait")
	options.Endpoints = true
	started, err := stack.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	s = &stage{Stack: started}
	sayf(options.Progress, "starting two brokers and the controller\n")
	if err := s.enter(ctx, options); err != nil {
		return nil, errors.Join(err, s.stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// enter starts the brokers and the controller, and waits for them.
func (s *stage) enter(ctx context.Context, options stack.Options) (err error) {
	for _, name := range brokerNames {
		if err := s.StartProcess(brokerNamePrefix+name, filepath.Join(options.Bin, "playground"), "broker", name, "--dir="+options.Dir); err != nil { //nolint:contextcheck // it outlives ctx
			return err
		}
	}
	if s.controller, err = s.StartController(ctx, stack.ControllerOptions{Name: controllerName, Args: controllerArgs}); err != nil {
		return err
	}
	for _, name := range brokerNames {
		err := wait.Eventually(ctx, func() (bool, error) {
			_, err := os.Stat(entryFile(options.Dir, name))
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("cannot start broker %q: %w", name, err)
		}
		e, err := readEntry(options.Dir, name)
		if err != nil {
			return err
		}
		s.brokers = append(s.brokers, e)
	}
	return nil
}

// join starts further controllers, each for the brokers that name it.
func (s *stage) join(ctx context.Context, names []string) error {
	for _, name := range names {
		args := append(slices.Clone(controllerArgs), "--leader-elect=false", "--controller-name="+name)
		other, err := s.StartController(ctx, stack.ControllerOptions{Name: controllerName + "-" + name, Args: args})
		if err != nil {
			return err
		}
		s.others = append(s.others, other)
	}
	return nil
}

// stop ends all that was started.
func (s *stage) stop(ctx context.Context) error {
	var err error
	for _, other := range s.others {
		err = errors.Join(err, other.Stop(ctx, syscall.SIGTERM))
	}
	if s.controller != nil {
		err = errors.Join(err, s.controller.Stop(ctx, syscall.SIGTERM))
	}
	return errors.Join(err, s.Stop()) //nolint:contextcheck // it ends what was started, also when ctx ended
}

// register makes the brokers known to the cluster, and waits until their catalogs were
// taken over.
func (s *stage) register(ctx context.Context) error {
	manifests := []string{"apiVersion: v1\nkind: Namespace\nmetadata: {name: " + brokerNamespace + "}\n"}
	for i := range s.brokers {
		manifests = append(manifests, s.brokers[i].secret(), s.brokers[i].registration())
	}
	// Server-side: the other way would copy the passwords into an annotation.
	if _, stderr, err := s.Kubectl(ctx, strings.Join(manifests, "---\n"), "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		return fmt.Errorf("cannot register the brokers: %w: %s", err, stderr)
	}
	for i := range s.brokers {
		if err := s.listed(ctx, s.brokers[i].Name); err != nil {
			return fmt.Errorf("cannot list the catalog of broker %q: %w", s.brokers[i].Name, err)
		}
	}
	return nil
}

// listed waits until the catalog of a broker was taken over, as it is registered now.
func (s *stage) listed(ctx context.Context, name string) error {
	broker := &api.ClusterServiceBroker{}
	return wait.Eventually(ctx, func() (bool, error) {
		if err := s.Client().Get(ctx, client.ObjectKey{Name: name}, broker); err != nil {
			return true, err
		}
		ready, _ := api.FindCondition(broker.Status.Conditions, api.ConditionReady)
		if ready.Status == api.ConditionTrue && broker.Status.ReconciledGeneration == broker.Generation {
			return true, nil
		}
		return false, fmt.Errorf("%s: %s", ready.Reason, ready.Message)
	})
}
