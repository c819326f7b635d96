package broker

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/metrics"
	"github.com/defaultplan/defaultplan/osb/controller/metrics/metricstest"
)

// Relists are counted with what came of them, fetches as calls too; and nothing is left
// of a broker that is gone.
func TestMetricsOfRelists(t *testing.T) {
	t.Parallel()
	w := newBrokerEnv(t, true)
	const lastSuccess = "defaultplan_relist_last_success_timestamp_seconds"
	registry := prometheus.NewRegistry()
	counted, err := metrics.New(registry)
	require.NoError(t, err)
	fetch := w.reconciler.Fetch
	w.reconciler.Metrics, w.reconciler.Fetch = counted, func(ctx context.Context, o client.Object, etag string) (*osb.Catalog, error) {
		return counted.Fetching(ctx, client.ObjectKeyFromObject(o), clock.RealClock{}, func(ctx context.Context) (*osb.Catalog, error) { return fetch(ctx, o, etag) })
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
	assert.InDelta(t, succeeded.Unix(), metricstest.Value(t, registry, lastSuccess, "n/b"), 0, "a failure does not take the last success away")
	assert.Positive(t, metricstest.Value(t, registry, "defaultplan_relist_writes_total", "n/b"))
	assert.Zero(t, metricstest.Value(t, registry, "defaultplan_broker_calls_in_progress", "n/b"))

	another := prometheus.NewRegistry()
	elsewhere, err := metrics.New(another)
	require.NoError(t, err)
	w.reconciler.Metrics = elsewhere
	w.pass(0)
	assert.Zero(t, metricstest.Series(t, another, lastSuccess), "a broker that is not ready has told of no success")
	w.reconciler.Metrics = counted
	w.answer = func(string) (*osb.Catalog, error) { return brokerCatalog(t, brokersCatalog, ""), nil }
	w.pass(time.Hour)
	w.reconciler.Metrics = elsewhere
	w.pass(0)
	assert.InDelta(t, w.clock.Now().Unix(), metricstest.Value(t, another, lastSuccess, "n/b"), 0, "another process took it over")
	w.reconciler.Metrics = counted

	counted.Called(types.NamespacedName{Name: "other"}, "bind", nil, time.Second)
	require.NoError(t, w.client.Delete(t.Context(), w.broker().object))
	for range 5 { // the classes go first, then the finalizer, then the broker
		w.pass(time.Minute)
	}
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		assert.NotContains(t, family.String(), `"n/b"`, "its series went with the broker")
	}
	assert.InDelta(t, 1, metricstest.Value(t, registry, "defaultplan_broker_calls_total", "other", "bind", "ok"), 0, "those of others stay")
}

// A fetch is a call once the broker is asked: what fails before, as for want of the
// Secret, is none.
func TestOnlyCallsAreCounted(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"services": []}`)) }))
	t.Cleanup(server.Close)
	object := clusterBroker(server.URL, basicAuth("late"))
	b, _, store := brokersWith(t, object)
	registry := prometheus.NewRegistry()
	counted, err := metrics.New(registry)
	require.NoError(t, err)
	b.Metrics = counted
	_, err = b.Catalog(t.Context(), object, "")
	require.ErrorContains(t, err, `"n/late"`)
	assert.Zero(t, metricstest.Series(t, registry, "defaultplan_broker_calls_total"))
	assert.Zero(t, metricstest.Series(t, registry, "defaultplan_broker_call_duration_seconds"))

	require.NoError(t, store.Create(t.Context(), secretWith("late", map[string]string{"username": "u", "password": "p"})))
	_, err = b.Catalog(t.Context(), object, "")
	require.NoError(t, err)
	assert.InDelta(t, 1, metricstest.Value(t, registry, "defaultplan_broker_calls_total", "b", "catalog", "ok"), 0)
	assert.Zero(t, metricstest.Value(t, registry, "defaultplan_broker_calls_in_progress", "b"))
}
