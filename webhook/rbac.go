package webhook

// What admission itself may do: read what its caches and its live reads hold,
// and ask who may do what. It writes nothing, and reads no Secret.

// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterserviceclasses;clusterserviceplans;clusterservicetypes;serviceclasses;serviceplans;servicetypes,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=servicebindings;serviceinstances,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=bindingpolicies;provisioningpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
