package broker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
)

const wellDone = "CatalogComplete=True/FetchedCatalog Ready=True/FetchedCatalog"

func inBothScopes(t *testing.T, test func(w *brokerEnv)) {
	t.Helper()
	for name, namespaced := range map[string]bool{"Cluster": false, "Namespace": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newBrokerEnv(t, namespaced))
		})
	}
}

// A broker is relisted when it is new, when its spec changes, when it is asked for, and
// after its time; at no other pass anything is fetched or written.
func TestBrokerDue(t *testing.T) {
	t.Parallel()
	inBothScopes(t, func(w *brokerEnv) {
		result := w.pass(0)
		assert.Equal(w, wellDone, w.conditions())
		assert.Equal(w, "Normal FetchedCatalog", w.events())
		status := w.broker().Status
		assert.Equal(w, []int64{1, 1}, []int64{status.ObservedGeneration, status.ReconciledGeneration})
		assert.Equal(w, "Ready", status.LastConditionState)
		assert.GreaterOrEqual(w, result.RequeueAfter, 24*time.Hour)
		assert.Less(w, result.RequeueAfter, 27*time.Hour)
		assert.Equal(w, 1, w.statuses)

		writes := w.writes
		w.pass(time.Hour)
		w.pass(23*time.Hour - time.Second)
		assert.Len(w, w.etags, 1)
		assert.Equal(w, writes, w.writes)
		w.pass(3 * time.Hour)
		assert.Len(w, w.etags, 2)
		assert.Equal(w, 2, w.statuses, "only when it was fetched")
		assert.Empty(w, w.events())

		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistRequests++ })
		w.pass(time.Second)
		assert.Len(w, w.etags, 3)
		assert.Equal(w, int64(2), w.broker().Status.ReconciledGeneration)
		w.reconciler.ask(keyOfBroker(w.broker().object))
		w.pass(time.Second)
		w.pass(time.Second)
		assert.Len(w, w.etags, 4, "once")

		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistDuration = &metav1.Duration{Duration: time.Minute} })
		assert.Less(w, w.pass(time.Second).RequeueAfter, 67*time.Second)
		w.pass(67 * time.Second)
		assert.Len(w, w.etags, 6)
		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistBehavior = v1beta1.RelistManual })
		assert.Zero(w, w.pass(time.Second).RequeueAfter)
		w.pass(1000 * time.Hour)
		assert.Len(w, w.etags, 7)
	})
}

// A broker that names another controller is left to that, and says so where that does not look at it.
func TestBrokerOfAnother(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, false)
	w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.ControllerName = "other" })
	for range 2 {
		assert.Zero(t, w.pass(0))
		assert.Empty(t, w.etags)
		assert.Equal(t, 1, w.writes, "once")
		assert.Empty(t, w.events())
	}
	assert.Equal(t, "Ready=Unknown/WaitsForController", w.conditions())
	w.at.Name = "absent"
	assert.Zero(t, w.pass(0))
}

// A broker without the finalizer gets it before anything is made of its catalog.
func TestBrokerHeld(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, false)
	b := w.broker()
	b.object.SetFinalizers([]string{"a/b"})
	require.NoError(t, w.client.Update(t.Context(), b.object))
	w.answer = func(string) (*osb.Catalog, error) {
		assert.Equal(t, []string{"a/b", v1beta1.FinalizerServiceCatalog}, w.broker().object.GetFinalizers())
		return &osb.Catalog{}, nil
	}
	w.pass(0)
	assert.Len(t, w.etags, 1)
}

// A time that another clock wrote is not waited for longer than one of this clock, and a
// relistDuration is not taken for shorter than it may be.
func TestBrokerDueByAnotherClock(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(d)} }
	const far = 300 * 24 * time.Hour
	for name, tc := range map[string]struct {
		reason      string
		edit        func(b Broker)
		least, most time.Duration
	}{
		"Retry":      {"no broker can ask for more", func(b Broker) { b.Status.NextRetry = in(far) }, 0, 0},
		"RetryLong":  {"a broker can ask for that", func(b Broker) { b.Status.NextRetry = in(osb.LongestWait) }, osb.LongestWait, osb.LongestWait},
		"RetrySkew":  {"clocks differ a little", func(b Broker) { b.Status.NextRetry = in(osb.LongestWait + time.Second) }, osb.LongestWait, osb.LongestWait + time.Second},
		"Relist":     {"it was not read in the future", func(b Broker) { b.Status.LastCatalogRetrievalTime = in(far) }, 0, 0},
		"RelistSkew": {"clocks differ a little", func(b Broker) { b.Status.LastCatalogRetrievalTime = in(time.Second) }, time.Hour, 67 * time.Minute},
		"Short": {"a second would ask the broker all the time", func(b Broker) {
			b.Status.LastCatalogRetrievalTime, b.Spec.RelistDuration = in(0), &metav1.Duration{Duration: time.Second}
		}, time.Minute, 66 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := brokerOf(clusterBroker("http://broker.example", nil))
			b.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionTrue}}
			b.Status.ObservedGeneration = b.object.GetGeneration()
			tc.edit(b)
			due, ever := relistDue(b, noon, time.Hour)
			require.True(t, ever)
			assert.WithinRange(t, due, noon.Add(tc.least), noon.Add(tc.most), tc.reason)
			again, ever := relistDue(b, due, time.Hour)
			require.True(t, ever)
			assert.False(t, again.After(due), "it is still due when that time has come")
		})
	}
}

// A broker's first catalog has less time than later ones.
func TestBrokerFirstFetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newBrokerEnv(t, false)
		var left []time.Duration
		fetch := w.reconciler.Fetch
		w.reconciler.Fetch = func(ctx context.Context, b client.Object, etag string) (*osb.Catalog, error) {
			bounded := time.Duration(0)
			if ends, is := ctx.Deadline(); is {
				bounded = time.Until(ends)
			}
			left = append(left, bounded)
			return fetch(ctx, b, etag)
		}
		w.pass(0)
		w.respec(func(s *v1beta1.CommonServiceBrokerSpec) { s.RelistRequests++ })
		w.pass(time.Second)
		assert.Equal(t, []time.Duration{10 * time.Second, 0}, left)
	})
}

// A catalog that was asked for while its broker waits for its turn is fetched then.
func TestBrokerWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, true)
	w.pass(0)
	fetches := queue.New(queue.Limits{Calls: 1, PerBroker: 1, PerNamespace: 1, Namespaced: 1})
	other, _ := fetches.Begin(queue.Item{Kind: "other"}, nil)
	require.True(t, other.Enter(queue.Broker{Namespace: "n", Name: "other"}))
	resumed := make(chan *queue.Pass, 1)
	p, _ := fetches.Begin(queue.Item{}, func(p *queue.Pass) { resumed <- p })
	w.reconciler.ask(keyOfBroker(w.broker().object))
	_, err := w.reconciler.Reconcile(queue.NewContext(t.Context(), p), reconcile.Request{NamespacedName: w.at})
	require.NotNil(t, queue.AwaitedBy(err))
	p.End(queue.AwaitedBy(err))
	assert.Len(t, w.etags, 1)
	other.End(nil)
	p = <-resumed
	_, err = w.reconciler.Reconcile(queue.NewContext(t.Context(), p), reconcile.Request{NamespacedName: w.at})
	require.NoError(t, err)
	p.End(nil)
	assert.Len(t, w.etags, 2)
}

// Of many plans status says how many are applied.
func TestRelistTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	plans := make([]string, 1001)
	for i := range plans {
		plans[i] = fmt.Sprintf(`{"id":"p%d","name":"p%d"}`, i, i)
	}
	inBothScopes(t, func(w *brokerEnv) {
		listed := plans
		w.answer = func(string) (*osb.Catalog, error) {
			return brokerCatalog(w.T, fmt.Sprintf(`{"services":[{"id":"db","name":"mysql","plans":[%s]}]}`, strings.Join(listed, ",")), ""), nil
		}
		w.pass(0)
		assert.Equal(w, []string{
			"500 of the 1001 plans of the catalog are applied", "1000 of the 1001 plans of the catalog are applied", "",
		}, w.progress)

		listed, w.progress = plans[:500], nil // no more than half of all are missing
		w.reconciler.ask(keyOfBroker(w.broker().object))
		w.pass(time.Minute)
		assert.Equal(w, []string{
			"0 of 501 classes and plans that the catalog lists no more are marked", "500 of 501 classes and plans that the catalog lists no more are marked", "",
		}, w.progress)
		assert.NotContains(w, w.conditions(), "CatalogShrank")
	})
}
