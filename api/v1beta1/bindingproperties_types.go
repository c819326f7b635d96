package v1beta1

import "k8s.io/apimachinery/pkg/runtime"

// ServiceBindingPropertiesState is what a broker was sent.
type ServiceBindingPropertiesState struct {
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
	// UserInfo is the user whose request was sent.
	// +optional
	UserInfo *UserInfo `json:"userInfo,omitempty"`

	BrokerTarget `json:",inline"`

	// InstanceExternalID is the instance's ID at the broker.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	InstanceExternalID string `json:"instanceExternalID,omitempty"`
}
