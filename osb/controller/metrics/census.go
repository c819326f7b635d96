package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
	"github.com/defaultplan/defaultplan/osb/controller/scope"
)

// scrapeTime bounds the reads of one scrape.
const scrapeTime = 5 * time.Second

var (
	leaderNow = prometheus.NewDesc("defaultplan_controller_leader", "1 while this process is the controller that works, else 0.", nil, nil)
	objectsIn = prometheus.NewDesc("defaultplan_objects",
		"Instances and bindings, by kind and state: deleting, mitigating, undecided, in_progress, ready, failed or waiting.", []string{"kind", "state"}, nil)
	operationsNow = prometheus.NewDesc("defaultplan_operations_in_progress",
		"Operations whose outcome is not known yet, by kind, operation, and age: below 1m, 10m, 1h and 1d, or older.", []string{"kind", "operation", "age"}, nil)
	operationsOldest = prometheus.NewDesc("defaultplan_operations_oldest_start_timestamp_seconds",
		"When the oldest operation whose outcome is not known yet began, by kind and operation, in seconds since 1970.", []string{"kind", "operation"}, nil)
	brokerReady = prometheus.NewDesc("defaultplan_broker_ready",
		"1 for a broker whose catalog was taken over as it is, 0 for one that has another condition Ready than True.", []string{"broker"}, nil)
	catalogComplete = prometheus.NewDesc("defaultplan_catalog_complete",
		"1 for a broker of whose catalog nothing was left out, else 0.", []string{"broker"}, nil)
	catalogClasses = prometheus.NewDesc("defaultplan_catalog_classes", "Classes of a broker that it still lists.", []string{"broker"}, nil)
	catalogPlans   = prometheus.NewDesc("defaultplan_catalog_plans", "Plans of a broker that it still lists.", []string{"broker"}, nil)
	brokerWaiting  = prometheus.NewDesc("defaultplan_broker_waiting_objects",
		"Instances and bindings that wait for their turn to call a broker.", []string{"broker"}, nil)
	oldClasses = prometheus.NewDesc("servicecatalog_broker_service_class_count",
		"Classes of a broker, as the retired catalog counted them.", []string{"broker", "namespace"}, nil)
	oldPlans = prometheus.NewDesc("servicecatalog_broker_service_plan_count",
		"Plans of a broker, as the retired catalog counted them.", []string{"broker", "namespace"}, nil)
)

// A Census exports gauges of the cluster's state, by the cache, at each scrape.
// Only the elected controller does, so that two processes do not export the
// same counts.
type Census struct {
	Reader client.Reader
	// Queues are where calls wait.
	Queues *queue.Queues
	// Scope is what is counted: what this controller handles.
	Scope scope.Scope
	Clock clock.PassiveClock
	// Elected is closed once this process is the leader.
	Elected <-chan struct{}
}

// Describe sends the descriptions of all metrics.
func (*Census) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		leaderNow, objectsIn, operationsNow, operationsOldest, brokerReady, catalogComplete, catalogClasses, catalogPlans, brokerWaiting, oldClasses, oldPlans, credentialsExpiring, credentialsFirstExpiry,
	} {
		descriptions <- d
	}
}

// Collect sends the metrics. What cannot be read is left out, so that the
// scrape of all else succeeds.
func (c *Census) Collect(samples chan<- prometheus.Metric) {
	select {
	case <-c.Elected:
	default:
		samples <- gauge(leaderNow, 0)
		return
	}
	samples <- gauge(leaderNow, 1)
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	c.collectInstances(ctx, samples)
	c.collectBindings(ctx, samples)
	c.collectBrokers(ctx, samples)
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

// list lists objects of the cache that are not copied: they are only read here, and
// there may be many.
func (c *Census) list(ctx context.Context, list client.ObjectList) bool {
	err := c.Reader.List(ctx, list, client.UnsafeDisableDeepCopy)
	return err == nil || scope.Problem(err) != nil
}

func (c *Census) collectInstances(ctx context.Context, samples chan<- prometheus.Metric) {
	var list v1beta1.ServiceInstanceList
	if !c.list(ctx, &list) {
		return
	}
	count := newCount("instance", c.Clock.Now(), "provision", "update", "deprovision")
	for i := range list.Items {
		o := &list.Items[i]
		if !c.Scope.Counts(o) {
			continue
		}
		status := &o.Status
		count.add(&condition{
			object: o, decided: o.Spec.Decided(), mitigating: status.OrphanMitigationInProgress,
			operation: map[v1beta1.InstanceOperation]string{
				v1beta1.InstanceProvision: "provision", v1beta1.InstanceUpdate: "update", v1beta1.InstanceDeprovision: "deprovision",
			}[status.CurrentOperation],
			started: status.OperationStartTime, conditions: status.Conditions,
		})
	}
	count.tell(samples)
}

func (c *Census) collectBindings(ctx context.Context, samples chan<- prometheus.Metric) {
	var list v1beta1.ServiceBindingList
	if !c.list(ctx, &list) {
		return
	}
	now := c.Clock.Now()
	count, ends := newCount("binding", now, "bind", "unbind"), newCalendar(now)
	for i := range list.Items {
		o := &list.Items[i]
		if !c.Scope.Counts(o) {
			continue
		}
		status := &o.Status
		ends.note(o)
		count.add(&condition{
			object: o, decided: o.Spec.Decided(), mitigating: status.OrphanMitigationInProgress,
			operation:  map[v1beta1.BindingOperation]string{v1beta1.BindingBind: "bind", v1beta1.BindingUnbind: "unbind"}[status.CurrentOperation],
			started:    status.OperationStartTime,
			conditions: status.Conditions,
		})
	}
	count.tell(samples)
	ends.tell(samples)
}
