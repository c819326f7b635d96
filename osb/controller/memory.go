package controller

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// A memory is what the passes over one object remember beside its status, in the queue that begins
// them. A process that starts remembers nothing. Both bindings of a rotation have one memory, and
// never an intent at the same time: what the one forgets costs the other a poll that comes early,
// or a call that is not counted as a second one, and nothing else.
type memory struct {
	uid types.UID
	// intent is the Deadline of the intent of this process whose outcome is not stored: in a
	// pass, the call is over.
	intent time.Time
	// poll is when the operation is to be polled next. Whatever else brings a pass does not
	// bring a poll before.
	poll time.Time
	// past are the versions of the object that the last outcome was decided on and written over. A
	// pass that reads one of them reads a cache that lags.
	past [2]string
	// failed is the call that failed last: what makes the next one of the same operation a
	// second try. That status counts a failure is not enough, for what follows one may be a
	// poll, a fetch, or the removal of what it left. It is for a metric.
	failed lifecycle.Step
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

// lags says that the cache has not seen yet what the last outcome made of an object. A call that
// changes something fails at its intent then, but a poll is made without one: it would ask for an
// operation that is over.
func lags(ctx context.Context, o client.Object) bool {
	past, version := recall(ctx, o).past, o.GetResourceVersion()
	if past == [2]string{} {
		return false
	}
	if version == past[0] || version == past[1] {
		return true
	}
	remember(ctx, o, func(m *memory) { m.past = [2]string{} })
	return false
}

// forget is of an object that is gone.
func forget(ctx context.Context) { queue.FromContext(ctx).Remember(nil) }

// unread is what comes of an object that cannot be read. Of one that is gone nothing is remembered.
func unread(ctx context.Context, err error) error {
	if apierrors.IsNotFound(err) {
		forget(ctx)
		return nil
	}
	return err
}

// again says that a call which is about to be made was made before, and failed.
func (m *memory) again(d *lifecycle.Decision) bool {
	return m.failed == d.Step && d.Record.Retries > 0
}

// ended notes what came of a call. What only asks, or clears up, is no operation of a user.
func (m *memory) ended(step lifecycle.Step, err error) {
	switch {
	case !intends(step) || step == lifecycle.MitigateOrphan:
	case err != nil:
		m.failed = step
	default:
		m.failed = lifecycle.Rest
	}
}
