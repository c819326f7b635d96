package keeper

// What the keeper may do. Its Lease is granted by name in
// deploy/rbac/keeper_role.yaml, by hand: create cannot be held to a name, the
// other verbs are. It writes by patches; the verb update on a service type is
// the permission to change defaults, which admission checks when the keeper
// moves an annotation.

// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterserviceclasses;clusterserviceplans;clusterservicetypes,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=serviceclasses;serviceplans;servicetypes;servicebindings;serviceinstances,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=bindingpolicies;provisioningpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=servicebindings;serviceinstances,verbs=patch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterserviceplans;serviceplans,verbs=patch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterservicetypes;servicetypes,verbs=create;delete;patch;update
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=bindingpolicies/status;clusterservicetypes/status;provisioningpolicies/status;servicetypes/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
