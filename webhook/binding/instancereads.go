package binding

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	// mostLabels is of how many labels, which policies may select by, an instance is kept.
	mostLabels = 64
)

// instanceReads keep the instance that the mutating phase of a create read live, for the validating
// phase of the same request: of the two, one reads. Requests are told apart by the external ID
// that the mutating phase generates. The kept instance may be older by the time between the phases;
// a change in that time could as well come after the second read, before the binding is stored.
type instanceReads struct{ known *cache.LRUExpireCache }

func newInstanceReads(now clock.PassiveClock) instanceReads {
	return instanceReads{cache.NewLRUExpireCacheWithClock(readsKept, now)}
}

// keep keeps an instance that was read for the request with an external ID. What is kept is built from
// what a binding is decided by, and bounded: what is more, is read again. An instance that is dedicated
// was refused before. An entry that is never taken stays until there are readsKept newer ones.
func (r instanceReads) keep(externalID string, read *v1beta1.ServiceInstance) {
	if len(read.Labels) > mostLabels {
		return
	}
	kept := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{
		Namespace: read.Namespace, Name: read.Name, Labels: read.Labels, DeletionTimestamp: read.DeletionTimestamp,
	}}
	kept.Spec.ServiceType, kept.Spec.DecidedReference = read.Spec.ServiceType, read.Spec.DecidedReference
	kept.Status = v1beta1.ServiceInstanceStatus{
		CurrentOperation:     read.Status.CurrentOperation,
		ExternalProperties:   targetOf(read.Status.ExternalProperties),
		InProgressProperties: targetOf(read.Status.InProgressProperties),
	}
	r.known.Add(externalID, kept, keptFor)
}

// targetOf is at which broker, and as which plan, an instance was sent.
func targetOf(sent *v1beta1.ServiceInstancePropertiesState) *v1beta1.ServiceInstancePropertiesState {
	if sent == nil {
		return nil
	}
	kept := &v1beta1.ServiceInstancePropertiesState{BrokerTarget: sent.BrokerTarget}
	kept.ClusterServicePlanExternalID, kept.ServicePlanExternalID = sent.ClusterServicePlanExternalID, sent.ServicePlanExternalID
	return kept
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
