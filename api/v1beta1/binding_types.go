package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ServiceBinding asks for credentials of an instance, which are written to a
// Secret in the binding's namespace.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sb,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=Service-Instance,type=string,description="The instance that it is for.",JSONPath=`.spec.instanceRef.name`
// +kubebuilder:printcolumn:name=Secret-Name,type=string,description="The Secret with the credentials.",JSONPath=`.spec.secretName`
// +kubebuilder:printcolumn:name=Ready,type=string,description="Whether it can be used: True, False or Unknown.",JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Status,type=string,description="Why, in one word.",JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Type,type=string,priority=1,description="The service type.",JSONPath=`.*.serviceType`
// +kubebuilder:printcolumn:name=Own-Instance,type=string,priority=1,description="The instance that was made for it alone.",JSONPath=`.status.instanceRef.name`
// +kubebuilder:printcolumn:name=Expires,type=string,priority=1,description="When the credentials expire.",JSONPath=`.status.credentials.expiresAt`
// +kubebuilder:printcolumn:name=External-ID,type=string,priority=1,description="The ID at the broker.",JSONPath=`.spec.externalID`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,description="Why, in a sentence.",JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalID`
// +kubebuilder:selectablefield:JSONPath=`.status.externalID`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceType`
// +kubebuilder:selectablefield:JSONPath=`.spec.instanceRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.clusterServiceClassRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.clusterServicePlanRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceClassRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.servicePlanRef.name`
type ServiceBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what was asked for, and what admission made of it.
	// +required
	Spec ServiceBindingSpec `json:"spec"`
	// Status is what was last observed of the binding.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ServiceBindingStatus `json:"status,omitempty"`
}

// ServiceBindingList is a list of bindings.
// +kubebuilder:object:root=true
type ServiceBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the bindings.
	Items []ServiceBinding `json:"items"`
}

// ServiceBindingSpec is what is asked of a binding.
// +kubebuilder:validation:XValidation:rule=`!([self.?clusterServiceClassExternalName, self.?clusterServiceClassExternalID, self.?clusterServiceClassName, self.?clusterServicePlanExternalName, self.?clusterServicePlanExternalID, self.?clusterServicePlanName, self.?clusterServiceClassRef.?name, self.?clusterServicePlanRef.?name].exists(n, n.orValue("") != "") && [self.?serviceClassExternalName, self.?serviceClassExternalID, self.?serviceClassName, self.?servicePlanExternalName, self.?servicePlanExternalID, self.?servicePlanName, self.?serviceClassRef.?name, self.?servicePlanRef.?name].exists(n, n.orValue("") != ""))`,message="a class and plan are named either cluster-wide (clusterServiceClass... and clusterServicePlan... fields) or in this namespace (serviceClass... and servicePlan... fields), not both: remove one kind",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`(self.?planSelector.matchLabels.orValue({}).size() == 0 && self.?planSelector.matchExpressions.orValue([]).size() == 0) || ![self.?clusterServicePlanExternalName, self.?clusterServicePlanExternalID, self.?clusterServicePlanName, self.?servicePlanExternalName, self.?servicePlanExternalID, self.?servicePlanName].exists(n, n.orValue("") != "") || self.?clusterServicePlanRef.?name.orValue("") != "" || self.?servicePlanRef.?name.orValue("") != ""`,message="planSelector and a named plan exclude each other until a plan is decided on: remove one",fieldPath=`.planSelector`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`(oldSelf.?clusterServiceClassRef.?name.orValue("") == "" && oldSelf.?serviceClassRef.?name.orValue("") == "") || self.?clusterServiceClassRef.?name.orValue("") != "" || self.?serviceClassRef.?name.orValue("") != ""`,message="clusterServiceClassRef or serviceClassRef cannot be removed once set: leave it as it is stored",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`(oldSelf.?clusterServicePlanRef.?name.orValue("") == "" && oldSelf.?servicePlanRef.?name.orValue("") == "") || self.?clusterServicePlanRef.?name.orValue("") != "" || self.?servicePlanRef.?name.orValue("") != ""`,message="clusterServicePlanRef or servicePlanRef cannot be removed once set: leave it as it is stored",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`oldSelf.?serviceType.orValue("") == "" || self.?serviceType.orValue("") != ""`,message="serviceType cannot be removed once set: leave it as it is stored, or make a new binding",fieldPath=`.serviceType`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.serviceType) || oldSelf.serviceType == "" || !has(self.serviceType) || self.serviceType == "" || self.serviceType == oldSelf.serviceType || (oldSelf.?clusterServicePlanRef.?name.orValue("") == "" && oldSelf.?servicePlanRef.?name.orValue("") == "")`,message="serviceType cannot change once a plan is decided on: put the stored value back, or make a new binding",fieldPath=`.serviceType`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.externalID) || oldSelf.externalID == "" || (has(self.externalID) && self.externalID == oldSelf.externalID)`,message="externalID cannot be changed or removed once set: put the stored value back, or make a new binding",fieldPath=`.externalID`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.instanceRef) || has(self.instanceRef)`,message="instanceRef cannot be removed once set: put the stored value back, or make a new binding",fieldPath=`.instanceRef`
type ServiceBindingSpec struct {
	// InstanceRef names the instance to bind to. Absent: the binding asks for
	// an instance of its own by type, class, plan or selector.
	// +optional
	InstanceRef *InstanceReference `json:"instanceRef,omitempty"`

	PlanReference `json:",inline"`

	// ServiceType asks for the default plan of a type for an instance of the
	// binding's own, such as mysql: a DNS label. It cannot change once a plan
	// is decided on.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	ServiceType string `json:"serviceType,omitempty"`
	// PlanSelector asks for the heaviest plan whose labels, over those of its
	// class, match, for an instance of the binding's own. Not together with a
	// named plan. At most 64 labels and expressions, and 256 values in the expressions.
	// +optional
	PlanSelector *metav1.LabelSelector `json:"planSelector,omitempty"`

	DecidedReference `json:",inline"`

	// ProvisionParameters is a JSON object of parameters for an instance of
	// the binding's own.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	ProvisionParameters *runtime.RawExtension `json:"provisionParameters,omitempty"`
	// Parameters is a JSON object that is sent to the broker with the bind
	// request. Defaults of class and plan are merged into it at admission; a
	// null takes a default away.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Parameters *runtime.RawExtension `json:"parameters,omitempty"`
	// ParametersFrom are Secrets with more parameters. A key that is also
	// written in parameters is an error; over a default the Secret wins.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	ParametersFrom []ParametersFromSource `json:"parametersFrom,omitempty"`
	// SecretName is the Secret to write the credentials to. Absent: the name
	// of the binding.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	SecretName string `json:"secretName,omitempty"`
	// ServiceName is the Service to make for the endpoints that the broker
	// returns. Absent: the name of the binding.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	ServiceName string `json:"serviceName,omitempty"`
	// SecretTransforms are applied to the credentials in order, after the
	// defaults of class and plan.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	SecretTransforms []SecretTransform `json:"secretTransforms,omitempty"`
	// SecretTransformDefaults is None to ignore the transforms that class and
	// plan give. Absent: they are applied.
	// +optional
	SecretTransformDefaults SecretTransformDefaults `json:"secretTransformDefaults,omitempty"`
	// EndpointsFrom says which credentials are a host and its ports, where the
	// broker returns no endpoints of its own.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	EndpointsFrom []EndpointFrom `json:"endpointsFrom,omitempty"`
	// Rotation says when the credentials are replaced by new ones. Absent: in
	// time, where the broker says when they expire.
	// +optional
	Rotation *Rotation `json:"rotation,omitempty"`
	// ExternalID is the ID of the binding at the broker. Minted at admission
	// when empty; it cannot change.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ExternalID string `json:"externalID"`
	// UserInfo is the user who last changed the spec; once it is decided, a change
	// of rotation does not count. Written at admission.
	// +optional
	UserInfo *UserInfo `json:"userInfo,omitempty"`
}

// InstanceReference names the instance that a binding is for.
// +kubebuilder:validation:XValidation:rule=`self.name == oldSelf.name && (has(self.__namespace__) && self.__namespace__ != "" ? has(oldSelf.__namespace__) && self.__namespace__ == oldSelf.__namespace__ : !has(oldSelf.__namespace__) || oldSelf.__namespace__ == "")`,message="instanceRef cannot change: put the stored value back, or make a new binding"
type InstanceReference struct {
	// Name is the metadata.name of the ServiceInstance.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Namespace is the namespace of the ServiceInstance, if it is another than
	// the binding's. That instance must be shared with the binding's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	Namespace string `json:"namespace,omitempty"`
}

// SecretTransformDefaults says what becomes of the transforms that class and
// plan give.
// +kubebuilder:validation:Enum="";None
type SecretTransformDefaults string

// SecretTransformDefaultsNone ignores the transforms that class and plan give.
const SecretTransformDefaultsNone SecretTransformDefaults = "None"

// BindingOperation is an operation on a binding.
// +kubebuilder:validation:Enum="";Bind;Unbind
type BindingOperation string

// The operations on a binding.
const (
	BindingBind   BindingOperation = "Bind"
	BindingUnbind BindingOperation = "Unbind"
)

// UnbindStatus says what is left to do at the broker at deletion.
// +kubebuilder:validation:Enum="";NotRequired;Required;Succeeded;Failed
type UnbindStatus string

// The unbind statuses.
const (
	UnbindNotRequired UnbindStatus = "NotRequired"
	UnbindRequired    UnbindStatus = "Required"
	UnbindSucceeded   UnbindStatus = "Succeeded"
	UnbindFailed      UnbindStatus = "Failed"
)

// ServiceBindingStatus is what was last observed of a binding.
type ServiceBindingStatus struct {
	// Conditions are Ready, Failed, OrphanMitigation, Resolved, Reconciling,
	// Stalled, Shared, Endpoints, Published, Transformed and CredentialsCurrent.
	// +optional
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []Condition `json:"conditions"`
	// AsyncOpInProgress says that the broker works on an operation and is
	// being polled.
	// +optional
	AsyncOpInProgress bool `json:"asyncOpInProgress"`
	// LastOperation is the broker's key for the operation it works on.
	// +optional
	// +kubebuilder:validation:MaxLength=10000
	LastOperation *string `json:"lastOperation,omitempty"`
	// CurrentOperation is Bind, Unbind, or empty when no operation runs.
	// +optional
	CurrentOperation BindingOperation `json:"currentOperation,omitempty"`
	// ReconciledGeneration is the metadata.generation that was last brought to
	// the broker.
	// +optional
	ReconciledGeneration int64 `json:"reconciledGeneration"`
	// ObservedGeneration is the metadata.generation that was last acted on;
	// -1 before the first time.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// OperationStartTime is when the current operation began.
	// +optional
	OperationStartTime *metav1.Time `json:"operationStartTime,omitempty"`
	// InProgressProperties is what the current operation sends to the broker.
	// +optional
	InProgressProperties *ServiceBindingPropertiesState `json:"inProgressProperties,omitempty"`
	// ExternalProperties is what the broker last accepted.
	// +optional
	ExternalProperties *ServiceBindingPropertiesState `json:"externalProperties,omitempty"`
	// OrphanMitigationInProgress says that a binding of unknown outcome is
	// being removed at the broker.
	// +optional
	OrphanMitigationInProgress bool `json:"orphanMitigationInProgress"`
	// KeepExternalID says that the broker itself answered the request whose outcome
	// is removed: if it answers the removal at once, the ID is used again.
	// +optional
	KeepExternalID bool `json:"keepExternalID,omitempty"`
	// UnbindStatus is NotRequired, Required, Succeeded, Failed or empty.
	// +optional
	UnbindStatus UnbindStatus `json:"unbindStatus"`
	// LastConditionState is the type of the last condition if it is True, else
	// its reason.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LastConditionState string `json:"lastConditionState"`
	// ExternalID is the ID in force at the broker. It is spec.externalID, until a
	// try whose outcome was unknown had to be undone: the next has a new one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ExternalID string `json:"externalID,omitempty"`
	// CallDeadline is until when a call of the current operation may still be on
	// its way to the broker. It also tells one call from another.
	// +optional
	CallDeadline *metav1.MicroTime `json:"callDeadline,omitempty"`
	// Retries counts the tries of the current operation that failed.
	// +optional
	Retries int32 `json:"retries,omitempty"`
	// RefusedRequest tells the request that the broker refused for good from others:
	// by the sum of its parameters, its plan, and whether that can be changed.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	RefusedRequest string `json:"refusedRequest,omitempty"`
	// NextRetry is when it is tried again; absent: at once, or not by itself.
	// +optional
	NextRetry *metav1.Time `json:"nextRetry,omitempty"`
	// FetchRequired says that the broker has made the binding, and that its
	// credentials are still to be fetched.
	// +optional
	FetchRequired bool `json:"fetchRequired,omitempty"`
	// Binding names the Secret, once it is complete: the Provisioned Service
	// of the Service Binding specification.
	// +optional
	Binding *LocalObjectReference `json:"binding,omitempty"`
	// InstanceRef names the binding's own instance, of a binding without
	// spec.instanceRef, once it was made.
	// +optional
	InstanceRef *LocalObjectReference `json:"instanceRef,omitempty"`
	// Secrets are the names of the Secrets that hold the credentials.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=253
	Secrets []string `json:"secrets,omitempty"`
	// ConfigMaps are the names of the ConfigMaps that hold what of them is not
	// secret.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=253
	ConfigMaps []string `json:"configMaps,omitempty"`
	// Service is the name of the Service in front of the broker's endpoints.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Service string `json:"service,omitempty"`
	// Endpoints are where the broker says that the service is, or where the keys
	// of spec.endpointsFrom say it: what the Service is made of, and made of again.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Endpoints []BindingEndpoint `json:"endpoints,omitempty"`
	// ControllerName is the name of the controller that handles it; empty for
	// the default one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ControllerName string `json:"controllerName,omitempty"`
	// ServiceType is the type of the plan that was bound to, as the plan or else its
	// class gives it, where spec.serviceType is empty. It follows a later change of theirs.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ServiceType string `json:"serviceType,omitempty"`
	// Credentials is what is known of the age of the credentials in the Secret.
	// +optional
	Credentials *CredentialsState `json:"credentials,omitempty"`
	// Rotation is the other binding at the broker while the credentials are
	// replaced: the new one, until the Secret has its credentials; then the
	// former one, until it is removed.
	// +optional
	Rotation *BindingRotation `json:"rotation,omitempty"`
}

// Started says whether a broker was called for the binding, whatever the outcome: admission decides
// nothing of it any more.
func (s *ServiceBindingStatus) Started() bool {
	untouched := s.UnbindStatus == "" || s.UnbindStatus == UnbindNotRequired
	return !untouched || s.AsyncOpInProgress || s.OrphanMitigationInProgress || s.CurrentOperation != "" || s.ExternalProperties != nil
}
