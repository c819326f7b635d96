package controller

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A memory is the state of an object that is kept in the queue and not in its
// status. It is lost when the process ends. Both bindings of a rotation share
// one memory, and never have an intent at the same time. Lost memory only
// causes an early poll, or a retry that is not counted as one.
type memory struct {
	uid types.UID
	// intent is the Deadline of the intent of this process whose outcome is not stored: in a
	// pass, the call is over.
	intent time.Time
	// poll is when the operation is to be polled next. Passes for other reasons
	// do not poll before.
	poll time.Time
	// past are the versions of the object that the last outcome was decided on, that
	// had its intent, and that it replaced; another writer may come between any two. A
	// pass that reads one of them reads a stale cache.
	past [3]string
	// names is the turn of a write of names alone; zero: none waits.
	names time.Time
	// failed is the call that failed last: the next one of the same operation
	// is a retry, for a metric. The failure count of status is not enough,
	// because a poll, a fetch, or orphan mitigation may follow a failure.
	failed lifecycle.Step
	// retryAfter is until when the broker asked not to be sent the last request again, and reports
	// are those of failed calls, nil: there was none since the last success. Both are for the object
	// and for the other binding of a rotation: see bindingIndex.
	retryAfter [2]time.Time
	reports    [2]*failureReports
}

// bindingIndex is the index in a memory for a resource: 1 for the other binding of a rotation.
func bindingIndex(thing *lifecycle.Resource) int {
	if thing.Rotating {
		return 1
	}
	return 0
}

// recall is what is remembered of an object.
func recall(ctx context.Context, o client.Object) memory {
	if m, is := queue.FromContext(ctx).Memory().(memory); is && m.uid == o.GetUID() {
		return m
	}
	return memory{uid: o.GetUID()}
}

// remember changes what is remembered of an object.
func remember(ctx context.Context, o client.Object, change func(*memory)) {
	m := recall(ctx, o)
	change(&m)
	if m == (memory{uid: m.uid}) {
		forget(ctx)
		return
	}
	queue.FromContext(ctx).Remember(m)
}

// lags says whether the cache does not have the last outcome of an object yet.
// A call that changes something then fails at the write of its intent, but a
// poll has no intent: it would poll an operation that is over.
func lags(ctx context.Context, o client.Object) bool {
	past, version := recall(ctx, o).past, o.GetResourceVersion()
	if past == [3]string{} {
		return false
	}
	if slices.Contains(past[:], version) {
		return true
	}
	remember(ctx, o, func(m *memory) { m.past = [3]string{} })
	return false
}

// forget drops the memory of an object that is gone.
func forget(ctx context.Context) { queue.FromContext(ctx).Remember(nil) }

// unread handles an object that cannot be read, and drops the memory of one
// that is gone.
func unread(ctx context.Context, err error) error {
	if apierrors.IsNotFound(err) {
		forget(ctx)
		return nil
	}
	return err
}

// again says whether a call is a retry.
func (m *memory) again(d *lifecycle.Decision) bool {
	return m.failed == d.Step && d.Record.Retries > 0
}

// ended records the result of a call. Polls, fetches and mitigations are no
// operations of a user.
func (m *memory) ended(step lifecycle.Step, err error) {
	switch {
	case !intends(step) || step == lifecycle.MitigateOrphan:
	case err != nil:
		m.failed = step
	default:
		m.failed = lifecycle.Rest
	}
}
