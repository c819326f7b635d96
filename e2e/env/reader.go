package env

// The worked example of bindings: the plan gives read access and renames a key of the
// Secret; the binding asks for write access.
const (
	readerClass = "{externalName: NAME(c), externalID: NAME(c), serviceType: NAME(mysql), bindable: true, clusterServiceBrokerName: broker}"
	readerPlan  = "{externalName: NAME(p), externalID: NAME(p), clusterServiceBrokerName: broker, clusterServiceClassRef: {name: NAME(c)}, " +
		"defaultBindParameters: {user: reader, tls: true}, defaultSecretTransforms: [{renameKey: {from: db-name, to: database}}]}"
	readInstance = "{clusterServiceClassExternalName: NAME(c), clusterServicePlanExternalName: NAME(p)}"
	adminBinding = "{instanceRef: {name: mydb}, parameters: {user: admin}}"
)

// ReaderClass is the manifest of the class of the worked example.
func (e *Env) ReaderClass() string {
	return e.ManifestOf("ClusterServiceClass", e.Name("c"), readerClass)
}

// ReaderPlan is the manifest of its plan.
func (e *Env) ReaderPlan() string {
	return e.ManifestOf("ClusterServicePlan", e.Name("p"), readerPlan)
}

// ReadInstance is the manifest of its instance, "mydb".
func (e *Env) ReadInstance() string { return e.ManifestOf("ServiceInstance", "mydb", readInstance) }

// AdminBinding is the manifest of its binding, "creds".
func (e *Env) AdminBinding() string { return e.ManifestOf("ServiceBinding", "creds", adminBinding) }

// AddReader creates the class, the plan and the instance of the worked example.
func (e *Env) AddReader() {
	e.Helper()
	e.Create(
		e.Unwritten(Kind{Name: "ClusterServiceClass"}, e.Name("c"), readerClass),
		e.Unwritten(Kind{Name: "ClusterServicePlan"}, e.Name("p"), readerPlan),
		e.Unwritten(Kind{Name: "ServiceInstance", Namespaced: true}, "mydb", readInstance),
	)
}
