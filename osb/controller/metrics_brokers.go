package controller

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// collectBrokers exports every broker that this controller handles, and the
// size of its catalog.
func (c *census) collectBrokers(ctx context.Context, samples chan<- prometheus.Metric) {
	var cluster v1beta1.ClusterServiceBrokerList
	var local v1beta1.ServiceBrokerList
	if !c.list(ctx, &cluster) || !c.list(ctx, &local) {
		return
	}
	var all []broker
	for i := range cluster.Items {
		all = append(all, brokerOf(&cluster.Items[i]))
	}
	for i := range local.Items {
		all = append(all, brokerOf(&local.Items[i]))
	}
	classes, plans := c.offered(ctx)
	for _, b := range all {
		if b.spec.ControllerName != c.scope.Name {
			continue
		}
		key := keyOfBroker(b.object)
		complete, _ := v1beta1.FindCondition(b.status.Conditions, v1beta1.ConditionCatalogComplete)
		samples <- gauge(brokerReady, oneIf(b.ready()), key.label())
		samples <- gauge(catalogComplete, oneIf(complete.Status == v1beta1.ConditionTrue), key.label())
		samples <- gauge(catalogClasses, float64(classes[key]), key.label())
		samples <- gauge(catalogPlans, float64(plans[key]), key.label())
		samples <- gauge(brokerWaiting, float64(c.queues.Waiting(key.at())), key.label())
		samples <- gauge(oldClasses, float64(classes[key]), key.name, key.namespace)
		samples <- gauge(oldPlans, float64(plans[key]), key.name, key.namespace)
	}
}

// offered counts the classes and plans of each broker. A kind that cannot be read counts
// nothing.
func (c *census) offered(ctx context.Context) (classes, plans map[brokerKey]int) {
	classes, plans = map[brokerKey]int{}, map[brokerKey]int{}
	var clusterClasses v1beta1.ClusterServiceClassList
	var localClasses v1beta1.ServiceClassList
	var clusterPlans v1beta1.ClusterServicePlanList
	var localPlans v1beta1.ServicePlanList
	for _, list := range []client.ObjectList{&clusterClasses, &localClasses, &clusterPlans, &localPlans} {
		c.list(ctx, list)
	}
	for i := range clusterClasses.Items {
		o := &clusterClasses.Items[i]
		countListed(classes, brokerKey{name: o.Spec.ClusterServiceBrokerName}, o.Status.RemovedFromBrokerCatalog)
	}
	for i := range localClasses.Items {
		o := &localClasses.Items[i]
		countListed(classes, brokerKey{namespace: o.Namespace, name: o.Spec.ServiceBrokerName}, o.Status.RemovedFromBrokerCatalog)
	}
	for i := range clusterPlans.Items {
		o := &clusterPlans.Items[i]
		countListed(plans, brokerKey{name: o.Spec.ClusterServiceBrokerName}, o.Status.RemovedFromBrokerCatalog)
	}
	for i := range localPlans.Items {
		o := &localPlans.Items[i]
		countListed(plans, brokerKey{namespace: o.Namespace, name: o.Spec.ServiceBrokerName}, o.Status.RemovedFromBrokerCatalog)
	}
	return classes, plans
}

func countListed(into map[brokerKey]int, of brokerKey, removed bool) {
	if !removed {
		into[of]++
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
