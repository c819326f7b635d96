package webhook

// What admission itself may do: read what its caches and its live reads hold, and ask who
// may do what. It writes nothing, and reads no Secret; that of its serving certificate is
// granted by name in deploy/certs/managed. No instance is kept in memory, so none is watched.

// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterserviceclasses;clusterserviceplans;clusterservicetypes;serviceclasses;serviceplans;servicetypes,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=serviceinstances,verbs=get;list
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=servicebindings,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=bindingpolicies;provisioningpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
