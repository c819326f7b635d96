package keeper

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// indexWaitsFor finds undecided instances by what they wait for. It is the
// cache's own: the API server has no such field.
const indexWaitsFor = "defaultplan/waits-for"

// A key is something that instances wait for. The cache adds the namespace.
type key string

// anyPlan is what a selector waits for that neither class nor type narrows.
const anyPlan key = "plan"

func typeKey(serviceType string) key { return key("type/" + serviceType) }

// classKey is a class by one of its names. The value comes last and whole, so no
// value can make one key look like another.
func classKey(namespaced bool, by resolve.NameKind, value string) key {
	return key(fmt.Sprintf("class/%t/%d/%s", namespaced, by, value))
}

// AddIndexes registers with the cache the index that the keeper finds waiting
// instances by. It is called before the cache starts; it fails if the index is
// there already.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &v1beta1.ServiceInstance{}, indexWaitsFor, func(object client.Object) []string {
		instance, ok := object.(*v1beta1.ServiceInstance)
		if !ok {
			return nil
		}
		var values []string
		for _, k := range waitsFor(instance) {
			values = append(values, string(k))
		}
		return values
	})
	if err != nil {
		return fmt.Errorf("cannot index instances by %q: %w", indexWaitsFor, err)
	}
	return nil
}

// waitsFor is what an instance waits for: nothing if it is decided, can never be
// decided, or is being deleted.
//
// A named class comes first, because only its plans are considered: type and
// selector narrow them, and every change that can matter is one of the class or
// of a plan of it. So with the type before the selector.
func waitsFor(instance *v1beta1.ServiceInstance) []key {
	spec := &instance.Spec
	if instance.DeletionTimestamp != nil || spec.Decided() {
		return nil
	}
	classes := namedClasses(&spec.PlanReference)
	switch {
	case len(classes) > 0:
		return classes
	case namesPlan(&spec.PlanReference):
		// A plan is looked up in its class: without one, nothing that happens to
		// the catalog helps.
		return nil
	case spec.ServiceType != "":
		return []key{typeKey(spec.ServiceType)}
	case spec.PlanSelector != nil:
		return []key{anyPlan}
	}
	return nil
}

func waits(instance *v1beta1.ServiceInstance) bool { return len(waitsFor(instance)) > 0 }

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
