package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ClusterServicePlan is a plan of a ClusterServiceClass.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=csp,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=External-Name,type=string,description="The name at the broker.",JSONPath=`.spec.externalName`
// +kubebuilder:printcolumn:name=Type,type=string,description="The service type; empty: that of the class.",JSONPath=`.spec.serviceType`
// +kubebuilder:printcolumn:name=Default,type=string,description="Whether it is annotated as the default of its type.",JSONPath=`.metadata.annotations.servicecatalog\.kubernetes\.io/is-default-plan`
// +kubebuilder:printcolumn:name=Class,type=string,description="The name of its class at the broker, else of the class's object.",JSONPath=`.*['annotations','clusterServiceClassRef']['servicecatalog\.kubernetes\.io/class-name','name']`
// +kubebuilder:printcolumn:name=Broker,type=string,description="The broker that offers it.",JSONPath=`.spec.clusterServiceBrokerName`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Suggested,type=string,priority=1,description="Whether its broker suggests it for its type.",JSONPath=`.metadata.annotations.servicecatalog\.kubernetes\.io/is-suggested-plan`
// +kubebuilder:printcolumn:name=Weight,type=integer,priority=1,description="Its weight among plans that a selector matches.",JSONPath=`.spec.weight`
// +kubebuilder:printcolumn:name=Free,type=boolean,priority=1,description="Whether it costs nothing.",JSONPath=`.spec.free`
// +kubebuilder:printcolumn:name=External-ID,type=string,priority=1,description="The ID at the broker.",JSONPath=`.spec.externalID`
// +kubebuilder:printcolumn:name=Class-ID,type=string,priority=1,description="The name of its class's object.",JSONPath=`.spec.clusterServiceClassRef.name`
// +kubebuilder:printcolumn:name=Removed,type=boolean,priority=1,description="Whether the broker no longer lists it.",JSONPath=`.status.removedFromBrokerCatalog`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalID`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalName`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceType`
// +kubebuilder:selectablefield:JSONPath=`.spec.free`
// +kubebuilder:selectablefield:JSONPath=`.spec.clusterServiceClassRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.clusterServiceBrokerName`
type ClusterServicePlan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the broker offers and which defaults the operator gives.
	// +required
	Spec ClusterServicePlanSpec `json:"spec"`
	// Status is what the last catalog said of the plan.
	// +optional
	Status ClusterServicePlanStatus `json:"status,omitempty"`
}

// ClusterServicePlanList is a list of cluster-scoped plans.
// +kubebuilder:object:root=true
type ClusterServicePlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the plans.
	Items []ClusterServicePlan `json:"items"`
}

// ServicePlan is a plan of a ServiceClass in the same namespace.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=spl,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=External-Name,type=string,description="The name at the broker.",JSONPath=`.spec.externalName`
// +kubebuilder:printcolumn:name=Type,type=string,description="The service type; empty: that of the class.",JSONPath=`.spec.serviceType`
// +kubebuilder:printcolumn:name=Default,type=string,description="Whether it is annotated as the default of its type.",JSONPath=`.metadata.annotations.servicecatalog\.kubernetes\.io/is-default-plan`
// +kubebuilder:printcolumn:name=Class,type=string,description="The name of its class at the broker, else of the class's object.",JSONPath=`.*['annotations','serviceClassRef']['servicecatalog\.kubernetes\.io/class-name','name']`
// +kubebuilder:printcolumn:name=Broker,type=string,description="The broker that offers it.",JSONPath=`.spec['serviceBrokerName','clusterServiceBrokerName']`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Suggested,type=string,priority=1,description="Whether its broker suggests it for its type.",JSONPath=`.metadata.annotations.servicecatalog\.kubernetes\.io/is-suggested-plan`
// +kubebuilder:printcolumn:name=Weight,type=integer,priority=1,description="Its weight among plans that a selector matches.",JSONPath=`.spec.weight`
// +kubebuilder:printcolumn:name=Free,type=boolean,priority=1,description="Whether it costs nothing.",JSONPath=`.spec.free`
// +kubebuilder:printcolumn:name=External-ID,type=string,priority=1,description="The ID at the broker.",JSONPath=`.spec.externalID`
// +kubebuilder:printcolumn:name=Class-ID,type=string,priority=1,description="The name of its class's object.",JSONPath=`.spec.serviceClassRef.name`
// +kubebuilder:printcolumn:name=Removed,type=boolean,priority=1,description="Whether the broker no longer lists it.",JSONPath=`.status.removedFromBrokerCatalog`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalID`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalName`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceType`
// +kubebuilder:selectablefield:JSONPath=`.spec.free`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceClassRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceBrokerName`
// +kubebuilder:selectablefield:JSONPath=`.spec.clusterServiceBrokerName`
type ServicePlan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the broker offers and which defaults the operator gives.
	// +required
	Spec ServicePlanSpec `json:"spec"`
	// Status is what the last catalog said of the plan.
	// +optional
	Status ServicePlanStatus `json:"status,omitempty"`
}

// ServicePlanList is a list of namespaced plans.
// +kubebuilder:object:root=true
type ServicePlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the plans.
	Items []ServicePlan `json:"items"`
}

// ClusterServicePlanSpec is a plan of a cluster-scoped class.
// +kubebuilder:validation:XValidation:rule=`self.?clusterServiceClassRef.?name.orValue("") != ""`,message="clusterServiceClassRef.name is required: name the ClusterServiceClass that the plan belongs to",fieldPath=`.clusterServiceClassRef`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.clusterServiceClassRef.name) || (has(self.clusterServiceClassRef.name) && self.clusterServiceClassRef.name == oldSelf.clusterServiceClassRef.name)`,message="clusterServiceClassRef cannot change: put the stored value back, or make a new plan",fieldPath=`.clusterServiceClassRef`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.externalID) || oldSelf.externalID == "" || !has(self.externalID) || self.externalID == "" || self.externalID == oldSelf.externalID`,message="externalID cannot change once set: put the stored value back, or make a new plan",fieldPath=`.externalID`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.clusterServiceBrokerName) || oldSelf.clusterServiceBrokerName == "" || !has(self.clusterServiceBrokerName) || self.clusterServiceBrokerName == "" || self.clusterServiceBrokerName == oldSelf.clusterServiceBrokerName`,message="clusterServiceBrokerName cannot change once set: put the stored value back, or make a new plan",fieldPath=`.clusterServiceBrokerName`
type ClusterServicePlanSpec struct {
	CommonServicePlanSpec `json:",inline"`

	// ClusterServiceBrokerName is the ClusterServiceBroker that offers this
	// plan. Absent on a plan that was made before its broker listed it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	ClusterServiceBrokerName string `json:"clusterServiceBrokerName,omitempty"`
	// ClusterServiceClassRef names the ClusterServiceClass that this plan
	// belongs to.
	ClusterServiceClassRef ClusterObjectReference `json:"clusterServiceClassRef"`
}

// ServicePlanSpec is a plan within a namespace.
// +kubebuilder:validation:XValidation:rule=`!(self.?serviceBrokerName.orValue("") != "" && self.?clusterServiceBrokerName.orValue("") != "")`,message="serviceBrokerName and clusterServiceBrokerName exclude each other: remove one",fieldPath=`.clusterServiceBrokerName`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`self.?serviceClassRef.?name.orValue("") != ""`,message="serviceClassRef.name is required: name the ServiceClass that the plan belongs to",fieldPath=`.serviceClassRef`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.serviceClassRef.name) || (has(self.serviceClassRef.name) && self.serviceClassRef.name == oldSelf.serviceClassRef.name)`,message="serviceClassRef cannot change: put the stored value back, or make a new plan",fieldPath=`.serviceClassRef`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.externalID) || oldSelf.externalID == "" || !has(self.externalID) || self.externalID == "" || self.externalID == oldSelf.externalID`,message="externalID cannot change once set: put the stored value back, or make a new plan",fieldPath=`.externalID`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.serviceBrokerName) || oldSelf.serviceBrokerName == "" || !has(self.serviceBrokerName) || self.serviceBrokerName == "" || self.serviceBrokerName == oldSelf.serviceBrokerName`,message="serviceBrokerName cannot change once set: put the stored value back, or make a new plan",fieldPath=`.serviceBrokerName`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.clusterServiceBrokerName) || oldSelf.clusterServiceBrokerName == "" || !has(self.clusterServiceBrokerName) || self.clusterServiceBrokerName == "" || self.clusterServiceBrokerName == oldSelf.clusterServiceBrokerName`,message="clusterServiceBrokerName cannot change once set: put the stored value back, or make a new plan",fieldPath=`.clusterServiceBrokerName`
type ServicePlanSpec struct {
	CommonServicePlanSpec `json:",inline"`

	// ServiceBrokerName is the ServiceBroker of this namespace that offers
	// this plan. Absent on a plan that was made before its broker listed it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	ServiceBrokerName string `json:"serviceBrokerName,omitempty"`
	// ClusterServiceBrokerName is set instead of serviceBrokerName on a
	// cluster plan that was copied into this namespace: the broker at which its
	// instances are provisioned. Setting it requires the verb use on that
	// broker.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	ClusterServiceBrokerName string `json:"clusterServiceBrokerName,omitempty"`
	// ServiceClassRef names the ServiceClass of this namespace that this plan
	// belongs to.
	ServiceClassRef LocalObjectReference `json:"serviceClassRef"`
}

// CommonServicePlanSpec is what plans of both scopes share.
type CommonServicePlanSpec struct {
	// ExternalName is the name that the broker gave, such as basic50.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ExternalName string `json:"externalName,omitempty"`
	// ExternalID is the ID that the broker gave; it is what the broker is
	// sent. It cannot change.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ExternalID string `json:"externalID"`
	// ServiceType is the type of service of this plan, independent of the
	// broker that offers it, such as mysql: a DNS label. Absent: the type of
	// its class.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	ServiceType string `json:"serviceType,omitempty"`
	// Weight orders the plans that a planSelector matches: the heaviest wins,
	// and equals are spread evenly. From -100000 to 100000; absent: 0.
	// +optional
	// +kubebuilder:validation:Minimum=-100000
	// +kubebuilder:validation:Maximum=100000
	Weight int32 `json:"weight,omitempty"`
	// Description is the broker's text for people.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Description string `json:"description,omitempty"`
	// Bindable says whether instances can be bound to. Absent: what the class
	// says.
	// +optional
	Bindable *bool `json:"bindable,omitempty"`
	// PlanUpdatable says whether an instance of this plan may move to another.
	// Absent: what the class says.
	// +optional
	PlanUpdatable *bool `json:"planUpdatable,omitempty"`
	// BindingRotatable says whether the broker makes a successor of a binding.
	// +optional
	BindingRotatable bool `json:"bindingRotatable,omitempty"`
	// MaximumPollingDuration is the longest time, in seconds, that the broker
	// takes for an operation. Absent: the controller's own limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaximumPollingDuration *int64 `json:"maximumPollingDuration,omitempty"`
	// MaintenanceInfo is the version that instances of this plan are made with.
	// +optional
	MaintenanceInfo *MaintenanceInfo `json:"maintenanceInfo,omitempty"`
	// Free says that the plan costs nothing. Absent: false.
	// +optional
	// +kubebuilder:default=false
	Free bool `json:"free"`
	// ExternalMetadata is the broker's object for user interfaces, as it came.
	// +optional
	// +structType=atomic
	// +kubebuilder:pruning:PreserveUnknownFields
	ExternalMetadata *runtime.RawExtension `json:"externalMetadata,omitempty"`
	// InstanceCreateParameterSchema is the JSON schema of the parameters for
	// provisioning, as it came.
	// +optional
	// +structType=atomic
	// +kubebuilder:pruning:PreserveUnknownFields
	InstanceCreateParameterSchema *runtime.RawExtension `json:"instanceCreateParameterSchema,omitempty"`
	// InstanceUpdateParameterSchema is the JSON schema of the parameters for
	// updating an instance, as it came.
	// +optional
	// +structType=atomic
	// +kubebuilder:pruning:PreserveUnknownFields
	InstanceUpdateParameterSchema *runtime.RawExtension `json:"instanceUpdateParameterSchema,omitempty"`
	// ServiceBindingCreateParameterSchema is the JSON schema of the parameters
	// for binding, as it came.
	// +optional
	// +structType=atomic
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceBindingCreateParameterSchema *runtime.RawExtension `json:"serviceBindingCreateParameterSchema,omitempty"`

	Defaults `json:",inline"`
}

// MaintenanceInfo is the version of what runs the instances of a plan.
type MaintenanceInfo struct {
	// Version is a semantic version 2.0.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
	// Description is the broker's text for people.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Description string `json:"description,omitempty"`
}

// ClusterServicePlanStatus is what the last catalog said of a cluster-scoped
// plan.
type ClusterServicePlanStatus struct {
	CommonServicePlanStatus `json:",inline"`
}

// ServicePlanStatus is what the last catalog said of a namespaced plan.
type ServicePlanStatus struct {
	CommonServicePlanStatus `json:",inline"`
}

// CommonServicePlanStatus is what plans of both scopes share.
type CommonServicePlanStatus struct {
	// RemovedFromBrokerCatalog says that the broker no longer lists this plan:
	// nothing new is provisioned from it.
	// +optional
	RemovedFromBrokerCatalog bool `json:"removedFromBrokerCatalog"`
	// Costs are what the last catalog said the plan costs, in the order of
	// metadata.costs: those of one currency and one unit add up, and several
	// currencies of one unit may be alternatives.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Costs []PlanCost `json:"costs,omitempty"`
	// MalformedCosts says why metadata.costs could not be read; costs is empty
	// then. Nothing of it is guessed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	MalformedCosts string `json:"malformedCosts,omitempty"`
	// Conditions has InUse while the object is being deleted and kept for what uses it.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []Condition `json:"conditions,omitempty"`
}

// PlanCost is an amount of a currency for a unit, such as 99.95 usd MONTHLY.
type PlanCost struct {
	// Currency is the currency as the broker writes it, such as usd.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Currency string `json:"currency"`
	// Amount is an exact decimal without an exponent or trailing zeros.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$`
	Amount string `json:"amount"`
	// Unit is what the amount is paid for, such as MONTHLY.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Unit string `json:"unit"`
}
