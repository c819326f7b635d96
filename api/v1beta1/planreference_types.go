package v1beta1

// PlanReference names a class and a plan as a person does: by external name,
// by external ID or by Kubernetes name, in one scope. An empty string is the
// same as an absent field.
type PlanReference struct {
	// ClusterServiceClassExternalName is the name of a cluster-scoped class as
	// its broker calls it, such as azure-mysql.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ClusterServiceClassExternalName string `json:"clusterServiceClassExternalName,omitempty"`
	// ClusterServicePlanExternalName is the name of a cluster-scoped plan as
	// its broker calls it, such as basic50.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ClusterServicePlanExternalName string `json:"clusterServicePlanExternalName,omitempty"`
	// ClusterServiceClassExternalID is the ID of a cluster-scoped class at its
	// broker.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ClusterServiceClassExternalID string `json:"clusterServiceClassExternalID,omitempty"`
	// ClusterServicePlanExternalID is the ID of a cluster-scoped plan at its
	// broker.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ClusterServicePlanExternalID string `json:"clusterServicePlanExternalID,omitempty"`
	// ClusterServiceClassName is the metadata.name of a ClusterServiceClass.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClusterServiceClassName string `json:"clusterServiceClassName,omitempty"`
	// ClusterServicePlanName is the metadata.name of a ClusterServicePlan.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClusterServicePlanName string `json:"clusterServicePlanName,omitempty"`
	// ServiceClassExternalName is the name of a class in this namespace as its
	// broker calls it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ServiceClassExternalName string `json:"serviceClassExternalName,omitempty"`
	// ServicePlanExternalName is the name of a plan in this namespace as its
	// broker calls it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ServicePlanExternalName string `json:"servicePlanExternalName,omitempty"`
	// ServiceClassExternalID is the ID of a class in this namespace at its
	// broker.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ServiceClassExternalID string `json:"serviceClassExternalID,omitempty"`
	// ServicePlanExternalID is the ID of a plan in this namespace at its
	// broker.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ServicePlanExternalID string `json:"servicePlanExternalID,omitempty"`
	// ServiceClassName is the metadata.name of a ServiceClass in this
	// namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceClassName string `json:"serviceClassName,omitempty"`
	// ServicePlanName is the metadata.name of a ServicePlan in this namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServicePlanName string `json:"servicePlanName,omitempty"`
}

// DecidedReference is the class and plan that admission decided on, by
// Kubernetes name. An object is decided when it has one of the plan refs.
type DecidedReference struct {
	// ClusterServiceClassRef is the cluster-scoped class that was decided on.
	// Written at admission, not by users.
	// +optional
	ClusterServiceClassRef *ClusterObjectReference `json:"clusterServiceClassRef,omitempty"`
	// ClusterServicePlanRef is the cluster-scoped plan that was decided on.
	// Written at admission, not by users.
	// +optional
	ClusterServicePlanRef *ClusterObjectReference `json:"clusterServicePlanRef,omitempty"`
	// ServiceClassRef is the class of this namespace that was decided on.
	// Written at admission, not by users.
	// +optional
	ServiceClassRef *LocalObjectReference `json:"serviceClassRef,omitempty"`
	// ServicePlanRef is the plan of this namespace that was decided on.
	// Written at admission, not by users.
	// +optional
	ServicePlanRef *LocalObjectReference `json:"servicePlanRef,omitempty"`
}

// Decided says whether a plan was decided on.
func (r *DecidedReference) Decided() bool {
	if r.ClusterServicePlanRef != nil && r.ClusterServicePlanRef.Name != "" {
		return true
	}
	return r.ServicePlanRef != nil && r.ServicePlanRef.Name != ""
}

// ClusterObjectReference names a cluster-scoped object.
type ClusterObjectReference struct {
	// Name is the metadata.name of the object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Name string `json:"name,omitempty"`
}

// LocalObjectReference names an object in the namespace of the object that
// holds the reference.
type LocalObjectReference struct {
	// Name is the metadata.name of the object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Name string `json:"name,omitempty"`
}

// ObjectReference names an object in any namespace.
type ObjectReference struct {
	// Namespace is the namespace of the object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	Namespace string `json:"namespace,omitempty"`
	// Name is the metadata.name of the object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Name string `json:"name,omitempty"`
}
