package keeper_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/defaultplan/defaultplan/webhook/keeper"
)

const annotationFirstRun = "servicecatalog.k8s.io/first-run"

// firstRun is what the Lease says.
func (l *leases) firstRun() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lease.Annotations[annotationFirstRun]
}

func TestTheFirstRunIsRememberedForEver(t *testing.T) {
	t.Parallel()
	atRegistry(t, nil, func(ctx context.Context, r *registry) {
		r.pass(1500 * time.Millisecond)
		end := r.keep(ctx)
		r.pass(time.Second)
		const first = "2000-01-01T00:00:01Z"
		require.Equal(t, first, r.leases.firstRun(), "in whole seconds, as the times of annotations are")
		held := r.leases.holder()
		r.pass(time.Hour)
		assert.Equal(t, first, r.leases.firstRun(), "the election writes the Lease every two seconds")
		assert.Equal(t, held, r.leases.holder())
		end()
		assert.Equal(t, first, r.leases.firstRun(), "after its end")

		options := r.options()
		options.Lease = r.candidate("next")
		r.house.keep(ctx, options)
		r.pass(time.Minute)
		assert.Equal(t, "next", r.leases.holder())
		assert.Equal(t, first, r.leases.firstRun())
	})
}

// What is annotated in the second of the first run is annotated under a keeper: the
// API server's times say no more than the second.
func TestTheSecondOfTheFirstRun(t *testing.T) {
	t.Parallel()
	atRegistry(t, offering("", "a", "b"), func(ctx context.Context, r *registry) {
		r.pass(1500 * time.Millisecond)
		r.keep(ctx)
		r.pass(100 * time.Millisecond)
		annotates("a", "b")(ctx, r)
		r.pass(time.Minute)
		assert.Equal(t, "a recorded and confirmed, a annotated", r.defaults(ctx, "mysql"))
	})
}

// Between the default recorder's reading and its writing the Lease may be renewed, and the
// API server may be away for a while.
func TestTheFirstRunIsWrittenInTheEnd(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"Conflict": status(409, metav1.StatusReasonConflict),
		"Outage":   status(503, metav1.StatusReasonServiceUnavailable),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atRegistry(t, offering("", "a"), func(ctx context.Context, r *registry) {
				options := r.options()
				failing := &failingLeases{LeasesGetter: r.leases, failure: failure}
				failing.failures.Store(3)
				options.Lease.Client = failing
				r.annotate(ctx, "a")
				r.house.keep(ctx, options)
				r.pass(3*keeper.DefaultRetryPeriod + time.Second)
				assert.NotEmpty(t, r.leases.firstRun())
				assert.Equal(t, "a recorded and confirmed, a annotated", r.defaults(ctx, "mysql"))
			})
		})
	}
}

// failingLeases refuse the first writes of the annotation.
type failingLeases struct {
	coordinationclient.LeasesGetter

	failures atomic.Int32
	failure  error
}

func (f *failingLeases) Leases(namespace string) coordinationclient.LeaseInterface {
	return failingLease{f.LeasesGetter.Leases(namespace), f}
}

type failingLease struct {
	coordinationclient.LeaseInterface

	all *failingLeases
}

func (f failingLease) Update(ctx context.Context, lease *coordinationv1.Lease, options metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	if lease.Annotations[annotationFirstRun] != "" && f.all.failures.Add(-1) >= 0 {
		return nil, f.all.failure
	}
	return f.LeaseInterface.Update(ctx, lease, options)
}
