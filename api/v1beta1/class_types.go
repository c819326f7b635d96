package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ClusterServiceClass is an offering of a broker that the whole cluster may
// use.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=csc,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=External-Name,type=string,description="The name at the broker.",JSONPath=`.spec.externalName`
// +kubebuilder:printcolumn:name=Type,type=string,description="The service type.",JSONPath=`.spec.serviceType`
// +kubebuilder:printcolumn:name=Broker,type=string,description="The broker that offers it.",JSONPath=`.spec.clusterServiceBrokerName`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=External-ID,type=string,priority=1,description="The ID at the broker.",JSONPath=`.spec.externalID`
// +kubebuilder:printcolumn:name=Bindable,type=boolean,priority=1,description="Whether instances can be bound to.",JSONPath=`.spec.bindable`
// +kubebuilder:printcolumn:name=Removed,type=boolean,priority=1,description="Whether the broker no longer lists it.",JSONPath=`.status.removedFromBrokerCatalog`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalID`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalName`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceType`
// +kubebuilder:selectablefield:JSONPath=`.spec.clusterServiceBrokerName`
type ClusterServiceClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the broker offers and which defaults the operator gives.
	// +required
	Spec ClusterServiceClassSpec `json:"spec"`
	// Status is what the last catalog said of the class.
	// +optional
	Status ClusterServiceClassStatus `json:"status,omitempty"`
}

// ClusterServiceClassList is a list of cluster-scoped classes.
// +kubebuilder:object:root=true
type ClusterServiceClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the classes.
	Items []ClusterServiceClass `json:"items"`
}

// ServiceClass is an offering of a broker that one namespace may use.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=scl,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=External-Name,type=string,description="The name at the broker.",JSONPath=`.spec.externalName`
// +kubebuilder:printcolumn:name=Type,type=string,description="The service type.",JSONPath=`.spec.serviceType`
// +kubebuilder:printcolumn:name=Broker,type=string,description="The broker that offers it.",JSONPath=`.spec['serviceBrokerName','clusterServiceBrokerName']`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=External-ID,type=string,priority=1,description="The ID at the broker.",JSONPath=`.spec.externalID`
// +kubebuilder:printcolumn:name=Bindable,type=boolean,priority=1,description="Whether instances can be bound to.",JSONPath=`.spec.bindable`
// +kubebuilder:printcolumn:name=Removed,type=boolean,priority=1,description="Whether the broker no longer lists it.",JSONPath=`.status.removedFromBrokerCatalog`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalID`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalName`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceType`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceBrokerName`
// +kubebuilder:selectablefield:JSONPath=`.spec.clusterServiceBrokerName`
type ServiceClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the broker offers and which defaults the operator gives.
	// +required
	Spec ServiceClassSpec `json:"spec"`
	// Status is what the last catalog said of the class.
	// +optional
	Status ServiceClassStatus `json:"status,omitempty"`
}

// ServiceClassList is a list of namespaced classes.
// +kubebuilder:object:root=true
type ServiceClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the classes.
	Items []ServiceClass `json:"items"`
}

// ClusterServiceClassSpec is an offering of a cluster-scoped broker.
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.externalID) || oldSelf.externalID == "" || !has(self.externalID) || self.externalID == "" || self.externalID == oldSelf.externalID`,message="externalID cannot change once set: put the stored value back, or make a new class",fieldPath=`.externalID`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.clusterServiceBrokerName) || oldSelf.clusterServiceBrokerName == "" || !has(self.clusterServiceBrokerName) || self.clusterServiceBrokerName == "" || self.clusterServiceBrokerName == oldSelf.clusterServiceBrokerName`,message="clusterServiceBrokerName cannot change once set: put the stored value back, or make a new class",fieldPath=`.clusterServiceBrokerName`
type ClusterServiceClassSpec struct {
	CommonServiceClassSpec `json:",inline"`

	// ClusterServiceBrokerName is the ClusterServiceBroker that offers this
	// class. Absent on a class that was made before its broker listed it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	ClusterServiceBrokerName string `json:"clusterServiceBrokerName,omitempty"`
}

// ServiceClassSpec is an offering within a namespace.
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.externalID) || oldSelf.externalID == "" || !has(self.externalID) || self.externalID == "" || self.externalID == oldSelf.externalID`,message="externalID cannot change once set: put the stored value back, or make a new class",fieldPath=`.externalID`
// +kubebuilder:validation:XValidation:rule=`!(self.?serviceBrokerName.orValue("") != "" && self.?clusterServiceBrokerName.orValue("") != "")`,message="serviceBrokerName and clusterServiceBrokerName exclude each other: remove one",fieldPath=`.clusterServiceBrokerName`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.serviceBrokerName) || oldSelf.serviceBrokerName == "" || !has(self.serviceBrokerName) || self.serviceBrokerName == "" || self.serviceBrokerName == oldSelf.serviceBrokerName`,message="serviceBrokerName cannot change once set: put the stored value back, or make a new class",fieldPath=`.serviceBrokerName`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.clusterServiceBrokerName) || oldSelf.clusterServiceBrokerName == "" || !has(self.clusterServiceBrokerName) || self.clusterServiceBrokerName == "" || self.clusterServiceBrokerName == oldSelf.clusterServiceBrokerName`,message="clusterServiceBrokerName cannot change once set: put the stored value back, or make a new class",fieldPath=`.clusterServiceBrokerName`
type ServiceClassSpec struct {
	CommonServiceClassSpec `json:",inline"`

	// ServiceBrokerName is the ServiceBroker of this namespace that offers
	// this class. Absent on a class that was made before its broker listed it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	ServiceBrokerName string `json:"serviceBrokerName,omitempty"`
	// ClusterServiceBrokerName is set instead of serviceBrokerName on a
	// cluster class that was copied into this namespace: the broker at which
	// its instances are provisioned. Setting it requires the verb use on that
	// broker.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	ClusterServiceBrokerName string `json:"clusterServiceBrokerName,omitempty"`
}

// CommonServiceClassSpec is what classes of both scopes share.
type CommonServiceClassSpec struct {
	// ExternalName is the name that the broker gave, such as azure-mysql.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ExternalName string `json:"externalName,omitempty"`
	// ExternalID is the ID that the broker gave; it is what the broker is
	// sent. It cannot change.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ExternalID string `json:"externalID"`
	// ServiceType is the type of service of this class, independent of the
	// broker that offers it, such as mysql: a DNS label. Plans without a type
	// of their own have it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	ServiceType string `json:"serviceType,omitempty"`
	// Description is the broker's text for people.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Description string `json:"description,omitempty"`
	// Bindable says whether instances can be bound to. A plan may say
	// otherwise.
	// +optional
	Bindable bool `json:"bindable"`
	// BindingRetrievable says whether the broker can be asked for a binding
	// again.
	// +optional
	BindingRetrievable bool `json:"bindingRetrievable"`
	// PlanUpdatable says whether an instance may move to another plan of this
	// class.
	// +optional
	PlanUpdatable bool `json:"planUpdatable"`
	// InstancesRetrievable says whether the broker can be asked for an instance
	// again.
	// +optional
	InstancesRetrievable bool `json:"instancesRetrievable,omitempty"`
	// AllowContextUpdates says whether the broker takes a change of the
	// instance's context alone, such as of its annotations.
	// +optional
	AllowContextUpdates bool `json:"allowContextUpdates,omitempty"`
	// ExternalMetadata is the broker's object for user interfaces, as it came.
	// +optional
	// +structType=atomic
	// +kubebuilder:pruning:PreserveUnknownFields
	ExternalMetadata *runtime.RawExtension `json:"externalMetadata,omitempty"`
	// Tags are the broker's words for this class, as they came.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=1024
	Tags []string `json:"tags,omitempty"`
	// Requires are permissions that the broker says it needs, such as
	// syslog_drain.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=1024
	Requires []string `json:"requires,omitempty"`

	Defaults `json:",inline"`
}

// ClusterServiceClassStatus is what the last catalog said of a cluster-scoped
// class.
type ClusterServiceClassStatus struct {
	CommonServiceClassStatus `json:",inline"`
}

// ServiceClassStatus is what the last catalog said of a namespaced class.
type ServiceClassStatus struct {
	CommonServiceClassStatus `json:",inline"`
}

// CommonServiceClassStatus is what classes of both scopes share.
type CommonServiceClassStatus struct {
	// RemovedFromBrokerCatalog says that the broker no longer lists this class:
	// nothing new is provisioned from it.
	// +optional
	RemovedFromBrokerCatalog bool `json:"removedFromBrokerCatalog"`
	// FreePlans is the number of its plans that cost nothing.
	// +optional
	FreePlans int32 `json:"freePlans,omitempty"`
	// PaidPlans is the number of its other plans.
	// +optional
	PaidPlans int32 `json:"paidPlans,omitempty"`
	// Conditions has InUse while the object is being deleted and kept for what uses it.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []Condition `json:"conditions,omitempty"`
}
