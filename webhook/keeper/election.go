package keeper

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// A candidate is one candidacy for the Lease, from the first try to the loss.
type candidate struct {
	*leaderelection.LeaderElector

	lock resourcelock.Interface
	// elected gets the context of the leadership, which ends when it is lost.
	elected chan context.Context
}

func (k *Keeper) newCandidate() (*candidate, error) {
	c := &candidate{
		lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: k.options.LeaseNamespace, Name: k.options.LeaseName},
			Client:     k.options.Leases,
			LockConfig: resourcelock.ResourceLockConfig{Identity: k.options.Identity},
		},
		elected: make(chan context.Context, 1),
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          c.lock,
		LeaseDuration: k.options.LeaseDuration,
		RenewDeadline: k.options.RenewDeadline,
		RetryPeriod:   k.options.RetryPeriod,
		Name:          k.options.LeaseName,
		// The elector would release a lease that it failed to renew before it
		// says that leadership is over, and take its time over it while our work
		// goes on. We release it ourselves, once the work has stopped.
		ReleaseOnCancel: false,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { c.elected <- ctx },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot elect by lease %q: %w", k.options.LeaseName, err)
	}
	c.LeaderElector = elector
	return c, nil
}

// campaign runs for the Lease once: it returns when it was won and lost again,
// when the term failed, or when ctx ends. All that it started has stopped then.
func (k *Keeper) campaign(ctx context.Context) {
	log := k.options.Log.WithValues("lease", k.options.LeaseNamespace+"/"+k.options.LeaseName)
	c, err := k.newCandidate()
	if err != nil {
		log.Error(err, "cannot campaign")
		return
	}
	// The Lease is renewed until the work has stopped, also when ctx ends first.
	electing, withdraw := context.WithCancel(logr.NewContext(context.WithoutCancel(ctx), log.V(1)))
	defer withdraw()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Run(electing)
	}()
	select {
	case leading := <-c.elected:
		log.Info("leading")
		k.serve(ctx, leading)
		log.Info("no longer leading")
	case <-ctx.Done():
	case <-ended:
	}
	withdraw()
	<-ended
	if err := c.release(electing, k.options); err != nil {
		log.V(1).Info("lease not released: it runs out by itself", "cause", err.Error())
	}
}

// serve keeps for one term: until leading ends, ctx ends, or it fails.
func (k *Keeper) serve(ctx, leading context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(leading, stop)()
	k.metrics.leader.Set(1)
	defer k.metrics.leader.Set(0)
	k.metrics.census.takes(k)
	defer k.metrics.census.takes(nil)
	var all sync.WaitGroup
	for _, d := range k.duties() {
		all.Go(func() {
			// A duty that cannot be done ends the term: the next one tries again.
			defer stop()
			if err := d.run(ctx); err != nil && ctx.Err() == nil {
				k.options.Log.Error(err, "term ended early")
			}
		})
	}
	all.Wait()
}

// A duty is something that the keeper does while it leads.
type duty interface {
	// run works until ctx ends; when it returns, nothing of it is running.
	run(ctx context.Context) error
}

func (k *Keeper) duties() []duty {
	return []duty{newToucher(k), newRecorder(k), newReporter(k), newSlotter(k)}
}

// release gives the Lease up for the next candidate to take at once, if it is
// still ours; the version that was read guards the write.
func (c *candidate) release(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.RenewDeadline)
	defer cancel()
	record, _, err := c.lock.Get(ctx)
	if err != nil {
		return fmt.Errorf("cannot read lease %q: %w", o.LeaseName, err)
	}
	if record.HolderIdentity != o.Identity {
		return nil
	}
	record.HolderIdentity = ""
	record.LeaseDurationSeconds = 1
	if err := c.lock.Update(ctx, *record); err != nil {
		return fmt.Errorf("cannot release lease %q: %w", o.LeaseName, err)
	}
	return nil
}
