package defaults

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// The results of a write, as label values.
const (
	writeStored = "stored"
	writeFailed = "failed"
)

// NewWrites registers the counter of what the default recorder writes, or finds that
// of another keeper in the same process.
func NewWrites(registerer prometheus.Registerer) (*prometheus.CounterVec, error) {
	writes, err := controller.Register(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "defaultplan_keeper_default_writes_total",
		Help: "Writes that keep the default plan of each type, by write: create, remove, record, clear, confirm, annotate or unannotate, " +
			"and result: stored or failed.",
	}, []string{"write", "result"}))
	if err != nil {
		return nil, err
	}
	for _, v := range []verb{createType, removeType, recordPlan, clearRecord, confirmRecord, annotatePlan, unannotatePlan} {
		for _, result := range []string{writeStored, writeFailed} {
			writes.WithLabelValues(string(v), result)
		}
	}
	return writes, nil
}

// count counts a write.
func count(writes *prometheus.CounterVec, v verb, err error) {
	result := writeStored
	if err != nil {
		result = writeFailed
	}
	writes.WithLabelValues(string(v), result).Inc()
}
