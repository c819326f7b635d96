package defaults

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// annotationFirstRun says on the keeper's Lease when a keeper first recorded
// defaults in the cluster, in RFC 3339. It is never changed: plans that were
// annotated before that time were annotated when a second default was not
// denied.
const annotationFirstRun = v1beta1.GroupName + "/first-run"

// firstRunTimeout bounds reading and writing the Lease. A keeper that cannot
// reach it for that time loses it: see keeper.DefaultRenewDeadline.
const firstRunTimeout = 10 * time.Second

// A firstRunRecord reads when a keeper first ran, once.
type firstRunRecord struct {
	lease *resourcelock.LeaseLock
	clock clock.PassiveClock
	// known holds the time, zero until it is known. Its reader receives the
	// value, and sends it back.
	known chan time.Time
}

func newFirstRunRecord(lease *resourcelock.LeaseLock, now clock.PassiveClock) *firstRunRecord {
	f := &firstRunRecord{lease: lease, clock: now, known: make(chan time.Time, 1)}
	f.known <- time.Time{}
	return f
}

// at is the time of the first run.
func (f *firstRunRecord) at(ctx context.Context) (time.Time, error) {
	var since time.Time
	select {
	case since = <-f.known:
	case <-ctx.Done():
		return since, ctx.Err()
	}
	defer func() { f.known <- since }()
	if !since.IsZero() {
		return since, nil
	}
	var err error
	since, err = f.read(ctx)
	return since, err
}

// read reads the first run from the Lease; if there is none, it stores the
// current time. The election keeps the annotation, because it writes back the
// Lease that it read.
func (f *firstRunRecord) read(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, firstRunTimeout)
	defer cancel()
	held := f.lease.LeaseMeta
	leases := f.lease.Client.Leases(held.Namespace)
	lease, err := leases.Get(ctx, held.Name, metav1.GetOptions{})
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot get lease %q: %w", held.Name, err)
	}
	if since, err := time.Parse(time.RFC3339, lease.Annotations[annotationFirstRun]); err == nil {
		return since, nil
	}
	// The API server records the times of annotations in managedFields in whole
	// seconds, rounded down, by its own clock. The same clock timed our
	// election just before.
	now := renewedAt(lease, f.clock.Now()).UTC().Truncate(time.Second)
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, annotationFirstRun, now.Format(time.RFC3339))
	if _, err := leases.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return time.Time{}, fmt.Errorf("cannot update lease %q: %w", held.Name, err)
	}
	return now, nil
}

// renewedAt is when the API server last stored a write of the Lease, or otherwise if
// it does not say.
func renewedAt(lease *coordinationv1.Lease, otherwise time.Time) time.Time {
	var last time.Time
	for _, entry := range lease.ManagedFields {
		if entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	if last.IsZero() {
		return otherwise
	}
	return last
}
