package keeper

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// scrapeTime bounds a look at the cache for one scrape.
const scrapeTime = 5 * time.Second

// maxNamedTypes is how many types are named in labels. Those of the cluster are
// its operators' and brokers' words, which nobody bounds; beyond that, they are
// only counted.
const maxNamedTypes = 500

var (
	undecidedObjects = prometheus.NewDesc("defaultplan_undecided_objects",
		"Instances and bindings that admission has not decided on, by kind.", []string{"kind"}, nil)
	undecidedOldest = prometheus.NewDesc("defaultplan_undecided_oldest_created_timestamp_seconds",
		"When the oldest instance or binding that waits for a decision was created, by kind, in seconds since 1970.", []string{"kind"}, nil)
	serviceTypes = prometheus.NewDesc("defaultplan_service_types",
		"Service types by scope (cluster, namespace) and by what an instance that names only the type finds: resolvable, ambiguous, no_default or no_plans.",
		[]string{"scope", "state"}, nil)
	defaultConflicts = prometheus.NewDesc("defaultplan_default_conflicts",
		"Service types for which several plans claim to be the default, by scope and reason: Several, AwaitsChoice or AnnotatedBesideRecord.",
		[]string{"scope", "reason"}, nil)
	defaultPlans = prometheus.NewDesc("defaultplan_default_plan_info",
		"1 for each service type of the cluster that has a default plan, with its name; at most 500 types.", []string{"type", "plan"}, nil)
)

// A census tells, at each scrape, how things stand in the cluster. Only the keeper
// does, so that two processes do not count the same things twice.
type census struct {
	keeper atomic.Pointer[Keeper]
}

// newCensus registers the metrics, or finds those of another keeper in the same
// process.
func newCensus(registerer prometheus.Registerer) (*census, error) {
	return register(registerer, &census{})
}

// takes has a keeper tell, from now on; nil: nobody does.
func (c *census) takes(k *Keeper) { c.keeper.Store(k) }

// Describe sends what there may be.
func (*census) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{undecidedObjects, undecidedOldest, serviceTypes, defaultConflicts, defaultPlans} {
		descriptions <- d
	}
}

// Collect sends what there is. What cannot be read is left out: the scrape of all
// else must not fail for it.
func (c *census) Collect(samples chan<- prometheus.Metric) {
	k := c.keeper.Load()
	if k == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	reader := scope{reader: k.options.Client}
	if err := collectUndecided(ctx, reader, samples); err != nil {
		k.options.Log.V(1).Info("waiting objects not counted", "cause", err.Error())
	}
	if !k.options.ServiceTypes {
		return
	}
	if err := collectTypes(ctx, reader, samples); err != nil {
		k.options.Log.V(1).Info("service types not counted", "cause", err.Error())
	}
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

// collectUndecided counts who waits.
func collectUndecided(ctx context.Context, s scope, samples chan<- prometheus.Metric) error {
	var waitingInstances v1beta1.ServiceInstanceList
	if err := s.listAll(ctx, &waitingInstances); err != nil {
		return err
	}
	var waitingBindings v1beta1.ServiceBindingList
	if err := s.listAll(ctx, &waitingBindings); err != nil {
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

// A waitCount counts those who wait.
type waitCount struct {
	count  int
	oldest time.Time
}

// add counts whoever is not decided, also where the keeper knows of nothing to wake him by.
func (c *waitCount) add(object client.Object) {
	if object.GetDeletionTimestamp() != nil || decisionOn(object).Decided() {
		return
	}
	c.count++
	if created := object.GetCreationTimestamp().Time; c.oldest.IsZero() || created.Before(c.oldest) {
		c.oldest = created
	}
}

func (c *waitCount) tell(kind string, samples chan<- prometheus.Metric) {
	samples <- gauge(undecidedObjects, float64(c.count), kind)
	if !c.oldest.IsZero() {
		samples <- gauge(undecidedOldest, float64(c.oldest.Unix()), kind)
	}
}
