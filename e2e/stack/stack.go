package stack

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/manifest"
	"github.com/defaultplan/defaultplan/e2e/stack/process"
)

// A Stack is a running control plane with defaultplan installed.
type Stack struct {
	*Access
	*ControlPlane
	*Webhooks
	*Scraper

	// options are shared by the parts.
	options *Options
	// keeper is the stack's own; nil if it has none.
	keeper *Keeper
	// others are those of StartProcess.
	others []*process.Process
	// controller is the stack's own; nil if it has none.
	controller *Controller

	// mu guards atStop: tests that share the stack start controllers at the same time.
	mu     sync.Mutex
	atStop []func(context.Context) error
}

// Start starts a stack and returns when all of it is ready. When it fails, what
// was started is ended. The processes do not end with ctx: call Stop.
func Start(ctx context.Context, options Options) (*Stack, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	s := newStack(&options)
	err := s.start(ctx)
	if err == nil && options.Controller != nil {
		s.controller, err = s.StartController(ctx, *options.Controller)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start the stack in %q: %w", options.Dir, err), s.stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// newStack is one of which nothing is started yet.
func newStack(options *Options) *Stack {
	access := &Access{options: options}
	return &Stack{
		Access: access, ControlPlane: &ControlPlane{options: options}, Webhooks: &Webhooks{options: options, access: access},
		Scraper: &Scraper{access: access}, options: options,
	}
}

func (s *Stack) start(ctx context.Context) error {
	s.options.sayf("starting the control plane")
	if err := s.startControlPlane(ctx); err != nil {
		return err
	}
	if s.options.Bare {
		return nil
	}
	s.options.sayf("installing the definitions and the webhook's rights")
	if err := s.install(ctx); err != nil {
		return err
	}
	if s.options.Releaser {
		stop, err := startReleaser(s.RESTConfig()) //nolint:contextcheck // it outlives ctx
		if err != nil {
			return err
		}
		s.AtStop(stop)
	}
	if s.options.Webhooks == 0 {
		return nil
	}
	if s.options.ManagedCerts {
		// A replica is ready when they trust its certificate: they must be there.
		if err := s.applyHooks(ctx); err != nil {
			return err
		}
	}
	s.options.sayf("starting the webhook")
	if err := s.startWebhooks(ctx); err != nil {
		return err
	}
	return s.InstallHooks(ctx)
}

// startControlPlane starts it, and makes ready beside it what needs no API
// server.
func (s *Stack) startControlPlane(ctx context.Context) error {
	if s.options.Apart {
		if err := s.startEtcd(ctx); err != nil {
			return err
		}
	}
	if err := s.launch(ctx); err != nil {
		return err
	}
	if s.options.Webhooks > 0 {
		if err := s.prepareWebhooks(ctx); err != nil {
			return err
		}
	}
	if err := s.waitMark(ctx, s.server, filepath.Join(s.home(), "ready")); err != nil {
		return err
	}
	return s.connect(filepath.Join(s.home(), "kubeconfig"))
}

// install applies definitions and rights, and makes the webhook's kubeconfig and the
// token of who reads metrics.
func (s *Stack) install(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return manifest.ApplyDefinitions(ctx, s.client) })
	if s.options.Whole {
		group.Go(func() error { return InstallVAP(ctx, s.client) })
		group.Go(func() error { return manifest.ApplyFolder(ctx, s.client, "flow") })
	}
	group.Go(func() error {
		if err := manifest.ApplyFolder(ctx, s.client, "rbac"); err != nil {
			return err
		}
		if s.options.Endpoints {
			if err := manifest.ApplyFolder(ctx, s.client, "endpoints"); err != nil {
				return err
			}
		}
		if s.options.ManagedCerts {
			if err := manifest.ApplyFolder(ctx, s.client, "certs/managed"); err != nil {
				return err
			}
		}
		if err := s.addMetricsReader(ctx); err != nil {
			return err
		}
		if err := s.letKeeperServe(ctx); err != nil {
			return err
		}
		return s.makeKubeconfigs(ctx)
	})
	return group.Wait()
}

// startWebhooks starts all replicas, and the stack's own keeper, and waits until all are
// ready.
func (s *Stack) startWebhooks(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if s.ownKeeper() {
		group.Go(func() error { return s.startOwnKeeper(ctx) })
	}
	for i := range s.webhooks {
		group.Go(func() error { return s.StartWebhook(ctx, i) })
	}
	return group.Wait()
}

// Stop ends what the stack started, in the reverse order, and waits until all
// of it ended. A data race that one of the processes reported is an error. It may be called
// more than once.
func (s *Stack) Stop() error { return s.stop(context.Background()) }

func (s *Stack) stop(ctx context.Context) error {
	failures := s.runAtStop(ctx)
	for _, other := range s.others {
		failures = append(failures, other.End(ctx, syscall.SIGTERM))
	}
	s.others = nil
	failures = append(failures, s.stopWebhooks(ctx), s.end(ctx), process.Races(s.options.Dir))
	return errors.Join(failures...)
}

// AtStop has a function called when the stack is stopped, while all of the stack still
// runs; the last one given is called first.
func (s *Stack) AtStop(end func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.atStop = append(s.atStop, end)
}

func (s *Stack) runAtStop(ctx context.Context) (failures []error) {
	s.mu.Lock()
	ends := s.atStop
	s.atStop = nil
	s.mu.Unlock()
	for _, end := range slices.Backward(ends) {
		failures = append(failures, end(ctx))
	}
	return failures
}

// Scheme knows the built-in kinds, definitions and the kinds of this project.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), api.AddToScheme(scheme))
	if err != nil {
		return nil, fmt.Errorf("cannot make a scheme: %w", err)
	}
	return scheme, nil
}

// Path is a file in the folder of the stack's state.
func (s *Stack) Path(names ...string) string { return s.options.path(names...) }

// Binary is the path of a binary of the stack, such as svcat.
func (s *Stack) Binary(name string) string { return filepath.Join(s.options.Bin, name) }

// Pid is the id of a process of the stack: controlplane, webhook-0 and so on, or
// one of StartProcess. It is for those who measure it.
func (s *Stack) Pid(name string) (int, error) {
	return process.Pid(s.options.Dir, name)
}

// StartProcess starts a further process that belongs to the stack: recorded,
// logged to Dir/logs/NAME.log, and ended by Stop.
func (s *Stack) StartProcess(name, binary string, args ...string) error {
	p, err := s.options.start(context.Background(), process.Command{Name: name, Binary: binary, Args: args})
	if err != nil {
		return err
	}
	s.others = append(s.others, p)
	return nil
}

// Launch starts a process that is logged and recorded as the stack's own are, and
// ends when this process does, but not by Stop: the caller ends it. Without Env it has
// no environment.
func (s *Stack) Launch(ctx context.Context, c process.Command) (*process.Process, error) {
	if c.Env == nil {
		c.Env = []string{} // nil would be this process's own
	}
	return s.options.start(ctx, c)
}
