package keeper

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/defaultplan/defaultplan/webhook/catalog"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
	"github.com/defaultplan/defaultplan/webhook/keeper/defaults"
)

// scrapeTime bounds the reads of one scrape.
const scrapeTime = 5 * time.Second

var (
	undecidedObjects = prometheus.NewDesc("defaultplan_undecided_objects",
		"Instances and bindings that admission has not decided on, by kind.", []string{"kind"}, nil)
	undecidedOldest = prometheus.NewDesc("defaultplan_undecided_oldest_created_timestamp_seconds",
		"When the oldest instance or binding that waits for a decision was created, by kind, in seconds since 1970.", []string{"kind"}, nil)
)

// A census exports gauges of the cluster's state at each scrape. Only the
// keeper does, so that two processes do not export the same counts.
type census struct {
	keeper atomic.Pointer[Keeper]
}

// newCensus registers the metrics, or finds those of another keeper in the same
// process.
func newCensus(registerer prometheus.Registerer) (*census, error) {
	return controller.Register(registerer, &census{})
}

// takes sets the keeper whose view is exported; nil exports nothing.
func (c *census) takes(k *Keeper) { c.keeper.Store(k) }

// Describe sends the descriptions of all metrics.
func (*census) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- undecidedObjects
	descriptions <- undecidedOldest
	defaults.DescribeTypes(descriptions)
}

// Collect sends the metrics. What cannot be read is left out, so that the
// scrape of all else succeeds.
func (c *census) Collect(samples chan<- prometheus.Metric) {
	k := c.keeper.Load()
	if k == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	reader := catalog.Scope{Reader: k.options.Client}
	if err := collectUndecided(ctx, reader, samples); err != nil {
		k.options.Log.V(1).Info("waiting objects not counted", "cause", err.Error())
	}
	if !k.options.ServiceTypes {
		return
	}
	if err := defaults.CollectTypes(ctx, reader, samples); err != nil {
		k.options.Log.V(1).Info("service types not counted", "cause", err.Error())
	}
}

// collectUndecided counts undecided objects.
func collectUndecided(ctx context.Context, s catalog.Scope, samples chan<- prometheus.Metric) error {
	var waitingInstances v1beta1.ServiceInstanceList
	if err := s.List(ctx, &waitingInstances, nil); err != nil {
		return err
	}
	var waitingBindings v1beta1.ServiceBindingList
	if err := s.List(ctx, &waitingBindings, nil); err != nil {
		return err
	}
	instance, binding := waitCount{}, waitCount{}
	for i := range waitingInstances.Items {
		instance.add(&waitingInstances.Items[i])
	}
	for i := range waitingBindings.Items {
		binding.add(&waitingBindings.Items[i])
	}
	instance.tell("instance", samples)
	binding.tell("binding", samples)
	return nil
}

// A waitCount counts undecided objects.
type waitCount struct {
	count  int
	oldest time.Time
}

// add counts each undecided object, even if no known change would touch it.
func (c *waitCount) add(object client.Object) {
	if object.GetDeletionTimestamp() != nil || controller.DecisionOn(object).Decided() {
		return
	}
	c.count++
	if created := object.GetCreationTimestamp().Time; c.oldest.IsZero() || created.Before(c.oldest) {
		c.oldest = created
	}
}

func (c *waitCount) tell(kind string, samples chan<- prometheus.Metric) {
	samples <- controller.Gauge(undecidedObjects, float64(c.count), kind)
	if !c.oldest.IsZero() {
		samples <- controller.Gauge(undecidedOldest, float64(c.oldest.Unix()), kind)
	}
}
