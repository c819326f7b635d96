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
func (m *Manifests) ReaderClass() string {
	return m.ManifestOf("ClusterServiceClass", m.Name("c"), readerClass)
}

// ReaderPlan is the manifest of its plan.
func (m *Manifests) ReaderPlan() string {
	return m.ManifestOf("ClusterServicePlan", m.Name("p"), readerPlan)
}

// ReadInstance is the manifest of its instance, "mydb".
func (m *Manifests) ReadInstance() string {
	return m.ManifestOf("ServiceInstance", "mydb", readInstance)
}

// AdminBinding is the manifest of its binding, "creds".
func (m *Manifests) AdminBinding() string {
	return m.ManifestOf("ServiceBinding", "creds", adminBinding)
}

// AddReader creates the class, the plan and the instance of the worked example.
func (m *Manifests) AddReader() {
	m.Helper()
	m.Create(
		m.Unwritten(Kind{Name: "ClusterServiceClass"}, m.Name("c"), readerClass),
		m.Unwritten(Kind{Name: "ClusterServicePlan"}, m.Name("p"), readerPlan),
		m.Unwritten(Kind{Name: "ServiceInstance", Namespaced: true}, "mydb", readInstance),
	)
}
