package suggest

import (
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// A scope is how commands name the cluster's catalog, or that of a namespace.
type scope struct {
	// svcat is its flag, after a space. Without one svcat looks in a namespace first, and what is
	// there would hide what the cluster has.
	svcat string
	// kubectl is its flag, before a space; nothing for the cluster.
	kubectl string
	// prefix begins the names of resources.
	prefix string
}

// scopeOf is the scope of a namespace, the cluster if it is empty.
func scopeOf(namespace string) scope {
	cluster := scope{svcat: " --cluster", prefix: "cluster"}
	return v1beta1.PerScope(namespace, cluster, scope{svcat: " -n " + namespace, kubectl: "-n " + namespace + " "})
}

// ObjectNamed is an object in a sentence; kind is that of a namespaced one.
func ObjectNamed(kind string, ref resolve.Ref) string {
	return fmt.Sprintf("%s %q", v1beta1.ScopedKind(ref.Namespace, kind), ref.Name)
}

// Resource is an object as kubectl takes it; resource is that of a namespaced one, such as
// serviceplan.
func Resource(resource string, ref resolve.Ref) string {
	s := scopeOf(ref.Namespace)
	return s.kubectl + s.prefix + resource + " " + ref.Name
}

// ScopedResource is the resource of a scope; resource is that of a namespace, such as
// servicetypes.
func ScopedResource(namespace, resource string) string { return scopeOf(namespace).prefix + resource }
