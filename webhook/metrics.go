package webhook

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

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
)

func init() { metrics.Registry.MustRegister(decisions, durations) } //nolint:gochecknoinits // metrics are registered once per process

func observe(half phase, req *admission.Request, rule, outcome string, took time.Duration) {
	decisions.WithLabelValues(string(half), req.Kind.Kind, string(req.Operation), rule, outcome).Inc()
	durations.WithLabelValues(string(half), req.Kind.Kind).Observe(took.Seconds())
}
