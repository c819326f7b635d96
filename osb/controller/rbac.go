package controller

// What the controller may do, and nothing more. Secrets are read by name: there is no
// right to list or watch them; deploy/vap holds its writes to those that it owns. Its finalizer
// of classes and plans is written by the patches that relisting may make. The Service and the
// EndpointSlice "kubernetes" tell where the API server is, which no ServiceBroker may be; the
// rights to the Services of bindings are in endpoints/rbac.go.
//
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=serviceinstances;servicebindings,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=servicebindings,verbs=delete
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=serviceinstances,verbs=create;delete
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=serviceinstances/status;servicebindings/status,verbs=patch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=serviceinstances/finalizers;servicebindings/finalizers,verbs=update
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterservicebrokers;servicebrokers;clusterserviceclasses;serviceclasses;clusterserviceplans;serviceplans,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=provisioningpolicies;bindingpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;update;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;create;update;delete
// +kubebuilder:rbac:groups="",resources=services,resourceNames=kubernetes,verbs=get
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,resourceNames=kubernetes,verbs=get
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=cluster-info,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
