package v1beta1

import "k8s.io/apimachinery/pkg/runtime"

// Redacted stands for a value from a Secret in status, events and logs.
const Redacted = "<redacted>"

// ServiceInstancePropertiesState is what a broker was sent.
type ServiceInstancePropertiesState struct {
	// ClusterServicePlanExternalName is the plan's name at the broker.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ClusterServicePlanExternalName string `json:"clusterServicePlanExternalName"`
	// ClusterServicePlanExternalID is the plan's ID at the broker.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ClusterServicePlanExternalID string `json:"clusterServicePlanExternalID"`
	// ServicePlanExternalName is the name at the broker of a namespaced plan.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ServicePlanExternalName string `json:"servicePlanExternalName,omitempty"`
	// ServicePlanExternalID is the ID at the broker of a namespaced plan.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ServicePlanExternalID string `json:"servicePlanExternalID,omitempty"`
	// PlanRefName is the Kubernetes name of the plan: by it the controller knows
	// whether spec still refers to a plan that is gone.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PlanRefName string `json:"planRefName,omitempty"`
	// Parameters is the JSON object that was sent; values from Secrets are
	// replaced by `<redacted>`.
	// +optional
	// +structType=atomic
	// +kubebuilder:pruning:PreserveUnknownFields
	Parameters *runtime.RawExtension `json:"parameters,omitempty"`
	// ParameterChecksum is the SHA-256 sum of the parameters with the values
	// from Secrets, in 64 hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9a-f]{64})?$`
	ParameterChecksum string `json:"parameterChecksum,omitempty"`
	// RetiredChecksum says that ParameterChecksum was made by the retired
	// catalog, from another text of the same parameters.
	// +optional
	RetiredChecksum bool `json:"retiredChecksum,omitempty"`
	// UserInfo is the user whose request was sent.
	// +optional
	UserInfo *UserInfo `json:"userInfo,omitempty"`

	BrokerTarget `json:",inline"`

	// MaintenanceVersion is the maintenance version that was sent.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	MaintenanceVersion string `json:"maintenanceVersion,omitempty"`
	// ContextChecksum is the SHA-256 sum of the context, in 64 hexadecimal
	// digits.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ContextChecksum string `json:"contextChecksum,omitempty"`
	// UpdateRequests is the spec.updateRequests that was served.
	// +optional
	UpdateRequests int64 `json:"updateRequests,omitempty"`
}

// BrokerTarget says to which broker something was sent, and as an instance of
// which class: what a later call needs even when class and plan are gone.
type BrokerTarget struct {
	// ClusterServiceBrokerName is the ClusterServiceBroker, if it is one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClusterServiceBrokerName string `json:"clusterServiceBrokerName,omitempty"`
	// ServiceBrokerName is the ServiceBroker of this namespace, if it is one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceBrokerName string `json:"serviceBrokerName,omitempty"`
	// ClassExternalID is the class's ID at the broker.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ClassExternalID string `json:"classExternalID,omitempty"`
	// PlanExternalID is the plan's ID at the broker.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	PlanExternalID string `json:"planExternalID,omitempty"`
}
