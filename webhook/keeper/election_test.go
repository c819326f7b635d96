package keeper_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper"
)

// takeover is the longest time until a Lease that nothing renews is another's. A candidate
// looks every RetryPeriod and up to 1.2 times as much more, which is client-go's jitter: that
// late it sees the last renewal, and that late, after the Lease's duration, that there was none.
const takeover = keeper.DefaultLeaseDuration + 2*22*keeper.DefaultRetryPeriod/10 + time.Second

// The tests of this file do not run in parallel with others: one counts the
// goroutines of the process.

func TestALostLeaseEndsTheProcessAndTheNextOneCatchesUp(t *testing.T) {
	inHouse(t, []client.Object{ofMySQL("first")}, func(ctx context.Context, h *house) {
		options := h.options()
		options.Lease = h.candidate("me")
		ended := h.start(ctx, options, houseCache{h})
		h.pass(time.Minute)
		require.Equal(t, []string{"a/first", "a/first"}, h.touched())
		require.Equal(t, 1, leader(t, h.registry))
		held := listeners()
		require.Positive(t, held, "handlers of each kind")

		h.leases.cutOff("me")
		h.pass(keeper.DefaultRenewDeadline + keeper.DefaultRetryPeriod + time.Second)
		require.ErrorContains(t, <-ended, "leader election lost", "what runs it is told")
		assert.Equal(t, 0, leader(t, h.registry), "the lease may be another's from now on")
		assert.Zero(t, listeners(), "the context of all that it started has ended")

		h.forget()
		require.NoError(t, h.Create(ctx, ofMySQL("second")))
		require.NoError(t, h.Create(ctx, clusterPlan("mysql")))
		h.pass(time.Minute)
		assert.Empty(t, h.touched(), "no lease, no work")

		h.leases.cutOff("")
		options.Lease = h.candidate("me again")
		stop := h.keep(ctx, options)
		h.pass(time.Minute)
		assert.Equal(t, 1, leader(t, h.registry))
		assert.Equal(t, []string{"a/first", "a/first", "a/second", "a/second"}, h.touched(), "what was missed is caught up with")
		assert.Equal(t, held, listeners())

		h.forget()
		p := clusterPlan("mysql")
		p.Name = "p2"
		require.NoError(t, h.Create(ctx, p))
		h.pass(time.Second)
		assert.Equal(t, []string{"a/first", "a/second"}, h.touched(), "the new one listens")

		stop()
		assert.Equal(t, "me again", h.leases.holder(), "the process releases it, when nothing runs any more")
		h.forget()
		require.NoError(t, h.Create(ctx, ofMySQL("third")))
		h.pass(time.Minute)
		assert.Empty(t, h.touched())
		assert.Zero(t, listeners())
	})
}

func TestALeaseOfAnotherIsLeftAlone(t *testing.T) {
	inHouse(t, nil, func(ctx context.Context, h *house) {
		options := h.options()
		options.Lease = h.candidate("me")
		ended := h.start(ctx, options, houseCache{h})
		h.pass(time.Second)
		require.Equal(t, "me", h.leases.holder())
		h.leases.give("other")
		h.pass(keeper.DefaultRenewDeadline + keeper.DefaultRetryPeriod)
		assert.Equal(t, 0, leader(t, h.registry))
		require.Error(t, <-ended)
		assert.Equal(t, "other", h.leases.holder(), "it is not ours to release")
	})
}

// A keeper that could not renew does not touch the Lease again: it may be another's by the
// time that a request gets through.
func TestALeaseThatWasLostIsNotReleased(t *testing.T) {
	inHouse(t, nil, func(ctx context.Context, h *house) {
		options := h.options()
		options.Lease = h.candidate("me")
		ended := h.start(ctx, options, houseCache{h})
		h.pass(time.Second)
		end := h.leases.hang()
		h.pass(keeper.DefaultRenewDeadline + keeper.DefaultRetryPeriod + time.Second)
		h.leases.give("other")
		end()
		require.Error(t, <-ended)
		h.pass(time.Second)
		assert.Equal(t, "other", h.leases.holder())
	})
}

func TestOneKeeperAtATimeAndTheNextTakesOver(t *testing.T) {
	inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
		one, two := h.options(), h.options()
		one.Lease, two.Lease = h.candidate("one"), h.candidate("two")
		two.Registerer = prometheus.NewRegistry()
		stopOne := h.keep(ctx, one)
		h.keep(ctx, two)
		h.pass(time.Minute)
		require.Equal(t, "one", h.leases.holder())
		require.Equal(t, []string{"a/mydb", "a/mydb"}, h.touched())

		h.forget()
		stopOne()
		h.pass(takeover)
		assert.Equal(t, "two", h.leases.holder())
		assert.Contains(t, h.touched(), "a/mydb", "the new keeper catches up")
	})
}

func TestTheLeaseIsHeldUntilTheWorkHasStopped(t *testing.T) {
	inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
		gate := make(chan struct{})
		one, two := h.options(), h.options()
		one.Lease, two.Lease = h.candidate("one"), h.candidate("two")
		one.Client = gated{h, gate}
		stopOne := h.keep(ctx, one)
		h.keep(ctx, two)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			stopOne()
		}()
		h.pass(keeper.DefaultLeaseDuration + keeper.DefaultRetryPeriod)
		assert.Equal(t, "one", h.leases.holder(), "a touch is still under way")
		close(gate)
		<-stopped
		h.pass(takeover)
		assert.Equal(t, "two", h.leases.holder())
	})
}

func TestAnInformerThatFailsIsAskedForAgain(t *testing.T) {
	inHouse(t, []client.Object{ofMySQL("mydb")}, func(ctx context.Context, h *house) {
		stop := h.keepIn(ctx, h.options(), &failing{Cache: houseCache{h}, failures: 3})
		h.pass(time.Second)
		assert.Empty(t, h.touched(), "nothing is done before all is listened to")
		h.pass(time.Minute)
		assert.NotEmpty(t, h.touched())
		stop()
		h.pass(time.Second)
		assert.Zero(t, listeners(), "each ends on its own after the manager")
	})
}

// failing has the informers of instances fail for a while.
type failing struct {
	cache.Cache

	mu       sync.Mutex
	failures int
}

func (f *failing) GetInformer(ctx context.Context, object client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	_, about := object.(*v1beta1.ServiceInstance)
	f.mu.Lock()
	fails := about && f.failures > 0
	if fails {
		f.failures--
	}
	f.mu.Unlock()
	if fails {
		return nil, errors.New("no informer")
	}
	return f.Cache.GetInformer(ctx, object, options...)
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	h := &house{registry: prometheus.NewRegistry(), leases: &leases{}}
	for name, tc := range map[string]struct {
		reason  string
		options func(*keeper.Options)
		want    string
	}{
		"Complete":     {"the rest has defaults", func(*keeper.Options) {}, ""},
		"Lacking":      {"all that is missing is said at once", func(o *keeper.Options) { *o = keeper.Options{} }, "cannot make the keeper: options lack Client, Lease, Live, Recorder"},
		"NegativeRate": {"it is a typing error", func(o *keeper.Options) { o.TouchesPerSecond = -1 }, "cannot make the keeper: options TouchesPerSecond and Burst cannot be negative: give a positive number, or 0 for the default"},
	} {
		t.Run(name, func(t *testing.T) {
			options := h.options()
			tc.options(&options)
			_, err := keeper.New(options)
			if tc.want == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			require.EqualError(t, err, tc.want, tc.reason)
		})
	}
}

func TestMetricsOfAnotherNameAreRefused(t *testing.T) {
	h := &house{registry: prometheus.NewRegistry(), leases: &leases{}}
	h.registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "defaultplan_keeper_touches_total", Help: "Not ours."}))
	_, err := keeper.New(h.options())
	require.ErrorContains(t, err, "cannot make the keeper: cannot register metrics")
}

func leader(t *testing.T, registry prometheus.Gatherer) int {
	t.Helper()
	for value, text := range map[int]string{0: "0", 1: "1"} {
		want := "# HELP defaultplan_keeper_leader 1 while this process is the keeper, else 0.\n" +
			"# TYPE defaultplan_keeper_leader gauge\ndefaultplan_keeper_leader " + text + "\n"
		if testutil.GatherAndCompare(registry, strings.NewReader(want), "defaultplan_keeper_leader") == nil {
			return value
		}
	}
	return -1
}

// listeners is how many handlers shared informers are delivering to. Each has a
// goroutine that lives until its handler is removed.
func listeners() int {
	stacks := make([]byte, 1<<22)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Count(stacks, []byte("processorListener).run("))
}
