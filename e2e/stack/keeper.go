package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
	"github.com/defaultplan/defaultplan/e2e/stack/process"
	"github.com/defaultplan/defaultplan/webhook/keeper"
)

// keeperNamespace holds the keeper's Lease.
const keeperNamespace = "defaultplan-system"

// A keeper that ended by itself, as one does that lost its Lease, is started again after
// a pause, which doubles each time. A kubelet's are longer.
const firstPause, longestPause = 250 * time.Millisecond, 4 * time.Second

// A Keeper is a webhook process that serves no hooks and only keeps, beside
// webhooks that were started with --keeper=off. It can be killed and started
// again; one that ends by itself is started again, as a kubelet does. It ends with the
// stack at the latest.
type Keeper struct {
	stack           *Stack
	options         KeeperOptions
	health, metrics int

	mu sync.Mutex
	// process is nil while it is stopped; stopped is closed when it is to be.
	process *process.Process
	stopped chan struct{}
}

// KeeperOptions say how a keeper is run.
type KeeperOptions struct {
	// Name is that of its process and log; empty: keeper.
	Name string
	// Kubeconfig is how it reaches the API server; empty: directly, as the keeper's
	// ServiceAccount.
	Kubeconfig string
	// Args are further flags; they come last.
	Args []string
}

// Keeper is the stack's own, which it has if it has webhooks whose flags say nothing of
// a keeper; otherwise nil.
func (s *Stack) Keeper() *Keeper { return s.keeper }

// startOwnKeeper starts the stack's own keeper, with the flags that the webhooks have.
func (s *Stack) startOwnKeeper(ctx context.Context) (err error) {
	s.keeper, err = s.StartKeeperWith(ctx, KeeperOptions{Args: s.options.WebhookArgs})
	return err
}

// StartKeeper starts a keeper and returns when its caches are filled. A stack has
// at most one of it, its own included.
func (s *Stack) StartKeeper(ctx context.Context) (*Keeper, error) {
	return s.StartKeeperWith(ctx, KeeperOptions{})
}

// StartKeeperWith starts one of several keepers, each of a name of its own, and returns
// when its caches are filled.
func (s *Stack) StartKeeperWith(ctx context.Context, options KeeperOptions) (*Keeper, error) {
	options.Name, options.Kubeconfig = cmp.Or(options.Name, "keeper"), cmp.Or(options.Kubeconfig, s.keeperKubeconfig)
	ports, err := loopback.FreePorts(ctx, 2)
	if err != nil {
		return nil, err
	}
	k := &Keeper{stack: s, options: options, health: ports[0], metrics: ports[1]}
	s.AtStop(func(ctx context.Context) error { return k.Stop(ctx, syscall.SIGTERM) })
	return k, k.Start(ctx)
}

// Start starts the keeper again, as one that knows nothing of the last.
func (k *Keeper) Start(ctx context.Context) error {
	k.mu.Lock()
	if k.process != nil {
		k.mu.Unlock()
		return errors.New("cannot start the keeper: it runs")
	}
	running, err := k.launch(ctx)
	if err == nil {
		k.process, k.stopped = running, make(chan struct{})
		if !k.stack.options.Detached { // what outlives this process is ended by others
			go k.restartWhenEnded(context.WithoutCancel(ctx), running, k.stopped)
		}
	}
	k.mu.Unlock()
	if err != nil {
		return err
	}
	err = untilReady(ctx, running, k.stack.options.ReadyWithin, func(ctx context.Context) (bool, error) {
		err := probe(ctx, "http://"+loopback.Address(k.health)+"/readyz")
		return err == nil, err
	})
	if err != nil {
		return errors.Join(fmt.Errorf("cannot start the keeper: %w", err), k.Stop(context.WithoutCancel(ctx), syscall.SIGKILL))
	}
	return nil
}

func (k *Keeper) launch(ctx context.Context) (*process.Process, error) {
	options := k.stack.options
	return options.start(ctx, process.Command{
		Name: k.options.Name, Binary: filepath.Join(options.Bin, "webhook"),
		Args: slices.Concat([]string{
			// Certificates are the stack's, or the webhooks' own.
			"--keeper=only", "--certs=files", "--kubeconfig=" + k.options.Kubeconfig,
			"--health-address=" + loopback.Address(k.health), "--metrics-address=" + loopback.Address(k.metrics),
		}, k.options.Args),
	})
}

// restartWhenEnded starts the keeper again whenever its process ended, until it is stopped.
func (k *Keeper) restartWhenEnded(ctx context.Context, ended *process.Process, stopped <-chan struct{}) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		select {
		case <-stopped:
			return
		case <-ended.Ended():
		}
		select {
		case <-stopped:
			return
		case <-time.After(pause):
		}
		k.mu.Lock()
		// One that cannot be started is tried again.
		if next, err := k.launchAfter(ctx, ended); err == nil {
			k.process, ended = next, next
		}
		k.mu.Unlock()
	}
}

// launchAfter starts the next process, unless the keeper was stopped meanwhile.
func (k *Keeper) launchAfter(ctx context.Context, ended *process.Process) (*process.Process, error) {
	if k.process != ended {
		return nil, errors.New("it was stopped")
	}
	return k.launch(ctx)
}

// Stop sends the signal and returns when the keeper ended. One that is stopped
// already stays so.
func (k *Keeper) Stop(ctx context.Context, signal syscall.Signal) error {
	k.mu.Lock()
	ended := k.process
	k.process = nil
	if ended != nil {
		close(k.stopped)
	}
	k.mu.Unlock()
	if ended == nil {
		return nil
	}
	return ended.End(ctx, signal)
}

// Bury ends the term of a keeper that was killed, which otherwise lasts until its
// Lease has run out: the next one need not wait for that.
func (k *Keeper) Bury(ctx context.Context) error {
	k.mu.Lock()
	runs := k.process != nil
	k.mu.Unlock()
	if runs {
		return errors.New("cannot bury the keeper: it was not stopped")
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: keeperNamespace, Name: keeper.DefaultLeaseName}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"holderIdentity":""}}`))
	// One that was killed before its first term left nothing behind.
	if err := client.IgnoreNotFound(k.stack.client.Patch(ctx, lease, patch)); err != nil {
		return fmt.Errorf("cannot end the term of the keeper: %w", err)
	}
	return nil
}

// Log is the file with the keeper's output.
func (k *Keeper) Log() string { return process.LogFile(k.stack.options.Dir, k.options.Name) }

// Metrics is the URL of the keeper's metrics.
func (k *Keeper) Metrics() string { return "https://" + loopback.Address(k.metrics) + "/metrics" }
