package keeper

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// annotationFirstRun says on the keeper's Lease when a keeper first recorded
// defaults in the cluster, in RFC 3339. It is never changed: plans that were
// annotated before are of a time in which nobody refused a second default.
const annotationFirstRun = v1beta1.GroupName + "/first-run"

// ranFirst is when a keeper first ran in the cluster. It asks until it knows, and
// says whether it came to.
func (k *Keeper) ranFirst(ctx context.Context) (since time.Time, known bool) {
	for ctx.Err() == nil {
		since, err := k.readFirstRun(ctx)
		if err == nil {
			return since, true
		}
		if apierrors.IsConflict(err) {
			// The Lease was renewed meanwhile.
			continue
		}
		logCause(k.options.Log.WithValues("lease", k.options.LeaseName), err, "first run not known; to be tried again")
		k.pause(ctx)
	}
	return time.Time{}, false
}

// readFirstRun reads the first run from the Lease; if there was none, it is now.
// The election leaves the annotation alone: it writes back the Lease that it read.
func (k *Keeper) readFirstRun(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, k.options.RenewDeadline)
	defer cancel()
	leases := k.options.Leases.Leases(k.options.LeaseNamespace)
	lease, err := leases.Get(ctx, k.options.LeaseName, metav1.GetOptions{})
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot get lease %q: %w", k.options.LeaseName, err)
	}
	if since, err := time.Parse(time.RFC3339, lease.Annotations[annotationFirstRun]); err == nil {
		return since, nil
	}
	// The API server gives the times of annotations in whole seconds, rounded down,
	// by its own clock. It also timed the election of us, a moment ago.
	now := renewedAt(lease, k.options.Clock.Now()).UTC().Truncate(time.Second)
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, annotationFirstRun, now.Format(time.RFC3339))
	if _, err := leases.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return time.Time{}, fmt.Errorf("cannot update lease %q: %w", k.options.LeaseName, err)
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
