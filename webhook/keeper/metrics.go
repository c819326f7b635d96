package keeper

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// An outcome is what a touch led to, as the metric's label says it.
type outcome string

const (
	decided   outcome = "decided"
	undecided outcome = "undecided"
	denied    outcome = "denied"
	failed    outcome = "failed"
	gone      outcome = "gone"
)

// measures are the keeper's metrics.
type measures struct {
	touches *prometheus.CounterVec
	leader  prometheus.Gauge
	census  *census
}

// newMeasures registers the metrics, or finds those of another keeper in the
// same process.
func newMeasures(registerer prometheus.Registerer) (*measures, error) {
	touches, err := register(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "defaultplan_keeper_touches_total",
		Help: "Touches of undecided instances and bindings, by result: decided, undecided, denied, failed or gone.",
	}, []string{"result"}))
	if err != nil {
		return nil, err
	}
	leader, err := register(registerer, prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "defaultplan_keeper_leader",
		Help: "1 while this process is the keeper, else 0.",
	}))
	if err != nil {
		return nil, err
	}
	counted, err := newCensus(registerer)
	if err != nil {
		return nil, err
	}
	// A series that is there before its first event has a rate from that on.
	for _, result := range []outcome{decided, undecided, denied, failed, gone} {
		touches.WithLabelValues(string(result))
	}
	return &measures{touches: touches, leader: leader, census: counted}, nil
}

func register[C prometheus.Collector](registerer prometheus.Registerer, collector C) (C, error) {
	err := registerer.Register(collector)
	if taken, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if known, ok := taken.ExistingCollector.(C); ok {
			return known, nil
		}
	}
	if err != nil {
		return collector, fmt.Errorf("cannot register metrics: %w", err)
	}
	return collector, nil
}
