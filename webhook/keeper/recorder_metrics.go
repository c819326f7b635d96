package keeper

import "github.com/prometheus/client_golang/prometheus"

// What came of a write, as the metric's label says it.
const (
	writeStored = "stored"
	writeFailed = "failed"
)

// newDefaultWrites registers the counter of what the recorder writes, or finds that
// of another keeper in the same process.
func newDefaultWrites(registerer prometheus.Registerer) (*prometheus.CounterVec, error) {
	writes, err := register(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "defaultplan_keeper_default_writes_total",
		Help: "Writes that keep the default plan of each type, by write: create, remove, record, clear, confirm, annotate or unannotate, " +
			"and result: stored or failed.",
	}, []string{"write", "result"}))
	if err != nil {
		return nil, err
	}
	for _, a := range []action{createType, removeType, recordPlan, clearRecord, confirmRecord, annotatePlan, unannotatePlan} {
		for _, result := range []string{writeStored, writeFailed} {
			writes.WithLabelValues(string(a), result)
		}
	}
	return writes, nil
}

// written counts a write.
func (r *recorder) written(a action, err error) {
	result := writeStored
	if err != nil {
		result = writeFailed
	}
	r.defaultWrites.WithLabelValues(string(a), result).Inc()
}
