package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// The kinds that exist in both scopes, cluster and namespace, have an interface each, so that
// code which treats both alike is written once. An object without a namespace is the
// cluster's.

// A BrokerObject is a ClusterServiceBroker or a ServiceBroker.
// +kubebuilder:object:generate=false
type BrokerObject interface {
	metav1.Object
	runtime.Object

	// GetSpec returns what the specs of both scopes share; a change to it changes the object.
	GetSpec() *CommonServiceBrokerSpec
	// GetStatus returns what the statuses of both scopes share; a change to it changes the
	// object.
	GetStatus() *CommonServiceBrokerStatus
	// GetAuthSecrets names the Secret with a user and password, or else the one with a token.
	// Both are zero if the broker needs no credentials.
	GetAuthSecrets() (basic, bearer types.NamespacedName)
}

// An OfferingObject is a class or a plan of either scope.
// +kubebuilder:object:generate=false
type OfferingObject interface {
	metav1.Object
	runtime.Object

	// GetBroker returns the broker that the object names. A copy in a namespace names a
	// ClusterServiceBroker.
	GetBroker() BrokerTarget
	// GetConditions returns the conditions in status; a change to them changes the object.
	GetConditions() *[]Condition
	// IsRemoved says that the broker's catalog does not list the object any more.
	IsRemoved() bool
}

// A ClassObject is a ClusterServiceClass or a ServiceClass.
// +kubebuilder:object:generate=false
type ClassObject interface {
	OfferingObject

	// GetSpec returns what the specs of both scopes share; a change to it changes the object.
	GetSpec() *CommonServiceClassSpec
	// GetStatus returns what the statuses of both scopes share; a change to it changes the
	// object.
	GetStatus() *CommonServiceClassStatus
}

// A PlanObject is a ClusterServicePlan or a ServicePlan.
// +kubebuilder:object:generate=false
type PlanObject interface {
	OfferingObject

	// GetSpec returns what the specs of both scopes share; a change to it changes the object.
	GetSpec() *CommonServicePlanSpec
	// GetStatus returns what the statuses of both scopes share; a change to it changes the
	// object.
	GetStatus() *CommonServicePlanStatus
	// GetClassName returns the name of the plan's class, which is in the same scope.
	GetClassName() string
}

// A TypeObject is a ClusterServiceType or a ServiceType.
// +kubebuilder:object:generate=false
type TypeObject interface {
	metav1.Object
	runtime.Object

	// GetSpec returns the spec; a change to it changes the object.
	GetSpec() *ServiceTypeSpec
	// GetStatus returns the status; a change to it changes the object.
	GetStatus() *ServiceTypeStatus
}

// NewClass returns an empty class of a namespace, or of the cluster if namespace is empty.
func NewClass(namespace string) ClassObject {
	if namespace == "" {
		return &ClusterServiceClass{}
	}
	return &ServiceClass{}
}

// NewPlan returns an empty plan of a namespace, or of the cluster if namespace is empty.
func NewPlan(namespace string) PlanObject {
	if namespace == "" {
		return &ClusterServicePlan{}
	}
	return &ServicePlan{}
}

// A ListOf is a list of the objects of a kind in one scope.
// +kubebuilder:object:generate=false
type ListOf[O any] interface {
	metav1.ListInterface
	runtime.Object

	// Objects are those of the list, not copies.
	Objects() []O
}

// NewClassList returns an empty list of classes of namespaces, or of the cluster if namespace is empty.
func NewClassList(namespace string) ListOf[ClassObject] {
	if namespace == "" {
		return &ClusterServiceClassList{}
	}
	return &ServiceClassList{}
}

// NewPlanList returns an empty list of plans of namespaces, or of the cluster if namespace is empty.
func NewPlanList(namespace string) ListOf[PlanObject] {
	if namespace == "" {
		return &ClusterServicePlanList{}
	}
	return &ServicePlanList{}
}

// NewTypeList returns an empty list of service types of namespaces, or of the cluster if namespace is
// empty.
func NewTypeList(namespace string) ListOf[TypeObject] {
	if namespace == "" {
		return &ClusterServiceTypeList{}
	}
	return &ServiceTypeList{}
}

// pointersTo are the elements of a slice, each as object makes it.
func pointersTo[T, O any](items []T, object func(*T) O) []O {
	all := make([]O, len(items))
	for i := range items {
		all[i] = object(&items[i])
	}
	return all
}

// CatalogTaken says whether the catalog of a broker was taken over, as its spec is now.
func CatalogTaken(b BrokerObject) bool {
	ready, _ := FindCondition(b.GetStatus().Conditions, ConditionReady)
	return ready.Status == ConditionTrue && b.GetStatus().ReconciledGeneration == b.GetGeneration()
}

// GetName returns the name that is referred to; empty without a reference.
func (r *ClusterObjectReference) GetName() string {
	if r == nil {
		return ""
	}
	return r.Name
}

// GetName returns the name that is referred to; empty without a reference.
func (r *LocalObjectReference) GetName() string {
	if r == nil {
		return ""
	}
	return r.Name
}

// NewBroker returns an empty broker of a namespace, or of the cluster if namespace is empty.
func NewBroker(namespace string) BrokerObject {
	if namespace == "" {
		return &ClusterServiceBroker{}
	}
	return &ServiceBroker{}
}

// NewType returns an empty service type of a namespace, or of the cluster if namespace is
// empty.
func NewType(namespace string) TypeObject {
	if namespace == "" {
		return &ClusterServiceType{}
	}
	return &ServiceType{}
}

// PerScope returns what holds in the scope of a namespace: namespaced, or cluster if namespace is
// empty.
func PerScope[T any](namespace string, cluster, namespaced T) T {
	if namespace == "" {
		return cluster
	}
	return namespaced
}

// ScopedKind returns a kind in the scope of a namespace: kind itself, or "Cluster" + kind if
// namespace is empty.
func ScopedKind(namespace, kind string) string { return PerScope(namespace, "Cluster"+kind, kind) }

var (
	_ BrokerObject = &ClusterServiceBroker{}
	_ BrokerObject = &ServiceBroker{}
	_ ClassObject  = &ClusterServiceClass{}
	_ ClassObject  = &ServiceClass{}
	_ PlanObject   = &ClusterServicePlan{}
	_ PlanObject   = &ServicePlan{}
	_ TypeObject   = &ClusterServiceType{}
	_ TypeObject   = &ServiceType{}
)

// GetSpec is of BrokerObject.
func (b *ClusterServiceBroker) GetSpec() *CommonServiceBrokerSpec {
	return &b.Spec.CommonServiceBrokerSpec
}

// GetStatus is of BrokerObject.
func (b *ClusterServiceBroker) GetStatus() *CommonServiceBrokerStatus {
	return &b.Status.CommonServiceBrokerStatus
}

// GetAuthSecrets is of BrokerObject.
func (b *ClusterServiceBroker) GetAuthSecrets() (basic, bearer types.NamespacedName) {
	switch auth := b.Spec.AuthInfo; {
	case auth == nil:
	case auth.Basic != nil && auth.Basic.SecretRef != nil:
		basic = types.NamespacedName{Namespace: auth.Basic.SecretRef.Namespace, Name: auth.Basic.SecretRef.Name}
	case auth.Bearer != nil && auth.Bearer.SecretRef != nil:
		bearer = types.NamespacedName{Namespace: auth.Bearer.SecretRef.Namespace, Name: auth.Bearer.SecretRef.Name}
	}
	return basic, bearer
}

// GetSpec is of BrokerObject.
func (b *ServiceBroker) GetSpec() *CommonServiceBrokerSpec { return &b.Spec.CommonServiceBrokerSpec }

// GetStatus is of BrokerObject.
func (b *ServiceBroker) GetStatus() *CommonServiceBrokerStatus {
	return &b.Status.CommonServiceBrokerStatus
}

// GetAuthSecrets is of BrokerObject.
func (b *ServiceBroker) GetAuthSecrets() (basic, bearer types.NamespacedName) {
	switch auth := b.Spec.AuthInfo; {
	case auth == nil:
	case auth.Basic != nil && auth.Basic.SecretRef != nil:
		basic = types.NamespacedName{Namespace: b.Namespace, Name: auth.Basic.SecretRef.Name}
	case auth.Bearer != nil && auth.Bearer.SecretRef != nil:
		bearer = types.NamespacedName{Namespace: b.Namespace, Name: auth.Bearer.SecretRef.Name}
	}
	return basic, bearer
}

// GetSpec is of ClassObject.
func (c *ClusterServiceClass) GetSpec() *CommonServiceClassSpec {
	return &c.Spec.CommonServiceClassSpec
}

// GetStatus is of ClassObject.
func (c *ClusterServiceClass) GetStatus() *CommonServiceClassStatus {
	return &c.Status.CommonServiceClassStatus
}

// GetBroker is of OfferingObject.
func (c *ClusterServiceClass) GetBroker() BrokerTarget {
	return BrokerTarget{ClusterServiceBrokerName: c.Spec.ClusterServiceBrokerName}
}

// GetConditions is of OfferingObject.
func (c *ClusterServiceClass) GetConditions() *[]Condition { return &c.Status.Conditions }

// IsRemoved is of OfferingObject.
func (c *ClusterServiceClass) IsRemoved() bool { return c.Status.RemovedFromBrokerCatalog }

// GetSpec is of ClassObject.
func (c *ServiceClass) GetSpec() *CommonServiceClassSpec { return &c.Spec.CommonServiceClassSpec }

// GetStatus is of ClassObject.
func (c *ServiceClass) GetStatus() *CommonServiceClassStatus {
	return &c.Status.CommonServiceClassStatus
}

// GetBroker is of OfferingObject.
func (c *ServiceClass) GetBroker() BrokerTarget {
	return BrokerTarget{ClusterServiceBrokerName: c.Spec.ClusterServiceBrokerName, ServiceBrokerName: c.Spec.ServiceBrokerName}
}

// GetConditions is of OfferingObject.
func (c *ServiceClass) GetConditions() *[]Condition { return &c.Status.Conditions }

// IsRemoved is of OfferingObject.
func (c *ServiceClass) IsRemoved() bool { return c.Status.RemovedFromBrokerCatalog }

// GetSpec is of PlanObject.
func (p *ClusterServicePlan) GetSpec() *CommonServicePlanSpec { return &p.Spec.CommonServicePlanSpec }

// GetStatus is of PlanObject.
func (p *ClusterServicePlan) GetStatus() *CommonServicePlanStatus {
	return &p.Status.CommonServicePlanStatus
}

// GetClassName is of PlanObject.
func (p *ClusterServicePlan) GetClassName() string { return p.Spec.ClusterServiceClassRef.Name }

// GetBroker is of OfferingObject.
func (p *ClusterServicePlan) GetBroker() BrokerTarget {
	return BrokerTarget{ClusterServiceBrokerName: p.Spec.ClusterServiceBrokerName}
}

// GetConditions is of OfferingObject.
func (p *ClusterServicePlan) GetConditions() *[]Condition { return &p.Status.Conditions }

// IsRemoved is of OfferingObject.
func (p *ClusterServicePlan) IsRemoved() bool { return p.Status.RemovedFromBrokerCatalog }

// GetSpec is of PlanObject.
func (p *ServicePlan) GetSpec() *CommonServicePlanSpec { return &p.Spec.CommonServicePlanSpec }

// GetStatus is of PlanObject.
func (p *ServicePlan) GetStatus() *CommonServicePlanStatus { return &p.Status.CommonServicePlanStatus }

// GetClassName is of PlanObject.
func (p *ServicePlan) GetClassName() string { return p.Spec.ServiceClassRef.Name }

// GetBroker is of OfferingObject.
func (p *ServicePlan) GetBroker() BrokerTarget {
	return BrokerTarget{ClusterServiceBrokerName: p.Spec.ClusterServiceBrokerName, ServiceBrokerName: p.Spec.ServiceBrokerName}
}

// GetConditions is of OfferingObject.
func (p *ServicePlan) GetConditions() *[]Condition { return &p.Status.Conditions }

// IsRemoved is of OfferingObject.
func (p *ServicePlan) IsRemoved() bool { return p.Status.RemovedFromBrokerCatalog }

// GetSpec is of TypeObject.
func (t *ClusterServiceType) GetSpec() *ServiceTypeSpec { return &t.Spec }

// GetStatus is of TypeObject.
func (t *ClusterServiceType) GetStatus() *ServiceTypeStatus { return &t.Status }

// GetSpec is of TypeObject.
func (t *ServiceType) GetSpec() *ServiceTypeSpec { return &t.Spec }

// GetStatus is of TypeObject.
func (t *ServiceType) GetStatus() *ServiceTypeStatus { return &t.Status }
