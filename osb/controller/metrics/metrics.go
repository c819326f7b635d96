package metrics

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/tracing"
)

// Counters count the calls to brokers. A broker is a label: there are as many
// series as brokers, and those of a broker are removed with it. All other label
// values are constants. A nil *metrics counts nothing.
type Counters struct {
	calls       *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	running     *prometheus.GaugeVec
	retries     *prometheus.CounterVec
	mitigations *prometheus.CounterVec
	// requests are calls as the retired catalog counted them.
	requests *prometheus.CounterVec
	relists  relistMetrics
}

// New returns counters that a registerer exports.
func New(registerer prometheus.Registerer) (*Counters, error) {
	m := &Counters{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "defaultplan_broker_calls_total",
			Help: "Calls to brokers, by broker, operation and outcome: ok, or the kind of error.",
		}, []string{"broker", "operation", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "defaultplan_broker_call_duration_seconds", Help: "How long calls to brokers took.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2.5, 11),
		}, []string{"broker", "operation"}),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "defaultplan_broker_calls_in_progress", Help: "Calls that brokers have yet to answer.",
		}, []string{"broker"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "defaultplan_broker_call_retries_total", Help: "Calls to brokers that were made because an earlier one of the same operation failed.",
		}, []string{"broker", "operation"}),
		mitigations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "defaultplan_orphan_mitigations_total", Help: "Instances and bindings of unknown outcome that had to be removed at their brokers.",
		}, []string{"kind"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{ //nolint:promlinter // the name is the retired catalog's
			Name: "servicecatalog_osb_request_count", Help: "Calls to brokers as the retired catalog counted them: by broker, method, and class of HTTP status.",
		}, []string{"broker", "method", "status"}),
		relists: newRelistMetrics(),
	}
	for _, c := range append(m.byBroker(), m.mitigations) {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("cannot register metrics: %w", err)
		}
	}
	// A series that exists before its first event has a rate from the first
	// event on.
	m.mitigations.WithLabelValues("instance")
	m.mitigations.WithLabelValues("binding")
	return m, nil
}

// byBroker are the metrics that have a broker as a label.
func (m *Counters) byBroker() []prometheus.Collector {
	return append([]prometheus.Collector{m.calls, m.durations, m.running, m.retries, m.requests}, m.relists.all()...)
}

// Forget removes the series of a broker that is gone.
func (m *Counters) Forget(broker types.NamespacedName) {
	if m == nil {
		return
	}
	for _, c := range m.byBroker() {
		if vector, ok := c.(interface {
			DeletePartialMatch(labels prometheus.Labels) int
		}); ok {
			vector.DeletePartialMatch(prometheus.Labels{"broker": Label(broker)})
		}
	}
}

// Label is the label of a broker: NAME, or NAMESPACE/NAME.
func Label(broker types.NamespacedName) string {
	return strings.Trim(broker.Namespace+"/"+broker.Name, "/")
}

// Calling counts a call while it runs; the function that it returns ends that.
func (m *Counters) Calling(broker types.NamespacedName) func() {
	if m == nil {
		return func() {}
	}
	running := m.running.WithLabelValues(Label(broker))
	running.Inc()
	return running.Dec
}

// Called counts a call.
func (m *Counters) Called(broker types.NamespacedName, operation string, err error, took time.Duration) {
	if m == nil {
		return
	}
	name := Label(broker)
	m.calls.WithLabelValues(name, operation, tracing.Outcome(err)).Inc()
	m.durations.WithLabelValues(name, operation).Observe(took.Seconds())
	if method, known := oldMethods[operation]; known {
		m.requests.WithLabelValues(name, method, oldStatus(err)).Inc()
	}
}

// Retried counts a call that was made before, and failed.
func (m *Counters) Retried(broker types.NamespacedName, operation string) {
	if m == nil {
		return
	}
	m.retries.WithLabelValues(Label(broker), operation).Inc()
}

// Mitigated counts an orphan: an instance or a binding.
func (m *Counters) Mitigated(kind string) {
	if m == nil {
		return
	}
	m.mitigations.WithLabelValues(kind).Inc()
}

// operationCatalog is the operation that no instance and no binding has.
const operationCatalog = "catalog"

// oldMethods are what the retired catalog called operations.
var oldMethods = map[string]string{
	operationCatalog: "GetCatalog", "provision": "ProvisionInstance", "update": "UpdateInstance", "deprovision": "DeprovisionInstance",
	"bind": "Bind", "unbind": "Unbind", "fetch_binding": "GetBinding",
	"poll_instance": "PollLastOperation", "poll_binding": "PollBindingLastOperation",
}

// oldStatus is the result of a call in the retired catalog's words: 2xx, 4xx,
// or client-error without a response.
func oldStatus(err error) string {
	if err == nil {
		return "2xx"
	}
	if failed := (*osb.Error)(nil); errors.As(err, &failed) && failed.StatusCode > 0 {
		return fmt.Sprintf("%dxx", failed.StatusCode/100)
	}
	return "client-error"
}
