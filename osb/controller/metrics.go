package controller

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// metrics count what is asked of brokers.
type metrics struct {
	calls       *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	mitigations *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "defaultplan_broker_calls_total",
			Help: "Calls to brokers, by broker, operation and outcome: ok, or the kind of error.",
		}, []string{"broker", "operation", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "defaultplan_broker_call_duration_seconds", Help: "How long calls to brokers took.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2.5, 11),
		}, []string{"broker", "operation"}),
		mitigations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "defaultplan_orphan_mitigations_total", Help: "Instances and bindings of unknown outcome that had to be removed at their brokers.",
		}, []string{"kind"}),
	}
	for _, c := range []prometheus.Collector{m.calls, m.durations, m.mitigations} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("cannot register metrics: %w", err)
		}
	}
	return m, nil
}

// called counts a call.
func (m *metrics) called(s subject, broker brokerKey, step lifecycle.Step, err error, took time.Duration) {
	name := strings.Trim(broker.namespace+"/"+broker.name, "/")
	operation := operationOf(s, step)
	outcome := "ok"
	if err != nil {
		outcome = "other"
		if kind := osb.KindOf(err); kind != "" {
			outcome = string(kind)
		}
	}
	m.calls.WithLabelValues(name, operation, outcome).Inc()
	m.durations.WithLabelValues(name, operation).Observe(took.Seconds())
}

// mitigates counts an orphan.
func (m *metrics) mitigates(s subject) { m.mitigations.WithLabelValues(kindOf(s)).Inc() }

func kindOf(s subject) string {
	if _, ok := s.object().(*v1beta1.ServiceBinding); ok {
		return "binding"
	}
	return "instance"
}

// operationOf is what the specification calls a step.
func operationOf(s subject, step lifecycle.Step) string {
	binding := kindOf(s) == "binding"
	switch step {
	case lifecycle.Make:
		if binding {
			return "bind"
		}
		return "provision"
	case lifecycle.Change:
		return "update"
	case lifecycle.Remove, lifecycle.Mitigate:
		if binding {
			return "unbind"
		}
		return "deprovision"
	case lifecycle.Rest, lifecycle.Release, lifecycle.Poll, lifecycle.Fetch:
	}
	return step.String() + "_" + kindOf(s)
}
