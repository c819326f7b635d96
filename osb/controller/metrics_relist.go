package controller

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/defaultplan/defaultplan/osb"
)

// relistMetrics are the metrics of relists.
type relistMetrics struct {
	outcomes  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	writes    *prometheus.CounterVec
	succeeded *prometheus.GaugeVec
}

// outcomesOfRelists are the label values of failed relists, by stage.
var outcomesOfRelists = map[stage]string{
	fetching: "fetch_failed", authenticating: "credentials_failed", restricting: "restrictions_invalid", syncing: "write_failed",
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

// relisted counts an attempt.
func (m *metrics) relisted(broker brokerKey, a *attempt) {
	if m == nil {
		return
	}
	name, outcome := broker.label(), "ok"
	if a.failure != nil {
		outcome = outcomesOfRelists[a.stage]
	} else {
		m.relists.succeeded.WithLabelValues(name).Set(float64(a.ended.Unix()))
	}
	m.relists.outcomes.WithLabelValues(name, outcome).Inc()
	m.relists.durations.WithLabelValues(name).Observe(a.ended.Sub(a.began).Seconds())
	m.relists.writes.WithLabelValues(name).Add(float64(a.result.Writes))
}

// knows exports the time of a broker's last relist by its status, because
// another process may have done it.
func (m *metrics) knows(b broker) {
	if m == nil || !b.ready() || b.status.LastCatalogRetrievalTime == nil {
		return
	}
	m.relists.succeeded.WithLabelValues(keyOfBroker(b.object).label()).Set(float64(b.status.LastCatalogRetrievalTime.Unix()))
}

// fetching counts a fetch as a call.
func (m *metrics) fetching(ctx context.Context, key brokerKey, now clock.PassiveClock, fetch func(context.Context) (*osb.Catalog, error)) (*osb.Catalog, error) {
	began := now.Now()
	ctx, span := startSpan(ctx, operationCatalog)
	ended, err := m.calling(key), errPanic
	defer func() {
		ended()
		m.called(key, operationCatalog, err, now.Since(began))
		endCall(span, key, err)
	}()
	catalog, err := fetch(ctx)
	return catalog, err
}
