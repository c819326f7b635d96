package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/osb"
)

// A dispatchEnv has a dispatcher of passes that call one broker, which may hang.
type dispatchEnv struct {
	*testing.T
	*Dispatcher

	// hangs is closed when the broker answers; nil: there is no call.
	hangs chan struct{}
	// comes is what comes of a pass, and began is how many began.
	comes passed
	// meanwhile is what a pass comes back for that waits for its turn.
	meanwhile reconcile.Result
	began     int
	last      *Pass
}

var (
	hangingBroker = Broker{Name: "broker"}
	oneRequest    = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "n", Name: "one"}}
	otherRequest  = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "n", Name: "other"}}
)

func inDispatch(t *testing.T, test func(w *dispatchEnv)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &dispatchEnv{T: t}
		w.Dispatcher = NewDispatcher(reconcile.Func(w.pass), "ServiceInstance", New(Limits{Calls: 1, PerBroker: 1, PerNamespace: 1, Namespaced: 1}))
		requests := workqueue.NewTypedRateLimitingQueue(ErrorPauses())
		defer requests.ShutDown()
		require.NoError(t, w.Source().Start(t.Context(), requests))
		test(w)
	})
}

func (w *dispatchEnv) pass(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	w.began++
	w.last = FromContext(ctx)
	hangs, comes := w.hangs, w.comes
	if hangs == nil {
		return comes.result, comes.err
	}
	if !w.last.Enter(hangingBroker) {
		return w.meanwhile, Wait(hangingBroker)
	}
	<-hangs
	return comes.result, comes.err
}

// reconciles is what a worker has of a request.
func (w *dispatchEnv) reconciles(request reconcile.Request) (reconcile.Result, error) {
	w.Helper()
	result, err := w.Reconcile(w.Context(), request)
	synctest.Wait()
	return result, err
}

// free says that a worker has nothing to do with what came of a request.
func (w *dispatchEnv) free(request reconcile.Request) {
	w.Helper()
	result, err := w.reconciles(request)
	require.NoError(w, err)
	require.Zero(w, result)
}

// requeued says that a request is in the controller's queue after a time, and not before.
func (w *dispatchEnv) requeued(request reconcile.Request, after time.Duration) {
	w.Helper()
	synctest.Wait()
	if after > 0 {
		time.Sleep(after - 1)
		synctest.Wait()
		require.Zero(w, w.requests.Len(), "too early")
		time.Sleep(time.Millisecond) // the queue's own clock
		synctest.Wait()
	}
	require.Equal(w, 1, w.requests.Len())
	got, _ := w.requests.Get()
	w.requests.Done(got)
	require.Equal(w, request, got)
}

func TestDispatcherPassesOnWhatNeedsNoCall(t *testing.T) {
	inDispatch(t, func(w *dispatchEnv) {
		w.comes = passed{result: reconcile.Result{RequeueAfter: time.Minute}}
		result, err := w.reconciles(oneRequest)
		assert.Equal(w, passed{result, err}, w.comes)
		assert.Zero(w, w.requests.Len())
	})
}

// A result beside an error would be ignored, with a warning in the log.
func TestDispatcherGivesNoResultBesideAnError(t *testing.T) {
	inDispatch(t, func(w *dispatchEnv) {
		w.comes = passed{result: reconcile.Result{RequeueAfter: time.Minute}, err: errors.New("away")}
		result, err := w.reconciles(oneRequest)
		assert.Equal(w, w.comes.err, err)
		assert.Zero(w, result)
	})
}

// A call leaves its worker free, and what comes of it comes to the controller's queue.
func TestDispatcherFreesTheWorker(t *testing.T) {
	inDispatch(t, func(w *dispatchEnv) {
		w.hangs = make(chan struct{})
		w.comes.result.RequeueAfter = time.Minute
		w.free(oneRequest)
		assert.Zero(w, w.requests.Len())
		close(w.hangs)
		w.requeued(oneRequest, time.Minute)
		assert.Equal(w, 1, w.began)
	})
}

// Errors are tried again after pauses that double, up to the longest.
func TestDispatcherBacksOff(t *testing.T) {
	inDispatch(t, func(w *dispatchEnv) {
		w.hangs = make(chan struct{})
		close(w.hangs)
		w.comes.err = errors.New("the API server is away")
		for pause := firstErrorPause; pause < 2*longestErrorPause; pause *= 2 {
			w.free(oneRequest)
			w.requeued(oneRequest, min(pause, longestErrorPause))
		}
		w.comes.err = nil
		w.free(oneRequest)
		w.comes.err = errors.New("away again")
		w.free(oneRequest)
		w.requeued(oneRequest, firstErrorPause)
	})
}

// What waits for its turn begins again, and what changed meanwhile is looked at.
func TestDispatcherWaits(t *testing.T) {
	inDispatch(t, func(w *dispatchEnv) {
		w.hangs = make(chan struct{})
		w.free(oneRequest)
		w.free(otherRequest)
		assert.Equal(w, 1, w.queues.Waiting(hangingBroker))
		w.free(otherRequest)
		assert.Equal(w, 3, w.began, "a change is looked at")
		w.free(oneRequest)
		assert.Equal(w, 3, w.began, "its pass is under way")
		close(w.hangs)
		w.requeued(oneRequest, 0)
		assert.Equal(w, 4, w.began)
		assert.Zero(w, w.queues.Waiting(hangingBroker))
	})
}

// What waits for a broker whose pause lasts is looked at once more, to say so.
func TestDispatcherLooksAtWhatWaits(t *testing.T) {
	inDispatch(t, func(w *dispatchEnv) {
		at, turns := hangingBroker, make(chan *Pass, 1)
		fail := func(p *Pass) {
			require.True(w, p.Enter(at))
			p.Called(&osb.Error{Kind: osb.NeverSent})
			p.End(nil)
		}
		first := func() *Pass {
			p, begun := w.queues.Begin(Item{Kind: "first"}, func(p *Pass) { turns <- p })
			require.True(w, begun)
			return p
		}
		for range 5 {
			fail(first())
		}
		first().End(&at)
		w.hangs = make(chan struct{})
		w.free(oneRequest)
		fail(<-turns)
		w.requeued(oneRequest, 0)
		w.queues.Answered(at)
		close(w.hangs)
	})
}

// What waits for its turn comes back for what else there is to do, and keeps waiting: a broker
// may be away for hours.
func TestDispatcherComesBackForWhatWaits(t *testing.T) {
	inDispatch(t, func(w *dispatchEnv) {
		w.hangs, w.meanwhile.RequeueAfter = make(chan struct{}), time.Minute
		w.free(oneRequest)
		for range 2 {
			result, err := w.reconciles(otherRequest)
			require.NoError(w, err)
			assert.Equal(w, w.meanwhile, result)
			assert.Equal(w, 1, w.queues.Waiting(hangingBroker))
		}
		close(w.hangs)
		synctest.Wait()
		assert.Equal(w, 4, w.began)
	})
}

// A pass that needs no call and goes well ends the pauses after errors, and so nothing is kept
// of objects that are gone. One that waits says nothing of how the next one goes.
func TestDispatcherForgetsPauses(t *testing.T) {
	inDispatch(t, func(w *dispatchEnv) {
		answers := make(chan struct{})
		close(answers)
		w.hangs, w.comes.err = answers, errors.New("the API server is away")
		w.free(oneRequest)
		w.requeued(oneRequest, firstErrorPause)
		require.Equal(w, 1, w.pauses.NumRequeues(oneRequest))

		w.hangs = make(chan struct{})
		w.free(otherRequest)
		w.free(oneRequest)
		require.Equal(w, 1, w.pauses.NumRequeues(oneRequest), "it waits")

		hung := w.hangs
		w.hangs = nil
		_, err := w.reconciles(oneRequest)
		require.Error(w, err)
		require.Equal(w, 1, w.pauses.NumRequeues(oneRequest), "it failed again")
		w.comes.err = nil
		w.free(oneRequest)
		assert.Zero(w, w.pauses.NumRequeues(oneRequest))
		close(hung)
		synctest.Wait()
	})
}

// A panic is an error of its pass, before its call and in it.
func TestDispatcherSurvivesAPanic(t *testing.T) {
	inDispatch(t, func(w *dispatchEnv) {
		calls := false
		w.passes = reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
			if calls {
				FromContext(ctx).Enter(hangingBroker)
			}
			panic("out of bounds")
		})
		_, err := w.reconciles(oneRequest)
		require.ErrorContains(w, err, "out of bounds")
		calls = true
		w.free(oneRequest)
		w.requeued(oneRequest, firstErrorPause)
		w.free(otherRequest)
		w.requeued(otherRequest, firstErrorPause)
	})
}

// A conflict is no error: the change brings another pass.
func TestAgain(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "x"}, "y", nil)
	result, err := AfterConflict(reconcile.Result{}, conflict)
	require.NoError(t, err)
	assert.Equal(t, ConflictPause, result.RequeueAfter)
	result, err = AfterConflict(reconcile.Result{RequeueAfter: time.Second}, context.DeadlineExceeded)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Zero(t, result, "the pause after an error counts")
	result, err = AfterConflict(reconcile.Result{RequeueAfter: time.Second}, nil)
	require.NoError(t, err)
	assert.Equal(t, time.Second, result.RequeueAfter)
}

// The error names what is awaited, also where it has no name.
func TestWaitNamesTheBroker(t *testing.T) {
	t.Parallel()
	for want, broker := range map[string]Broker{
		"waits for its turn to call broker b":   cluster("b"),
		"waits for its turn to call broker n/b": namespaced("n", "b"),
		"waits for its turn to call a broker":   {},
	} {
		err := Wait(broker)
		assert.EqualError(t, err, want)
		assert.Equal(t, &broker, AwaitedBy(err))
	}
}
