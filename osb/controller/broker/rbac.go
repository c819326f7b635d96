package broker

// The permissions of relists. Classes and plans are written by apply, which
// needs patch, and create if there is none yet; brokers by patches of status
// and finalizers. There is no permission for service types: a catalog cannot
// change the default that an operator chose.

// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterservicebrokers;servicebrokers,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterservicebrokers/status;servicebrokers/status,verbs=patch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterserviceclasses;clusterserviceplans;serviceclasses;serviceplans,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=clusterserviceclasses/status;clusterserviceplans/status;serviceclasses/status;serviceplans/status,verbs=patch
// +kubebuilder:rbac:groups=servicecatalog.k8s.io,resources=servicebindings;serviceinstances,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
