package catalog

// A Place is where to look for catalog objects.
type Place struct {
	// Cluster includes the cluster-scoped ones.
	Cluster bool
	// Namespaces includes those of Namespace, or of every namespace where that is
	// empty.
	Namespaces bool
	Namespace  string
}
