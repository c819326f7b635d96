package webhook

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// No label has a name that users choose: kinds, operations, phases, rules and
// reasons are words of this code, a few dozen in all.
var (
	// decisions counts what admission decided. The outcome is "allowed", "failed"
	// for a failure of ours, or the reason of a refusal.
	decisions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "defaultplan_decisions_total",
		Help: "Admission decisions by phase (mutate, validate), kind, operation, rule that chose the plan, and outcome.",
	}, []string{"phase", "kind", "operation", "rule", "outcome"})

	// durations are in seconds, in buckets from a half to the hooks' timeout.
	durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "defaultplan_decision_duration_seconds",
		Help:    "Time that a decision took, by phase and kind, in seconds.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
	}, []string{"phase", "kind"})

	// refusals are those of decisions, and the requests that are not for the hook.
	refusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "defaultplan_refusals_total",
		Help: "Requests that admission refused, by phase, kind and reason.",
	}, []string{"phase", "kind", "reason"})

	// parameterSizes end where merge refuses.
	parameterSizes = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "defaultplan_parameters_bytes",
		Help:    "Size of parameters as they are to be stored, with defaults merged in, by kind, in bytes of JSON.",
		Buckets: prometheus.ExponentialBuckets(64, 4, 7),
	}, []string{"kind"})

	patchSizes = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "defaultplan_patch_bytes",
		Help:    "Size of the JSON patch by which admission changes a write, by kind, in bytes.",
		Buckets: prometheus.ExponentialBuckets(64, 4, 7),
	}, []string{"kind"})

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

// What came of a check and of a lookup, as the metrics' labels say it.
const (
	checkAccepted = "accepted"
	checkRefused  = "refused"
	checkUnusable = "unusable"
	lookupHit     = "hit"
	lookupMiss    = "miss"
)

func init() { //nolint:gochecknoinits // metrics are registered once per process
	metrics.Registry.MustRegister(decisions, durations, refusals, parameterSizes, patchSizes, schemaChecks, schemaLookups, schemasKept)
	// A series that is there before its first event has a rate from that on.
	for _, result := range []string{checkAccepted, checkRefused, checkUnusable} {
		schemaChecks.WithLabelValues(result)
	}
	for _, result := range []string{lookupHit, lookupMiss} {
		schemaLookups.WithLabelValues(result)
	}
}

func observe(half phase, req *admission.Request, decided *verdict, outcome string, took time.Duration) {
	kind := req.Kind.Kind
	decisions.WithLabelValues(string(half), kind, string(req.Operation), decided.rule, outcome).Inc()
	durations.WithLabelValues(string(half), kind).Observe(took.Seconds())
	if decided.denied != nil {
		refusals.WithLabelValues(string(half), kind, decided.denied.label).Inc()
		return
	}
	if decided.parameterBytes > 0 {
		parameterSizes.WithLabelValues(kind).Observe(float64(decided.parameterBytes))
	}
}
