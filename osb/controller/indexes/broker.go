package indexes

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// Target finds instances by the brokers that they were sent to, or are being
// sent to. It is the cache's own: the API server has no such field.
const Target = "defaultplan/broker"

// RefusedLeave finds the instances that may not change their plan, by
// their class. It is the cache's own.
const RefusedLeave = "defaultplan/refused-leave"

// A fieldIndex is an index of a cache.
type fieldIndex struct {
	object client.Object
	field  string
	value  client.IndexerFunc
}

// addBroker registers with the cache what brokers are reconciled by. It is
// called once, before the cache starts. But for Target and RefusedLeave they are fields that the
// API server selects by, too.
func addBroker(ctx context.Context, indexer client.FieldIndexer) error {
	indexes := append(offeringIndexes(), referenceIndexes(&v1beta1.ServiceInstance{})...)
	indexes = append(indexes, referenceIndexes(&v1beta1.ServiceBinding{})...)
	indexes = append(indexes, fieldIndex{&v1beta1.ServiceInstance{}, Target, TargetsOf}, fieldIndex{&v1beta1.ServiceInstance{}, RefusedLeave, refusedLeaveOf})
	for _, index := range indexes {
		if err := indexer.IndexField(ctx, index.object, index.field, index.value); err != nil {
			return fmt.Errorf("cannot index %T by %q: %w", index.object, index.field, err)
		}
	}
	return nil
}

// offeringIndexes find classes and plans by their broker, and plans by their class and their ID.
func offeringIndexes() []fieldIndex {
	return []fieldIndex{
		{&v1beta1.ClusterServiceClass{}, v1beta1.FieldClusterServiceBrokerName, named(func(c *v1beta1.ClusterServiceClass) string { return c.Spec.ClusterServiceBrokerName })},
		{&v1beta1.ServiceClass{}, v1beta1.FieldClusterServiceBrokerName, named(func(c *v1beta1.ServiceClass) string { return c.Spec.ClusterServiceBrokerName })},
		{&v1beta1.ServiceClass{}, v1beta1.FieldServiceBrokerName, named(func(c *v1beta1.ServiceClass) string { return c.Spec.ServiceBrokerName })},
		{&v1beta1.ClusterServicePlan{}, v1beta1.FieldClusterServiceBrokerName, named(func(p *v1beta1.ClusterServicePlan) string { return p.Spec.ClusterServiceBrokerName })},
		{&v1beta1.ClusterServicePlan{}, v1beta1.FieldClusterServiceClassRefName, named(func(p *v1beta1.ClusterServicePlan) string { return p.Spec.ClusterServiceClassRef.Name })},
		{&v1beta1.ClusterServicePlan{}, v1beta1.FieldExternalID, named(func(p *v1beta1.ClusterServicePlan) string { return p.Spec.ExternalID })},
		{&v1beta1.ServicePlan{}, v1beta1.FieldExternalID, named(func(p *v1beta1.ServicePlan) string { return p.Spec.ExternalID })},
		{&v1beta1.ServicePlan{}, v1beta1.FieldClusterServiceBrokerName, named(func(p *v1beta1.ServicePlan) string { return p.Spec.ClusterServiceBrokerName })},
		{&v1beta1.ServicePlan{}, v1beta1.FieldServiceBrokerName, named(func(p *v1beta1.ServicePlan) string { return p.Spec.ServiceBrokerName })},
		{&v1beta1.ServicePlan{}, v1beta1.FieldServiceClassRefName, named(func(p *v1beta1.ServicePlan) string { return p.Spec.ServiceClassRef.Name })},
	}
}

func named[T client.Object](name func(T) string) client.IndexerFunc {
	return func(object client.Object) []string {
		of, is := object.(T)
		if !is || name(of) == "" {
			return nil
		}
		return []string{name(of)}
	}
}

// referenceIndexes find instances or bindings by the class and plan decided on.
func referenceIndexes(kind client.Object) []fieldIndex {
	by := func(field string, name func(*v1beta1.DecidedReference) string) fieldIndex {
		return fieldIndex{kind, field, func(object client.Object) []string {
			if value := name(decidedOn(object)); value != "" {
				return []string{value}
			}
			return nil
		}}
	}
	return []fieldIndex{
		by(v1beta1.FieldClusterServiceClassRefName, func(d *v1beta1.DecidedReference) string { return d.ClusterServiceClassRef.GetName() }),
		by(v1beta1.FieldClusterServicePlanRefName, func(d *v1beta1.DecidedReference) string { return d.ClusterServicePlanRef.GetName() }),
		by(v1beta1.FieldServiceClassRefName, func(d *v1beta1.DecidedReference) string { return d.ServiceClassRef.GetName() }),
		by(v1beta1.FieldServicePlanRefName, func(d *v1beta1.DecidedReference) string { return d.ServicePlanRef.GetName() }),
	}
}

func decidedOn(object client.Object) *v1beta1.DecidedReference {
	switch o := object.(type) {
	case *v1beta1.ServiceInstance:
		return &o.Spec.DecidedReference
	case *v1beta1.ServiceBinding:
		return &o.Spec.DecidedReference
	}
	return &v1beta1.DecidedReference{}
}

// refusedLeaveOf is the class of an instance whose plan says, or did, that it cannot be left.
func refusedLeaveOf(object client.Object) []string {
	instance, is := object.(*v1beta1.ServiceInstance)
	if !is {
		return nil
	}
	ready, _ := v1beta1.FindCondition(instance.Status.Conditions, v1beta1.ConditionReady)
	if ready.Reason != lifecycle.ReasonPlanNotUpdatable {
		return nil
	}
	return []string{ClassValue(instance.Spec.ClusterServiceClassRef.GetName(), instance.Spec.ServiceClassRef.GetName())}
}

// ClassValue is a class among those of a namespace and the cluster's.
func ClassValue(cluster, local string) string {
	if cluster != "" {
		return "cluster/" + cluster
	}
	return "namespace/" + local
}

// TargetsOf are the brokers that an instance was sent to, or is being sent to.
func TargetsOf(object client.Object) []string {
	instance, is := object.(*v1beta1.ServiceInstance)
	if !is {
		return nil
	}
	var values []string
	for _, sent := range []*v1beta1.ServiceInstancePropertiesState{instance.Status.ExternalProperties, instance.Status.InProgressProperties} {
		if sent == nil {
			continue
		}
		if value := TargetValue(&sent.BrokerTarget); value != "" {
			values = append(values, value)
		}
	}
	return values
}

// BrokerValue is a broker as TargetsOf names it; its namespace is empty for the cluster's.
func BrokerValue(namespace, name string) string {
	return TargetValue(new(v1beta1.PerScope(namespace, v1beta1.BrokerTarget{ClusterServiceBrokerName: name}, v1beta1.BrokerTarget{ServiceBrokerName: name})))
}

// TargetValue is a broker among those of a namespace and the cluster's.
func TargetValue(target *v1beta1.BrokerTarget) string {
	switch {
	case target.ClusterServiceBrokerName != "":
		return "cluster/" + target.ClusterServiceBrokerName
	case target.ServiceBrokerName != "":
		return "namespace/" + target.ServiceBrokerName
	}
	return ""
}
