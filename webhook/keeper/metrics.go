package keeper

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
	"github.com/defaultplan/defaultplan/webhook/keeper/requeue"
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
	touches, err := controller.Register(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "defaultplan_keeper_touches_total",
		Help: "Touches of undecided instances and bindings, by result: decided, undecided, denied, failed or gone.",
	}, []string{"result"}))
	if err != nil {
		return nil, err
	}
	leader, err := controller.Register(registerer, prometheus.NewGauge(prometheus.GaugeOpts{
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
	// A series that exists before its first event has a rate from the first
	// event on.
	for _, result := range []requeue.Outcome{requeue.Decided, requeue.Undecided, requeue.Denied, requeue.Failed, requeue.Gone} {
		touches.WithLabelValues(string(result))
	}
	return &measures{touches: touches, leader: leader, census: counted}, nil
}
