package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rotation says when credentials are replaced. It may change at any time.
// +kubebuilder:validation:XValidation:rule=`!has(self.every) || duration(self.every) >= duration('0s')`,message="every must be a time of at most 290 years: write it as 720h",fieldPath=`.every`,reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule=`!has(self.overlap) || duration(self.overlap) >= duration('0s')`,message="overlap must be a time of at most 290 years: write it as 10m",fieldPath=`.overlap`,reason=FieldValueInvalid
type Rotation struct {
	// Policy is Never to keep the credentials that there are, whatever the broker
	// says. Absent: they are replaced before they expire.
	// +optional
	Policy RotationPolicy `json:"policy,omitempty"`
	// Every is the time after which they are replaced although they do not
	// expire, such as 720h. Absent: never.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	Every *metav1.Duration `json:"every,omitempty"`
	// Overlap is how long the former credentials stay valid after the Secret has
	// the new ones, such as 10m, unless they expire before. Absent: the
	// controller's default.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	Overlap *metav1.Duration `json:"overlap,omitempty"`
	// Requests is a counter; raising it asks for new credentials now.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Requests int64 `json:"requests,omitempty"`
}

// RotationPolicy says whether credentials are replaced before they expire.
// +kubebuilder:validation:Enum="";Never
type RotationPolicy string

// RotationNever keeps the credentials that there are.
const RotationNever RotationPolicy = "Never"

// CredentialsState is what is known of the age of credentials.
type CredentialsState struct {
	// IssuedAt is when they were stored.
	// +optional
	IssuedAt *metav1.Time `json:"issuedAt,omitempty"`
	// ExpiresAt is when the broker lets them expire; absent: never, or unknown.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
	// RenewBefore is by when the broker wants them to be replaced.
	// +optional
	RenewBefore *metav1.Time `json:"renewBefore,omitempty"`
	// Requests is the spec.rotation.requests that was served.
	// +optional
	Requests int64 `json:"requests,omitempty"`
	// Predecessor is the ID at the broker of the binding that they were asked to take
	// over from; a request that is repeated names it. Empty: none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Predecessor string `json:"predecessor,omitempty"`
}

// RotationRole says which binding a BindingRotation is.
// +kubebuilder:validation:Enum=Successor;Predecessor
type RotationRole string

// The roles: the new binding while it is made, and the former one while it is
// still valid.
const (
	RotationSuccessor   RotationRole = "Successor"
	RotationPredecessor RotationRole = "Predecessor"
)

// BindingRotation is the other binding at the broker during a rotation. Its
// fields mean what those of the same names in the status mean.
type BindingRotation struct {
	// Role is Successor or Predecessor.
	Role RotationRole `json:"role"`
	// RemoveAfter is when a predecessor is removed.
	// +optional
	RemoveAfter *metav1.Time `json:"removeAfter,omitempty"`
	// Message says in a sentence why it is not done yet.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`
	// ExternalID is its ID at the broker.
	// +kubebuilder:validation:MaxLength=253
	ExternalID string `json:"externalID"`
	// CurrentOperation is Bind, Unbind, or empty when no operation runs.
	// +optional
	CurrentOperation BindingOperation `json:"currentOperation,omitempty"`
	// AsyncOpInProgress says that the broker works on an operation.
	// +optional
	AsyncOpInProgress bool `json:"asyncOpInProgress,omitempty"`
	// LastOperation is the broker's key for the operation it works on.
	// +optional
	// +kubebuilder:validation:MaxLength=10000
	LastOperation *string `json:"lastOperation,omitempty"`
	// OrphanMitigationInProgress says that a binding of unknown outcome is being
	// removed at the broker.
	// +optional
	OrphanMitigationInProgress bool `json:"orphanMitigationInProgress,omitempty"`
	// OperationStartTime is when the current operation began.
	// +optional
	OperationStartTime *metav1.Time `json:"operationStartTime,omitempty"`
	// CallDeadline is until when a call may still be on its way to the broker.
	// +optional
	CallDeadline *metav1.MicroTime `json:"callDeadline,omitempty"`
	// Retries counts the tries of the current operation that failed.
	// +optional
	Retries int32 `json:"retries,omitempty"`
	// NextRetry is when it is tried again.
	// +optional
	NextRetry *metav1.Time `json:"nextRetry,omitempty"`
	// RefusedRequest tells the request that the broker refused for good from others.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	RefusedRequest string `json:"refusedRequest,omitempty"`
	// FetchRequired says that its credentials are still to be fetched.
	// +optional
	FetchRequired bool `json:"fetchRequired,omitempty"`
	// UnbindStatus is NotRequired, Required, Succeeded, Failed or empty.
	// +optional
	UnbindStatus UnbindStatus `json:"unbindStatus,omitempty"`
	// InProgressProperties is what the current operation sends to the broker.
	// +optional
	InProgressProperties *ServiceBindingPropertiesState `json:"inProgressProperties,omitempty"`
	// ExternalProperties is what the broker last accepted.
	// +optional
	ExternalProperties *ServiceBindingPropertiesState `json:"externalProperties,omitempty"`
}
