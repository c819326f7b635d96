// Package lease has the hold of a process on the Lease by which a leader is elected.
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
	// timeout bounds a request for the Lease, well within the time that there is to
	// renew it: one request that hangs must not cost the Lease.
	timeout = 5 * time.Second
	// resignTimeout bounds how long the process takes over giving up the Lease.
	resignTimeout = 2 * timeout
)

// New is this process's hold on the Lease. The manager is not to release it: where
// it could not be renewed, the manager would try to release it before it stops the work,
// and take longer over that than the Lease lasts, so that two leaders would work.
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

// Finish is the end of a process that takes part in the election, or does not, given what its
// work ended with. After an error work may be under way still, of a leader that leads no
// more: the process ends at once, gives nothing up and sends no spans. After a clean end
// nothing runs any more: the next leader need not wait, not even for spans to be sent.
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

// resign gives the Lease up for the next leader to take at once, if it is ours; the
// version that was read guards the write. It is for the end, when nothing runs any more.
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
