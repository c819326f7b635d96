package binding

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	// readsKept bounds the memory for instances, and keptFor the time that the validating phase of
	// a request may come after the mutating phase: later, the instance is read again.
	readsKept = 256
	keptFor   = time.Second
)

// instanceReads keep the instance that the mutating phase of a create read live, for the validating
// phase of the same request: of the two, one reads. Requests are told apart by the external ID
// that the mutating phase generates. The kept instance may be older by the time between the phases;
// a change in that time could as well come after the second read, before the binding is stored.
type instanceReads struct{ known *cache.LRUExpireCache }

func newInstanceReads(now clock.PassiveClock) instanceReads {
	return instanceReads{cache.NewLRUExpireCacheWithClock(readsKept, now)}
}

// keep keeps an instance that was read for the request with an external ID, without what decides
// nothing for a binding and has no bound.
func (r instanceReads) keep(externalID string, read *v1beta1.ServiceInstance) {
	kept := *read
	kept.Annotations, kept.ManagedFields = nil, nil
	kept.Spec.Parameters, kept.Spec.ParametersFrom = nil, nil
	kept.Status.Conditions, kept.Status.DefaultProvisionParameters = nil, nil
	kept.Status.ExternalProperties = withoutParameters(kept.Status.ExternalProperties)
	kept.Status.InProgressProperties = withoutParameters(kept.Status.InProgressProperties)
	r.known.Add(externalID, &kept, keptFor)
}

// take returns the instance that was kept for the request with an external ID, once; nil: none was, or
// the request names another instance now.
func (r instanceReads) take(externalID string, at types.NamespacedName) *v1beta1.ServiceInstance {
	kept, ok := r.known.Get(externalID)
	if !ok {
		return nil
	}
	r.known.Remove(externalID)
	instance, _ := kept.(*v1beta1.ServiceInstance)
	if instance.Namespace != at.Namespace || instance.Name != at.Name {
		return nil
	}
	return instance
}

func withoutParameters(sent *v1beta1.ServiceInstancePropertiesState) *v1beta1.ServiceInstancePropertiesState {
	if sent == nil {
		return nil
	}
	kept := *sent
	kept.Parameters = nil
	return &kept
}
