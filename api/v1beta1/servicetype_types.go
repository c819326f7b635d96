package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterServiceType records the default plan of a service type for the whole
// cluster. It is named after the type, so there can only be one.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cst,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=Type,type=string,description="The service type.",JSONPath=`.metadata.name`
// +kubebuilder:printcolumn:name=Default,type=string,description="The default plan, as class/plan.",JSONPath=`.status.defaultPlan`
// +kubebuilder:printcolumn:name=Suggested,type=string,description="The suggested plan, as class/plan.",JSONPath=`.status.suggestedPlan`
// +kubebuilder:printcolumn:name=Plans,type=integer,description="How many live plans there are.",JSONPath=`.status.plans`
// +kubebuilder:printcolumn:name=Resolvable,type=boolean,description="Whether an instance that names only the type finds a plan.",JSONPath=`.status.resolvable`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Confirmed,type=boolean,priority=1,description="Whether record and annotation have agreed.",JSONPath=`.status.confirmed`
// +kubebuilder:validation:XValidation:rule=`self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')`,message="metadata.name is the service type: at most 63 lower-case letters, digits and inner hyphens, such as mysql; make one with such a name"
type ClusterServiceType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the record.
	// +optional
	Spec ServiceTypeSpec `json:"spec,omitempty"`
	// Status is what the type resolves to now.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ServiceTypeStatus `json:"status,omitempty"`
}

// ClusterServiceTypeList is a list of cluster-scoped service types.
// +kubebuilder:object:root=true
type ClusterServiceTypeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the service types.
	Items []ClusterServiceType `json:"items"`
}

// ServiceType records the default plan of a service type for one namespace. It
// is named after the type, so there can only be one.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sty,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=Type,type=string,description="The service type.",JSONPath=`.metadata.name`
// +kubebuilder:printcolumn:name=Default,type=string,description="The default plan, as class/plan.",JSONPath=`.status.defaultPlan`
// +kubebuilder:printcolumn:name=Suggested,type=string,description="The suggested plan, as class/plan.",JSONPath=`.status.suggestedPlan`
// +kubebuilder:printcolumn:name=Plans,type=integer,description="How many live plans there are.",JSONPath=`.status.plans`
// +kubebuilder:printcolumn:name=Resolvable,type=boolean,description="Whether an instance that names only the type finds a plan.",JSONPath=`.status.resolvable`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Confirmed,type=boolean,priority=1,description="Whether record and annotation have agreed.",JSONPath=`.status.confirmed`
// +kubebuilder:validation:XValidation:rule=`self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')`,message="metadata.name is the service type: at most 63 lower-case letters, digits and inner hyphens, such as mysql; make one with such a name"
type ServiceType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the record.
	// +optional
	Spec ServiceTypeSpec `json:"spec,omitempty"`
	// Status is what the type resolves to now.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ServiceTypeStatus `json:"status,omitempty"`
}

// ServiceTypeList is a list of namespaced service types.
// +kubebuilder:object:root=true
type ServiceTypeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the service types.
	Items []ServiceType `json:"items"`
}

// ServiceTypeSpec is the record of a type's default plan.
type ServiceTypeSpec struct {
	// DefaultPlanRef names the default plan of this type: a ClusterServicePlan
	// for a ClusterServiceType, a ServicePlan of the same namespace for a
	// ServiceType. Absent: no default is recorded.
	// +optional
	DefaultPlanRef *PlanObjectReference `json:"defaultPlanRef,omitempty"`
}

// PlanObjectReference names a plan in the scope of the object that holds the
// reference.
type PlanObjectReference struct {
	// Name is the metadata.name of the plan.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ServiceTypeStatus is what a type resolves to now.
type ServiceTypeStatus struct {
	// ObservedGeneration is the metadata.generation that this status was
	// derived from; -1 before the first time.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Confirmed says that the record and the plan's annotation have agreed.
	// It tells a switch that is half done from a default that was taken off.
	// +optional
	Confirmed bool `json:"confirmed,omitempty"`
	// Plans is how many live plans of this type there are in this scope.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Plans int32 `json:"plans"`
	// DefaultPlan is the default plan as class/plan by external names.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	DefaultPlan string `json:"defaultPlan,omitempty"`
	// SuggestedPlan is the suggested plan as class/plan by external names;
	// several are separated by commas.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	SuggestedPlan string `json:"suggestedPlan,omitempty"`
	// Resolvable says whether an instance that names only this type finds a
	// plan.
	// +optional
	Resolvable bool `json:"resolvable"`
	// Conditions are DefaultPlan, SuggestedPlan, Ambiguous and NoDefault.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []Condition `json:"conditions,omitempty"`
}
