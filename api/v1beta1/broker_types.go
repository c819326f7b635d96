package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterServiceBroker registers a service broker whose catalog the whole
// cluster may use.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=csb,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=URL,type=string,description="The address of the broker.",JSONPath=`.spec.url`
// +kubebuilder:printcolumn:name=Ready,type=string,description="Whether it can be used: True, False or Unknown.",JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Status,type=string,description="Why, in one word.",JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,description="Why, in a sentence.",JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type ClusterServiceBroker struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is how to reach the broker and what to take from its catalog.
	// +required
	Spec ClusterServiceBrokerSpec `json:"spec"`
	// Status is what was last observed of the broker.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ClusterServiceBrokerStatus `json:"status,omitempty"`
}

// ClusterServiceBrokerList is a list of cluster-scoped brokers.
// +kubebuilder:object:root=true
type ClusterServiceBrokerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the brokers.
	Items []ClusterServiceBroker `json:"items"`
}

// ServiceBroker registers a service broker whose catalog one namespace may use.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sbr,categories=svcat
// +kubebuilder:metadata:labels="svcat=true"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, this group is served by an independent project"
// +kubebuilder:printcolumn:name=URL,type=string,description="The address of the broker.",JSONPath=`.spec.url`
// +kubebuilder:printcolumn:name=Ready,type=string,description="Whether it can be used: True, False or Unknown.",JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Status,type=string,description="Why, in one word.",JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,description="The time since creation.",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,description="Why, in a sentence.",JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type ServiceBroker struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is how to reach the broker and what to take from its catalog.
	// +required
	Spec ServiceBrokerSpec `json:"spec"`
	// Status is what was last observed of the broker.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ServiceBrokerStatus `json:"status,omitempty"`
}

// ServiceBrokerList is a list of namespaced brokers.
// +kubebuilder:object:root=true
type ServiceBrokerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the brokers.
	Items []ServiceBroker `json:"items"`
}

// ClusterServiceBrokerSpec is how to reach a cluster-scoped broker.
// +kubebuilder:validation:XValidation:rule=`(has(self.controllerName) ? self.controllerName : "") == (has(oldSelf.controllerName) ? oldSelf.controllerName : "")`,message="controllerName cannot change: put the stored value back, or make a new broker",fieldPath=`.controllerName`
// +kubebuilder:validation:XValidation:rule=`!self.?insecureSkipTLSVerify.orValue(false) || !has(self.caBundle) || size(self.caBundle) == 0`,message="caBundle cannot be used when insecureSkipTLSVerify is true: remove one",fieldPath=`.caBundle`
// +kubebuilder:validation:XValidation:rule=`!has(self.relistDuration) || duration(self.relistDuration) > duration('0s')`,message="relistDuration must be more than nothing, such as 15m; remove it for the controller's default",fieldPath=`.relistDuration`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.relistRequests) || !has(self.relistRequests) || self.relistRequests == 0 || self.relistRequests >= oldSelf.relistRequests`,message="relistRequests counts requests and cannot go back: raise it, or leave it out",fieldPath=`.relistRequests`
type ClusterServiceBrokerSpec struct {
	CommonServiceBrokerSpec `json:",inline"`

	// AuthInfo names the Secret with the credentials for the broker. Absent:
	// no credentials are sent.
	// +optional
	AuthInfo *ClusterServiceBrokerAuthInfo `json:"authInfo,omitempty"`
}

// ServiceBrokerSpec is how to reach a namespaced broker.
// +kubebuilder:validation:XValidation:rule=`(has(self.controllerName) ? self.controllerName : "") == (has(oldSelf.controllerName) ? oldSelf.controllerName : "")`,message="controllerName cannot change: put the stored value back, or make a new broker",fieldPath=`.controllerName`
// +kubebuilder:validation:XValidation:rule=`!self.?insecureSkipTLSVerify.orValue(false) || !has(self.caBundle) || size(self.caBundle) == 0`,message="caBundle cannot be used when insecureSkipTLSVerify is true: remove one",fieldPath=`.caBundle`
// +kubebuilder:validation:XValidation:rule=`!has(self.relistDuration) || duration(self.relistDuration) > duration('0s')`,message="relistDuration must be more than nothing, such as 15m; remove it for the controller's default",fieldPath=`.relistDuration`
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.relistRequests) || !has(self.relistRequests) || self.relistRequests == 0 || self.relistRequests >= oldSelf.relistRequests`,message="relistRequests counts requests and cannot go back: raise it, or leave it out",fieldPath=`.relistRequests`
type ServiceBrokerSpec struct {
	CommonServiceBrokerSpec `json:",inline"`

	// AuthInfo names the Secret with the credentials for the broker, in the
	// broker's namespace. Absent: no credentials are sent.
	// +optional
	AuthInfo *ServiceBrokerAuthInfo `json:"authInfo,omitempty"`
}

// RelistBehavior says when a broker's catalog is fetched again.
// +kubebuilder:validation:Enum="";Duration;Manual
type RelistBehavior string

// The relist behaviours.
const (
	// RelistDuration fetches the catalog again after a time. The default.
	RelistDuration RelistBehavior = "Duration"
	// RelistManual fetches the catalog again when the spec changes.
	RelistManual RelistBehavior = "Manual"
)

// CommonServiceBrokerSpec is what brokers of both scopes share.
type CommonServiceBrokerSpec struct {
	// URL is the address of the broker, without /v2, such as
	// https://broker.example.com.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule=`isURL(self) && url(self).getScheme() in ["http", "https"] && url(self).getHostname() != ""`,message="url must be an http or https address with a host: write the whole of it, such as https://broker.example.com"
	URL string `json:"url"`
	// InsecureSkipTLSVerify accepts any certificate of the broker. Not
	// together with caBundle.
	// +optional
	InsecureSkipTLSVerify bool `json:"insecureSkipTLSVerify,omitempty"`
	// CABundle is the PEM bundle of authorities that may sign the broker's
	// certificate, in base64 on the wire. Absent: the system's authorities.
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:MaxLength=1048576
	// +kubebuilder:validation:Pattern=`^[\r\n]*(([A-Za-z0-9+/][\r\n]*){4})*(([A-Za-z0-9+/][\r\n]*){2}=[\r\n]*=[\r\n]*|([A-Za-z0-9+/][\r\n]*){3}=[\r\n]*)?$`
	CABundle []byte `json:"caBundle,omitempty"`
	// RelistBehavior says when the catalog is fetched again: Duration (after
	// relistDuration, the default) or Manual (when the spec changes).
	// +optional
	RelistBehavior RelistBehavior `json:"relistBehavior,omitempty"`
	// RelistDuration is the time between two fetches, such as 15m or 24h; less
	// than 1m counts as 1m. Absent: the controller's default.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	RelistDuration *metav1.Duration `json:"relistDuration,omitempty"`
	// RelistRequests is a counter; raising it asks for a fetch now. 0 means
	// not set and keeps the stored value.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RelistRequests int64 `json:"relistRequests,omitempty"`
	// CatalogRestrictions says which classes and plans of the catalog to take.
	// Absent: all.
	// +optional
	CatalogRestrictions *CatalogRestrictions `json:"catalogRestrictions,omitempty"`
	// ControllerName says which controller handles this broker, when several
	// run. It cannot change. Absent: the default controller.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ControllerName string `json:"controllerName,omitempty"`
	// NameSuffix is put behind the names of this broker's classes and plans,
	// to tell equal IDs of two brokers apart. Lower-case letters, digits and
	// inner hyphens, at most 20.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	NameSuffix string `json:"nameSuffix,omitempty"`
}

// CatalogRestrictions says which classes and plans of a catalog to take. Each
// entry is a label selector over properties, such as
// "spec.externalName in (basic50, premium-p1)"; all entries must match.
type CatalogRestrictions struct {
	// ServiceClass are selectors over name, spec.externalName and
	// spec.externalID of classes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=4096
	ServiceClass []string `json:"serviceClass,omitempty"`
	// ServicePlan are selectors over name, spec.externalName, spec.externalID,
	// spec.free and spec.clusterServiceClass.name or spec.serviceClass.name of
	// plans.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=4096
	ServicePlan []string `json:"servicePlan,omitempty"`
}

// ClusterServiceBrokerAuthInfo names the credentials for a cluster-scoped
// broker. If both fields are set, basic is used.
// +kubebuilder:validation:XValidation:rule=`has(self.basic) || has(self.bearer)`,message="authInfo needs basic or bearer: set one, or remove authInfo",reason=FieldValueRequired
type ClusterServiceBrokerAuthInfo struct {
	// Basic is for HTTP basic authentication.
	// +optional
	Basic *ClusterBasicAuthConfig `json:"basic,omitempty"`
	// Bearer is for a bearer token.
	// +optional
	Bearer *ClusterBearerTokenAuthConfig `json:"bearer,omitempty"`
}

// ClusterBasicAuthConfig names a Secret for HTTP basic authentication.
// +kubebuilder:validation:XValidation:rule=`self.?secretRef.?name.orValue("") != "" && self.?secretRef.?__namespace__.orValue("") != ""`,message="secretRef.namespace and secretRef.name are required: name the Secret with the keys username and password",reason=FieldValueRequired
type ClusterBasicAuthConfig struct {
	// SecretRef names the Secret with the keys username and password.
	// +optional
	SecretRef *ObjectReference `json:"secretRef,omitempty"`
}

// ClusterBearerTokenAuthConfig names a Secret with a bearer token.
// +kubebuilder:validation:XValidation:rule=`self.?secretRef.?name.orValue("") != "" && self.?secretRef.?__namespace__.orValue("") != ""`,message="secretRef.namespace and secretRef.name are required: name the Secret with the key token",reason=FieldValueRequired
type ClusterBearerTokenAuthConfig struct {
	// SecretRef names the Secret with the key token.
	// +optional
	SecretRef *ObjectReference `json:"secretRef,omitempty"`
}

// ServiceBrokerAuthInfo names the credentials for a namespaced broker. If both
// fields are set, basic is used.
// +kubebuilder:validation:XValidation:rule=`has(self.basic) || has(self.bearer)`,message="authInfo needs basic or bearer: set one, or remove authInfo",reason=FieldValueRequired
type ServiceBrokerAuthInfo struct {
	// Basic is for HTTP basic authentication.
	// +optional
	Basic *BasicAuthConfig `json:"basic,omitempty"`
	// Bearer is for a bearer token.
	// +optional
	Bearer *BearerTokenAuthConfig `json:"bearer,omitempty"`
}

// BasicAuthConfig names a Secret for HTTP basic authentication.
// +kubebuilder:validation:XValidation:rule=`self.?secretRef.?name.orValue("") != ""`,message="secretRef.name is required: name the Secret with the keys username and password",reason=FieldValueRequired
type BasicAuthConfig struct {
	// SecretRef names the Secret with the keys username and password.
	// +optional
	SecretRef *LocalObjectReference `json:"secretRef,omitempty"`
}

// BearerTokenAuthConfig names a Secret with a bearer token.
// +kubebuilder:validation:XValidation:rule=`self.?secretRef.?name.orValue("") != ""`,message="secretRef.name is required: name the Secret with the key token",reason=FieldValueRequired
type BearerTokenAuthConfig struct {
	// SecretRef names the Secret with the key token.
	// +optional
	SecretRef *LocalObjectReference `json:"secretRef,omitempty"`
}

// ClusterServiceBrokerStatus is what was last observed of a cluster-scoped
// broker.
type ClusterServiceBrokerStatus struct {
	CommonServiceBrokerStatus `json:",inline"`
}

// ServiceBrokerStatus is what was last observed of a namespaced broker.
type ServiceBrokerStatus struct {
	CommonServiceBrokerStatus `json:",inline"`
}

// CommonServiceBrokerStatus is what brokers of both scopes share.
type CommonServiceBrokerStatus struct {
	// Conditions are Ready, Failed, CatalogComplete, CatalogShrank, Reconciling and
	// Stalled.
	// +optional
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []Condition `json:"conditions"`
	// ObservedGeneration is the metadata.generation that was last acted on;
	// -1 before the first time.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ReconciledGeneration is the metadata.generation whose catalog was last
	// taken over completely.
	// +optional
	ReconciledGeneration int64 `json:"reconciledGeneration"`
	// OperationStartTime is when the fetch that is being tried began.
	// +optional
	OperationStartTime *metav1.Time `json:"operationStartTime,omitempty"`
	// LastCatalogRetrievalTime is when the catalog was last fetched.
	// +optional
	LastCatalogRetrievalTime *metav1.Time `json:"lastCatalogRetrievalTime,omitempty"`
	// LastConditionState is the type of the last condition if it is True, else
	// its reason.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LastConditionState string `json:"lastConditionState"`
	// CatalogETag is the validator that came with the catalog that was last taken
	// over completely.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	CatalogETag string `json:"catalogETag,omitempty"`
	// Retries counts the fetches that failed since one succeeded.
	// +optional
	Retries int32 `json:"retries,omitempty"`
	// NextRetry is when the catalog is fetched again after a failure, or to see
	// whether it is true that it shrank.
	// +optional
	NextRetry *metav1.Time `json:"nextRetry,omitempty"`
	// ControllerName is the name of the controller that handles it; empty for
	// the default one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ControllerName string `json:"controllerName,omitempty"`
	// CredentialsSecret is the Secret of authInfo that the controller keeps from going
	// before the broker, by a finalizer; of ServiceBrokers only.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecret string `json:"credentialsSecret,omitempty"`
}
