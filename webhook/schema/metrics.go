package schema

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The metrics of package review count decisions; these count the checks of parameters
// against the schemas of plans.
var (
	schemaChecks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "defaultplan_schema_checks_total",
		Help: "Parameters held against a JSON schema of a plan, by result: accepted, refused, or unusable where the schema cannot be used.",
	}, []string{"result"})

	schemaLookups = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "defaultplan_schema_cache_lookups_total",
		Help: "Schemas that were looked for among the compiled ones, by result: hit or miss.",
	}, []string{"result"})

	schemasKept = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "defaultplan_schema_cache_entries",
		Help: "Compiled schemas that are kept.",
	})
)

// The results of a check and of a lookup, as label values.
const (
	checkAccepted = "accepted"
	checkRefused  = "refused"
	checkUnusable = "unusable"
	lookupHit     = "hit"
	lookupMiss    = "miss"
)

func init() { //nolint:gochecknoinits // metrics are registered once per process
	metrics.Registry.MustRegister(schemaChecks, schemaLookups, schemasKept)
	// A series that exists before its first event has a rate from the first
	// event on.
	for _, result := range []string{checkAccepted, checkRefused, checkUnusable} {
		schemaChecks.WithLabelValues(result)
	}
	for _, result := range []string{lookupHit, lookupMiss} {
		schemaLookups.WithLabelValues(result)
	}
}
