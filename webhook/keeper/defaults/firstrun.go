package defaults

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// readFirstRun reads the first run from the Lease; if there is none, it stores
// the current time. The election keeps the annotation, because it writes back
// the Lease that it read.
func (r *defaultRecorder) readFirstRun(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, firstRunTimeout)
	defer cancel()
	held := r.options.Lease.LeaseMeta
	leases := r.options.Lease.Client.Leases(held.Namespace)
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
	now := renewedAt(lease, r.options.Clock.Now()).UTC().Truncate(time.Second)
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
