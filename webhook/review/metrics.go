package review

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

	// durations are in seconds, in buckets from half a millisecond to the hooks' timeout.
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
)

func init() { //nolint:gochecknoinits // metrics are registered once per process
	metrics.Registry.MustRegister(decisions, durations, refusals, parameterSizes, patchSizes)
}

func observe(phase Phase, req *admission.Request, decided *Result, outcome string, took time.Duration) {
	kind := req.Kind.Kind
	decisions.WithLabelValues(string(phase), kind, string(req.Operation), decided.Rule, outcome).Inc()
	durations.WithLabelValues(string(phase), kind).Observe(took.Seconds())
	if decided.Denied != nil {
		refusals.WithLabelValues(string(phase), kind, decided.Denied.Label).Inc()
		return
	}
	if decided.ParameterBytes > 0 {
		parameterSizes.WithLabelValues(kind).Observe(float64(decided.ParameterBytes))
	}
}
