package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every kind in this package.
const GroupName = "servicecatalog.k8s.io"

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1beta1"}

// AddToScheme registers every kind of this package and its list with a scheme.
// It fails only if another Go type already holds one of the kinds there.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&ClusterServiceBroker{}, &ClusterServiceBrokerList{},
		&ClusterServiceClass{}, &ClusterServiceClassList{},
		&ClusterServicePlan{}, &ClusterServicePlanList{},
		&ClusterServiceType{}, &ClusterServiceTypeList{},
		&ServiceBroker{}, &ServiceBrokerList{},
		&ServiceClass{}, &ServiceClassList{},
		&ServicePlan{}, &ServicePlanList{},
		&ServiceType{}, &ServiceTypeList{},
		&ServiceInstance{}, &ServiceInstanceList{},
		&ServiceBinding{}, &ServiceBindingList{},
		&ProvisioningPolicy{}, &ProvisioningPolicyList{},
		&BindingPolicy{}, &BindingPolicyList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Kind returns the group-kind of a kind of this group, as errors of the API
// machinery want it.
func Kind(kind string) schema.GroupKind {
	return GroupVersion.WithKind(kind).GroupKind()
}

// Resource returns the group-resource of a plural of this group.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}
