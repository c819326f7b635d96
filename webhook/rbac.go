package webhook

// The permissions of admission: to read what its caches and live reads need,
// and to create SubjectAccessReviews. It writes nothing, and reads no Secret
// except that of its serving certificate, which deploy/certs/managed grants by
// name. Instances are not cached, so they are not watched.

// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterserviceclasses;clusterserviceplans;clusterservicetypes;serviceclasses;serviceplans;servicetypes,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=serviceinstances,verbs=get;list
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=servicebindings,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=bindingpolicies;provisioningpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
