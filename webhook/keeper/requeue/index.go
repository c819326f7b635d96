package requeue

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/keeper/controller"
)

// The keeper's indexes are the cache's own: the API server has no such fields.
const (
	// indexWaitsFor finds undecided instances and bindings by what they wait for.
	indexWaitsFor = "defaultplan/waits-for"
	// indexDecidedOn finds instances by the plan that was decided on.
	indexDecidedOn = "defaultplan/decided-on"
)

// A key identifies what objects wait for. The cache adds the namespace.
type key string

const (
	// anyPlan is what a selector without class and type waits for.
	anyPlan key = "plan"
	// everyInstance and everyBinding are what all waiting instances and
	// bindings wait for: policies, and the labels of namespaces.
	everyInstance key = "instances"
	everyBinding  key = "bindings"
)

func typeKey(serviceType string) key { return key("type/" + serviceType) }

// classKey is a class by one of its names. The value comes last and unescaped,
// so no value can make one key equal another.
func classKey(namespaced bool, by resolve.NameKind, value string) key {
	return key(fmt.Sprintf("class/%t/%d/%s", namespaced, by, value))
}

// instancePrefix begins the keys that bindings wait for.
const instancePrefix = "instance/"

func instanceKey(at client.ObjectKey) key { return key(instancePrefix + at.String()) }

// waiters are the kinds that wait for the key: instances, and bindings with a
// dedicated instance, wait for the catalog.
func (k key) waiters() []kind {
	switch {
	case k == everyInstance:
		return []kind{instances}
	case k == everyBinding, strings.HasPrefix(string(k), instancePrefix):
		return []kind{bindings}
	}
	return []kind{instances, bindings}
}

// AddIndexes registers with the cache the indexes that the keeper finds waiting
// instances and bindings by. It is called before the cache starts; it fails if
// one of them is there already.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		object client.Object
		field  string
		value  client.IndexerFunc
	}{
		{&v1beta1.ServiceInstance{}, indexWaitsFor, valuesOf},
		{&v1beta1.ServiceBinding{}, indexWaitsFor, valuesOf},
		{&v1beta1.ServiceInstance{}, indexDecidedOn, func(object client.Object) []string {
			if plan, ok := controller.PlanOf(object); ok && object.GetDeletionTimestamp() == nil {
				return []string{planValue(plan)}
			}
			return nil
		}},
	} {
		if err := indexer.IndexField(ctx, index.object, index.field, index.value); err != nil {
			return fmt.Errorf("cannot index %T by %q: %w", index.object, index.field, err)
		}
	}
	return nil
}

func valuesOf(object client.Object) []string {
	var values []string
	for _, k := range waitsFor(object) {
		values = append(values, string(k))
	}
	return values
}

// planValue is a plan of either scope: no namespace holds a slash.
func planValue(plan resolve.Ref) string { return plan.Namespace + "/" + plan.Name }

func namedClasses(ref *v1beta1.PlanReference) []key {
	var keys []key
	for _, class := range []struct {
		namespaced bool
		by         resolve.NameKind
		value      string
	}{
		{false, resolve.ByName, ref.ClusterServiceClassName},
		{false, resolve.ByExternalName, ref.ClusterServiceClassExternalName},
		{false, resolve.ByExternalID, ref.ClusterServiceClassExternalID},
		{true, resolve.ByName, ref.ServiceClassName},
		{true, resolve.ByExternalName, ref.ServiceClassExternalName},
		{true, resolve.ByExternalID, ref.ServiceClassExternalID},
	} {
		if class.value != "" {
			keys = append(keys, classKey(class.namespaced, class.by, class.value))
		}
	}
	return keys
}

func namesPlan(ref *v1beta1.PlanReference) bool {
	for _, name := range []string{
		ref.ClusterServicePlanName, ref.ClusterServicePlanExternalName, ref.ClusterServicePlanExternalID,
		ref.ServicePlanName, ref.ServicePlanExternalName, ref.ServicePlanExternalID,
	} {
		if name != "" {
			return true
		}
	}
	return false
}
