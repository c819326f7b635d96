package keeper

// What the keeper may do. Its Lease is granted by name in
// deploy/rbac/keeper_role.yaml, by hand: create cannot be held to a name, the
// other verbs are.

// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterserviceclasses;clusterserviceplans;clusterservicetypes;serviceclasses;serviceinstances;serviceplans;servicetypes,verbs=get;list;watch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=serviceinstances,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
