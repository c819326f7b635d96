package endpoints

// The permissions for the Services of bindings, in a ClusterRole of its own,
// which is only granted with --endpoints. deploy/vap restricts the writes to
// Services that a binding owns, and what a Service of the controller may be.
// ServiceCIDRs, and objects in namespace default, show where no Service may
// lead.
//
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=localsubjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=servicebindings,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=servicebindings/status,verbs=patch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=servicecidrs,verbs=list
