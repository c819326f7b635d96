// Package lease has a process's lock on the Lease of a leader election.
package lease

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// timeout bounds a request for the Lease, well within the renew deadline:
	// one hanging request must not lose the Lease.
	timeout = 5 * time.Second
	// resignTimeout bounds the time to release the Lease.
	resignTimeout = 2 * timeout
)

// New returns this process's lock on the Lease. The manager must not release
// it: if it could not be renewed, the manager would try to release it before it
// stops the work, for longer than the Lease lasts, so that two leaders would
// work.
func New(config *rest.Config, namespace, name string) (*resourcelock.LeaseLock, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("cannot read the host name for the election: %w", err)
	}
	config = rest.CopyConfig(config)
	config.Timeout = timeout
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot reach Leases: %w", err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Client:    clientset.CoordinationV1(),
		// The host alone is not enough: two processes may share one.
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()},
	}, nil
}

// Finish ends a process, with or without an election, given the error of its
// work. After an error work of a former leader may still be running: the
// process exits at once, and neither releases the Lease nor sends spans. After
// a clean end nothing runs any more: the Lease is released first, so that the
// next leader need not even wait for spans to be sent.
func Finish(ctx context.Context, failure error, lock resourcelock.Interface, elects bool, flush func()) error {
	if failure != nil {
		return failure
	}
	if elects {
		if err := resign(ctx, lock); err != nil {
			ctrl.Log.V(1).Info("lease not released: it runs out by itself", "cause", err.Error())
		}
	}
	flush()
	return nil
}

// resign releases the Lease for the next leader, if it is ours, on the
// condition that it is unchanged since it was read. It is for the end, when
// nothing runs any more.
func resign(ctx context.Context, lease resourcelock.Interface) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resignTimeout)
	defer cancel()
	record, _, err := lease.Get(ctx)
	if err != nil {
		return fmt.Errorf("cannot read lease %q: %w", lease.Describe(), err)
	}
	if record.HolderIdentity != lease.Identity() {
		return nil
	}
	record.HolderIdentity = ""
	record.LeaseDurationSeconds = 1
	if err := lease.Update(ctx, *record); err != nil {
		return fmt.Errorf("cannot release lease %q: %w", lease.Describe(), err)
	}
	return nil
}
