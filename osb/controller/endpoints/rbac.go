package endpoints

// What the Services of bindings need, in a ClusterRole of its own: it is granted where
// --endpoints is set, and nowhere else. deploy/vap holds the writes to Services that a
// binding owns, and says what a Service of the controller may be. ServiceCIDRs, and what is
// in namespace default, tell where no Service may lead.
//
// +kubebuilder:rbac:groups="",resources=services,verbs=get;create;update;delete
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get;list;create;update;delete
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=localsubjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=networking.k8s.io,resources=servicecidrs,verbs=list
