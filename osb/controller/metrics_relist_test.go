package controller

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb"
)

// Relists are counted with what came of them, fetches as calls too; and nothing is left
// of a broker that is gone.
func TestMetricsOfRelists(t *testing.T) {
	t.Parallel()
	w := newBrokerWorld(t, true)
	registry := prometheus.NewRegistry()
	counted, err := newMetrics(registry)
	require.NoError(t, err)
	fetch := w.reconciler.fetch
	w.reconciler.metrics, w.reconciler.fetch = counted, func(ctx context.Context, o client.Object, etag string) (*osb.Catalog, error) {
		return counted.fetching(ctx, keyOfBroker(o), clock.RealClock{}, func(ctx context.Context) (*osb.Catalog, error) { return fetch(ctx, o, etag) })
	}
	w.pass(0)
	succeeded := w.clock.Now()
	w.answer = func(string) (*osb.Catalog, error) { return nil, &osb.Error{Kind: osb.BrokerFault, StatusCode: 500} }
	w.pass(48 * time.Hour)
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP defaultplan_broker_calls_total Calls to brokers, by broker, operation and outcome: ok, or the kind of error.
# TYPE defaultplan_broker_calls_total counter
defaultplan_broker_calls_total{broker="n/b",operation="catalog",outcome="BrokerFault"} 1
defaultplan_broker_calls_total{broker="n/b",operation="catalog",outcome="ok"} 1
# HELP defaultplan_relists_total Relists of brokers' catalogs, by broker and outcome: ok, fetch_failed, credentials_failed, restrictions_invalid or write_failed.
# TYPE defaultplan_relists_total counter
defaultplan_relists_total{broker="n/b",outcome="fetch_failed"} 1
defaultplan_relists_total{broker="n/b",outcome="ok"} 1
# HELP servicecatalog_osb_request_count Calls to brokers as the retired catalog counted them: by broker, method, and class of HTTP status.
# TYPE servicecatalog_osb_request_count counter
servicecatalog_osb_request_count{broker="n/b",method="GetCatalog",status="2xx"} 1
servicecatalog_osb_request_count{broker="n/b",method="GetCatalog",status="5xx"} 1
`), "defaultplan_broker_calls_total", "defaultplan_relists_total", "servicecatalog_osb_request_count"))
	assert.InDelta(t, succeeded.Unix(), testutil.ToFloat64(counted.relists.succeeded.WithLabelValues("n/b")), 0, "a failure does not take the last success away")
	assert.Positive(t, testutil.ToFloat64(counted.relists.writes.WithLabelValues("n/b")))
	assert.Zero(t, testutil.ToFloat64(counted.running.WithLabelValues("n/b")))

	again, err := newMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	again.knows(w.broker())
	assert.Zero(t, testutil.CollectAndCount(again.relists.succeeded), "a broker that is not ready has told of no success")
	w.answer = func(string) (*osb.Catalog, error) { return brokerCatalog(t, brokersCatalog, ""), nil }
	w.pass(time.Hour)
	again.knows(w.broker())
	assert.InDelta(t, w.clock.Now().Unix(), testutil.ToFloat64(again.relists.succeeded.WithLabelValues("n/b")), 0, "another process took it over")

	counted.called(brokerKey{name: "other"}, "bind", nil, time.Second)
	require.NoError(t, w.client.Delete(t.Context(), w.broker().object))
	for range 5 { // the classes go first, then the finalizer, then the broker
		w.pass(time.Minute)
	}
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		assert.NotContains(t, family.String(), `"n/b"`, "its series went with the broker")
	}
	assert.InDelta(t, 1, testutil.ToFloat64(counted.calls.WithLabelValues("other", "bind", "ok")), 0, "those of others stay")
}

// A fetch is a call once the broker is asked: what fails before, as for want of the
// Secret, is none.
func TestOnlyCallsAreCounted(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"services": []}`)) }))
	t.Cleanup(server.Close)
	object := clusterBroker(server.URL, basicAuth("late"))
	b, _, store := brokersWith(t, object)
	counted, err := newMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	b.metrics = counted
	_, err = b.catalog(t.Context(), object, "")
	require.ErrorContains(t, err, `"n/late"`)
	assert.Zero(t, testutil.CollectAndCount(counted.calls))
	assert.Zero(t, testutil.CollectAndCount(counted.durations))

	require.NoError(t, store.Create(t.Context(), secretWith("late", map[string]string{"username": "u", "password": "p"})))
	_, err = b.catalog(t.Context(), object, "")
	require.NoError(t, err)
	assert.InDelta(t, 1, testutil.ToFloat64(counted.calls.WithLabelValues("b", "catalog", "ok")), 0)
	assert.Zero(t, testutil.ToFloat64(counted.running.WithLabelValues("b")))
}

// The retired catalog's status of a call is a class, or that there was none.
func TestOldStatus(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"2xx": nil, "4xx": &osb.Error{StatusCode: 404}, "5xx": &osb.Error{StatusCode: 503},
		"client-error": &osb.Error{Kind: osb.NeverSent, Cause: errors.New("refused")},
	} {
		assert.Equal(t, want, oldStatus(err))
	}
	assert.Equal(t, "other", outcomeOf(errors.New("no call was made")))
}
