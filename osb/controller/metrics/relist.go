package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/tracing"
)

// relistMetrics tell of relists.
type relistMetrics struct {
	outcomes  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	writes    *prometheus.CounterVec
	succeeded *prometheus.GaugeVec
}

// The outcomes of a relist.
const (
	RelistOK                  = "ok"
	RelistFetchFailed         = "fetch_failed"
	RelistCredentialsFailed   = "credentials_failed"
	RelistRestrictionsInvalid = "restrictions_invalid"
	RelistWriteFailed         = "write_failed"
)

// A Relist is what is counted of one relist.
type Relist struct {
	// Outcome is one of the outcomes of a relist.
	Outcome      string
	Began, Ended time.Time
	// Writes are the requests that wrote classes and plans.
	Writes int
}

func newRelistMetrics() relistMetrics {
	return relistMetrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "defaultplan_relists_total",
			Help: "Relists of brokers' catalogs, by broker and outcome: ok, fetch_failed, credentials_failed, restrictions_invalid or write_failed.",
		}, []string{"broker", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "defaultplan_relist_duration_seconds", Help: "How long relists took, from the fetch to the last write.",
			Buckets: prometheus.ExponentialBuckets(0.05, 3, 9),
		}, []string{"broker"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "defaultplan_relist_writes_total", Help: "Requests of relists that wrote classes and plans.",
		}, []string{"broker"}),
		succeeded: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "defaultplan_relist_last_success_timestamp_seconds", Help: "When a broker's catalog was last taken over, in seconds since 1970.",
		}, []string{"broker"}),
	}
}

func (r *relistMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{r.outcomes, r.durations, r.writes, r.succeeded}
}

// Relisted counts a relist of a broker's catalog.
func (m *Counters) Relisted(broker types.NamespacedName, r Relist) {
	if m == nil {
		return
	}
	name := Label(broker)
	if r.Outcome == RelistOK {
		m.relists.succeeded.WithLabelValues(name).Set(float64(r.Ended.Unix()))
	}
	m.relists.outcomes.WithLabelValues(name, r.Outcome).Inc()
	m.relists.durations.WithLabelValues(name).Observe(r.Ended.Sub(r.Began).Seconds())
	m.relists.writes.WithLabelValues(name).Add(float64(r.Writes))
}

// TookOver exports when a broker's catalog was last taken over, by this process or another.
func (m *Counters) TookOver(broker types.NamespacedName, at time.Time) {
	if m == nil {
		return
	}
	m.relists.succeeded.WithLabelValues(Label(broker)).Set(float64(at.Unix()))
}

// errPanicked is the outcome of a fetch that panicked.
var errPanicked = errors.New("the call panicked")

// Fetching counts a fetch of a catalog as a call.
func (m *Counters) Fetching(ctx context.Context, broker types.NamespacedName, now clock.PassiveClock, fetch func(context.Context) (*osb.Catalog, error)) (*osb.Catalog, error) {
	began := now.Now()
	ctx, span := tracing.Start(ctx, operationCatalog)
	ended, err := m.Calling(broker), errPanicked
	defer func() {
		ended()
		m.Called(broker, operationCatalog, err, now.Since(began))
		tracing.EndCall(span, Label(broker), err)
	}()
	catalog, err := fetch(ctx)
	return catalog, err
}
