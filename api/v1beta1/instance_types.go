package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ServiceInstance is a service that was, or is to be, provisioned at a broker.
// It names a service type, a class, a class and a plan, or selects a plan by
// its labels; admission decides on one plan, once.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=si,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=Type,type=string,description="The service type.",JSONPath=`.*.serviceType`
// +kubebuilder:printcolumn:name=Class,type=string,description="The external name of the class that was decided on.",JSONPath=`.status.userSpecifiedClassName`
// +kubebuilder:printcolumn:name=Plan,type=string,description="The external name of the plan that was decided on.",JSONPath=`.status.userSpecifiedPlanName`
// +kubebuilder:printcolumn:name=Ready,type=string,description="Whether it can be used: True, False or Unknown.",JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Status,type=string,description="Why, in one word.",JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Class-ID,type=string,priority=1,description="The name of the class's object.",JSONPath=`.spec['clusterServiceClassRef','serviceClassRef'].name`
// +kubebuilder:printcolumn:name=Plan-ID,type=string,priority=1,description="The name of the plan's object.",JSONPath=`.spec['clusterServicePlanRef','servicePlanRef'].name`
// +kubebuilder:printcolumn:name=External-ID,type=string,priority=1,description="The ID at the broker.",JSONPath=`.spec.externalID`
// +kubebuilder:printcolumn:name=Operation,type=string,priority=1,description="The operation that runs at the broker.",JSONPath=`.status.currentOperation`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,description="Why, in a sentence.",JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:selectablefield:JSONPath=`.spec.externalID`
// +kubebuilder:selectablefield:JSONPath=`.status.externalID`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceType`
// +kubebuilder:selectablefield:JSONPath=`.status.serviceType`
// +kubebuilder:selectablefield:JSONPath=`.spec.clusterServiceClassRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.clusterServicePlanRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.serviceClassRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.servicePlanRef.name`
type ServiceInstance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what was asked for, and what admission made of it.
	// +required
	Spec ServiceInstanceSpec `json:"spec"`
	// Status is what was last observed of the instance.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ServiceInstanceStatus `json:"status,omitempty"`
}

// ServiceInstanceList is a list of instances.
// +kubebuilder:object:root=true
type ServiceInstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the instances.
	Items []ServiceInstance `json:"items"`
}

// ServiceInstanceSpec is what is asked of an instance.
// +kubebuilder:validation:XValidation:rule=`!([self.?clusterServiceClassExternalName, self.?clusterServiceClassExternalID, self.?clusterServiceClassName, self.?clusterServicePlanExternalName, self.?clusterServicePlanExternalID, self.?clusterServicePlanName, self.?clusterServiceClassRef.?name, self.?clusterServicePlanRef.?name].exists(n, n.orValue("") != "") && [self.?serviceClassExternalName, self.?serviceClassExternalID, self.?serviceClassName, self.?servicePlanExternalName, self.?servicePlanExternalID, self.?servicePlanName, self.?serviceClassRef.?name, self.?servicePlanRef.?name].exists(n, n.orValue("") != ""))`,message="a class and plan are named either cluster-wide (clusterServiceClass... and clusterServicePlan... fields) or in this namespace (serviceClass... and servicePlan... fields), not both: remove one kind",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`(self.?planSelector.matchLabels.orValue({}).size() == 0 && self.?planSelector.matchExpressions.orValue([]).size() == 0) || ![self.?clusterServicePlanExternalName, self.?clusterServicePlanExternalID, self.?clusterServicePlanName, self.?servicePlanExternalName, self.?servicePlanExternalID, self.?servicePlanName].exists(n, n.orValue("") != "") || self.?clusterServicePlanRef.?name.orValue("") != "" || self.?servicePlanRef.?name.orValue("") != ""`,message="planSelector and a named plan exclude each other until a plan is decided on: remove one",fieldPath=`.planSelector`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`(oldSelf.?clusterServiceClassRef.?name.orValue("") == "" && oldSelf.?serviceClassRef.?name.orValue("") == "") || self.?clusterServiceClassRef.?name.orValue("") != "" || self.?serviceClassRef.?name.orValue("") != ""`,message="clusterServiceClassRef or serviceClassRef cannot be removed once set: leave it as it is stored",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`(oldSelf.?clusterServicePlanRef.?name.orValue("") == "" && oldSelf.?servicePlanRef.?name.orValue("") == "") || self.?clusterServicePlanRef.?name.orValue("") != "" || self.?servicePlanRef.?name.orValue("") != ""`,message="clusterServicePlanRef or servicePlanRef cannot be removed once set: leave it as it is stored",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`oldSelf.?serviceType.orValue("") == "" || self.?serviceType.orValue("") != ""`,message="serviceType cannot be removed once set: leave it as it is stored, or make a new instance",fieldPath=`.serviceType`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.serviceType) || oldSelf.serviceType == "" || !has(self.serviceType) || self.serviceType == "" || self.serviceType == oldSelf.serviceType || (oldSelf.?clusterServicePlanRef.?name.orValue("") == "" && oldSelf.?servicePlanRef.?name.orValue("") == "")`,message="serviceType cannot change once a plan is decided on: put the stored value back, or make a new instance",fieldPath=`.serviceType`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.externalID) || oldSelf.externalID == "" || (has(self.externalID) && self.externalID == oldSelf.externalID)`,message="externalID cannot be changed or removed once set: put the stored value back, or make a new instance",fieldPath=`.externalID`
type ServiceInstanceSpec struct {
	PlanReference `json:",inline"`

	// ServiceType asks for the default plan of a type, such as mysql: a DNS
	// label. Beside a named class it narrows the plans; beside a named plan it
	// only describes. It cannot change once a plan is decided on.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	ServiceType string `json:"serviceType,omitempty"`
	// PlanSelector asks for the heaviest plan whose labels, over those of its
	// class, match. A named class or type narrows it. Not together with a
	// named plan. At most 64 labels and expressions, and 256 values in the expressions.
	// +optional
	PlanSelector *metav1.LabelSelector `json:"planSelector,omitempty"`

	DecidedReference `json:",inline"`

	// Parameters is a JSON object that is sent to the broker. Defaults of class
	// and plan are merged into it at admission; a null takes a default away.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Parameters *runtime.RawExtension `json:"parameters,omitempty"`
	// ParametersFrom are Secrets with more parameters. A key that is also
	// written in parameters is an error; over a default the Secret wins.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	ParametersFrom []ParametersFromSource `json:"parametersFrom,omitempty"`
	// ExternalID is the ID of the instance at the broker. Minted at admission
	// when empty; it cannot change.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ExternalID string `json:"externalID"`
	// UserInfo is the user who last changed the spec. Written at admission.
	// +optional
	UserInfo *UserInfo `json:"userInfo,omitempty"`
	// UpdateRequests is a counter; raising it asks for another try or for an
	// update now. 0 means not set and keeps the stored value.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UpdateRequests int64 `json:"updateRequests,omitempty"`
	// Sharing says who may bind to this instance from other namespaces.
	// Absent: no new bindings from other namespaces; existing ones stay.
	// +optional
	Sharing *Sharing `json:"sharing,omitempty"`
}

// Sharing says which other namespaces may bind to an instance. A namespace
// that either field names may.
type Sharing struct {
	// Namespaces are names of namespaces.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespaces []string `json:"namespaces,omitempty"`
	// NamespaceSelector selects namespaces by their labels. {} selects all.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// WhenWithdrawn is Unbind to delete the bindings of namespaces that may not
	// bind any more. Absent: they stay, and say so.
	// +optional
	WhenWithdrawn WhenWithdrawn `json:"whenWithdrawn,omitempty"`
}

// WhenWithdrawn says what becomes of the bindings of a namespace that may not
// bind any more.
// +kubebuilder:validation:Enum="";Unbind
type WhenWithdrawn string

// WithdrawnUnbind deletes such bindings.
const WithdrawnUnbind WhenWithdrawn = "Unbind"

// InstanceOperation is an operation on an instance.
// +kubebuilder:validation:Enum="";Provision;Update;Deprovision
type InstanceOperation string

// The operations on an instance.
const (
	InstanceProvision   InstanceOperation = "Provision"
	InstanceUpdate      InstanceOperation = "Update"
	InstanceDeprovision InstanceOperation = "Deprovision"
)

// ProvisionStatus says whether an instance exists at its broker.
// +kubebuilder:validation:Enum="";Provisioned;NotProvisioned
type ProvisionStatus string

// The provision statuses.
const (
	Provisioned    ProvisionStatus = "Provisioned"
	NotProvisioned ProvisionStatus = "NotProvisioned"
)

// DeprovisionStatus says what is left to do at the broker at deletion.
// +kubebuilder:validation:Enum="";NotRequired;Required;Succeeded;Failed
type DeprovisionStatus string

// The deprovision statuses.
const (
	DeprovisionNotRequired DeprovisionStatus = "NotRequired"
	DeprovisionRequired    DeprovisionStatus = "Required"
	DeprovisionSucceeded   DeprovisionStatus = "Succeeded"
	DeprovisionFailed      DeprovisionStatus = "Failed"
)

// ServiceInstanceStatus is what was last observed of an instance.
type ServiceInstanceStatus struct {
	// Conditions are Ready, Failed, OrphanMitigation, Resolved, Reconciling and
	// Stalled.
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
	// OrphanMitigationInProgress says that an instance of unknown outcome is
	// being removed at the broker.
	// +optional
	OrphanMitigationInProgress bool `json:"orphanMitigationInProgress"`
	// KeepExternalID says that the broker itself answered the request whose outcome
	// is removed: if it answers the removal at once, the ID is used again.
	// +optional
	KeepExternalID bool `json:"keepExternalID,omitempty"`
	// LastOperation is the broker's key for the operation it works on.
	// +optional
	// +kubebuilder:validation:MaxLength=10000
	LastOperation *string `json:"lastOperation,omitempty"`
	// DashboardURL is where the broker shows the instance to people.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	DashboardURL *string `json:"dashboardURL,omitempty"`
	// CurrentOperation is Provision, Update, Deprovision, or empty when no
	// operation runs.
	// +optional
	CurrentOperation InstanceOperation `json:"currentOperation,omitempty"`
	// ReconciledGeneration is the metadata.generation that was last brought to
	// the broker. Deprecated: use observedGeneration and provisionStatus.
	// +optional
	ReconciledGeneration int64 `json:"reconciledGeneration"`
	// ObservedGeneration is the metadata.generation that was last acted on;
	// -1 before the first time.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration"`
	// OperationStartTime is when the current operation began.
	// +optional
	OperationStartTime *metav1.Time `json:"operationStartTime,omitempty"`
	// InProgressProperties is what the current operation sends to the broker.
	// +optional
	InProgressProperties *ServiceInstancePropertiesState `json:"inProgressProperties,omitempty"`
	// ExternalProperties is what the broker last accepted.
	// +optional
	ExternalProperties *ServiceInstancePropertiesState `json:"externalProperties,omitempty"`
	// ProvisionStatus is Provisioned, NotProvisioned or empty.
	// +optional
	ProvisionStatus ProvisionStatus `json:"provisionStatus"`
	// DeprovisionStatus is NotRequired, Required, Succeeded, Failed or empty.
	// +optional
	DeprovisionStatus DeprovisionStatus `json:"deprovisionStatus"`
	// DefaultProvisionParameters are the defaults that the retired catalog
	// applied. Not written any more: see the annotation applied-defaults.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	DefaultProvisionParameters *runtime.RawExtension `json:"defaultProvisionParameters,omitempty"`
	// LastConditionState is the type of the last condition if it is True, else
	// its reason.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LastConditionState string `json:"lastConditionState"`
	// UserSpecifiedPlanName is the external name of the plan that was decided on; until then, the
	// plan as the user named it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	UserSpecifiedPlanName string `json:"userSpecifiedPlanName"`
	// UserSpecifiedClassName is the external name of the class that was decided on; until then,
	// the class as the user named it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	UserSpecifiedClassName string `json:"userSpecifiedClassName"`
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
	// FetchRequired says that the broker has an instance of this ID already, which
	// is still to be fetched and compared.
	// +optional
	FetchRequired bool `json:"fetchRequired,omitempty"`
	// Unusable says that the broker cannot serve new bindings of this instance
	// until it is repaired or deleted.
	// +optional
	Unusable bool `json:"unusable,omitempty"`
	// ControllerName is the name of the controller that handles it; empty for
	// the default one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ControllerName string `json:"controllerName,omitempty"`
	// ServiceType is the type of the plan that was decided on, as the plan or else its
	// class gives it, where spec.serviceType is empty. It follows a later change of theirs.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ServiceType string `json:"serviceType,omitempty"`
}

// Started says whether a broker was called for the instance, whatever the outcome.
func (s *ServiceInstanceStatus) Started() bool {
	untouched := s.DeprovisionStatus == "" || s.DeprovisionStatus == DeprovisionNotRequired
	return !untouched || s.AsyncOpInProgress || s.OrphanMitigationInProgress ||
		s.CurrentOperation != "" || s.ProvisionStatus == Provisioned || s.ExternalProperties != nil
}
