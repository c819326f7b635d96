package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// collectBrokers tells of every broker that is ours, and of what it lists.
func (c *Census) collectBrokers(ctx context.Context, samples chan<- prometheus.Metric) {
	var cluster v1beta1.ClusterServiceBrokerList
	var local v1beta1.ServiceBrokerList
	if !c.list(ctx, &cluster) || !c.list(ctx, &local) {
		return
	}
	var all []v1beta1.BrokerObject
	for i := range cluster.Items {
		all = append(all, &cluster.Items[i])
	}
	for i := range local.Items {
		all = append(all, &local.Items[i])
	}
	classes, plans := c.offered(ctx)
	for _, b := range all {
		if b.GetSpec().ControllerName != c.Scope.Name {
			continue
		}
		key := client.ObjectKeyFromObject(b)
		complete, _ := v1beta1.FindCondition(b.GetStatus().Conditions, v1beta1.ConditionCatalogComplete)
		samples <- gauge(brokerReady, oneIf(v1beta1.CatalogTaken(b)), Label(key))
		samples <- gauge(catalogComplete, oneIf(complete.Status == v1beta1.ConditionTrue), Label(key))
		samples <- gauge(catalogClasses, float64(classes[key]), Label(key))
		samples <- gauge(catalogPlans, float64(plans[key]), Label(key))
		samples <- gauge(brokerWaiting, float64(c.Queues.Waiting(key)), Label(key))
		samples <- gauge(oldClasses, float64(classes[key]), key.Name, key.Namespace)
		samples <- gauge(oldPlans, float64(plans[key]), key.Name, key.Namespace)
	}
}

// offered counts the classes and plans of each broker. A kind that cannot be read counts
// nothing.
func (c *Census) offered(ctx context.Context) (classes, plans map[types.NamespacedName]int) {
	classes, plans = map[types.NamespacedName]int{}, map[types.NamespacedName]int{}
	var clusterClasses v1beta1.ClusterServiceClassList
	var localClasses v1beta1.ServiceClassList
	var clusterPlans v1beta1.ClusterServicePlanList
	var localPlans v1beta1.ServicePlanList
	for _, list := range []client.ObjectList{&clusterClasses, &localClasses, &clusterPlans, &localPlans} {
		c.list(ctx, list)
	}
	for i := range clusterClasses.Items {
		o := &clusterClasses.Items[i]
		countListed(classes, types.NamespacedName{Name: o.Spec.ClusterServiceBrokerName}, o.Status.RemovedFromBrokerCatalog)
	}
	for i := range localClasses.Items {
		o := &localClasses.Items[i]
		countListed(classes, types.NamespacedName{Namespace: o.Namespace, Name: o.Spec.ServiceBrokerName}, o.Status.RemovedFromBrokerCatalog)
	}
	for i := range clusterPlans.Items {
		o := &clusterPlans.Items[i]
		countListed(plans, types.NamespacedName{Name: o.Spec.ClusterServiceBrokerName}, o.Status.RemovedFromBrokerCatalog)
	}
	for i := range localPlans.Items {
		o := &localPlans.Items[i]
		countListed(plans, types.NamespacedName{Namespace: o.Namespace, Name: o.Spec.ServiceBrokerName}, o.Status.RemovedFromBrokerCatalog)
	}
	return classes, plans
}

func countListed(into map[types.NamespacedName]int, of types.NamespacedName, removed bool) {
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
