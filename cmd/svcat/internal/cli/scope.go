package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A Scope is where to look for objects of the kinds that exist in both scopes: in the
// cluster, in namespaces, or in both.
type Scope struct {
	// Cluster includes the cluster-scoped ones.
	Cluster bool
	// Namespaces includes those of Namespace, or of every namespace where that is empty.
	Namespaces bool
	Namespace  string
}

// ScopeOf is the scope of a namespace alone, or of the cluster if namespace is empty.
func ScopeOf(namespace string) Scope {
	return v1beta1.PerScope(namespace, Scope{Cluster: true}, Scope{Namespaces: true, Namespace: namespace})
}

// EveryNamespace says that it is all namespaces that are looked in.
func (s Scope) EveryNamespace() bool { return s.Namespaces && s.Namespace == "" }

// Split returns namespaces and cluster apart, the nearest first.
func (s Scope) Split() []Scope {
	var parts []Scope
	if s.Namespaces {
		parts = append(parts, Scope{Namespaces: true, Namespace: s.Namespace})
	}
	if s.Cluster {
		parts = append(parts, Scope{Cluster: true})
	}
	return parts
}

// String is the scope in a sentence.
func (s Scope) String() string {
	switch {
	case s.Cluster && s.EveryNamespace():
		return "the cluster and its namespaces"
	case s.Cluster && s.Namespaces:
		return fmt.Sprintf("the cluster and namespace %q", s.Namespace)
	case s.Cluster:
		return "the cluster"
	case s.EveryNamespace():
		return "any namespace"
	}
	return fmt.Sprintf("namespace %q", s.Namespace)
}

// NamespaceFlag is what names the scope of a namespace to a command, as in " -n dev"; empty
// for the cluster, which needs no flag.
func NamespaceFlag(namespace string) string { return v1beta1.PerScope(namespace, "", " -n "+namespace) }

// Qualified is a name with its namespace, as NAMESPACE/NAME; that of the cluster's has none.
func Qualified(namespace, name string) string {
	return strings.TrimPrefix(namespace+"/"+name, "/")
}

// ScopeFlags say where to look for classes, plans, types and brokers:
//
//	(none)                      the cluster, and the current namespace
//	--cluster                   only the cluster
//	-n NAMESPACE                only that namespace
//	--cluster -n NAMESPACE      both
//	--cluster --all-namespaces  everything (as --all-namespaces alone)
//	--scope cluster|namespace|all   as svcat had it; it wins where it is given, and
//	                            --cluster with it may not contradict it
type ScopeFlags struct {
	Cluster       bool
	AllNamespaces bool
	Scope         string
}

// Bind adds the flags; --all-namespaces only where many says so: commands that write
// leave it out.
func (f *ScopeFlags) Bind(flags *pflag.FlagSet, many bool) {
	flags.BoolVar(&f.Cluster, "cluster", false, "Look in the cluster only; with --namespace, in both")
	flags.StringVar(&f.Scope, "scope", "", "Where to look: cluster, namespace or all")
	if many {
		flags.BoolVarP(&f.AllNamespaces, "all-namespaces", "A", false, "Look in the cluster and in every namespace; with --scope namespace, in every namespace")
	}
}

// Resolve returns where the flags say to look.
func (f *ScopeFlags) Resolve(env *Env) (Scope, error) {
	namespace, given, err := env.Namespace()
	if err != nil {
		return Scope{}, err
	}
	if f.Cluster && f.Scope == "namespace" {
		return Scope{}, Usagef("--cluster and --scope namespace contradict each other; give one of them")
	}
	scope := Scope{Cluster: true, Namespaces: true, Namespace: namespace}
	switch f.Scope {
	case "all":
	case "":
		scope.Cluster = f.Cluster || !given || f.AllNamespaces
		scope.Namespaces = !f.Cluster || given || f.AllNamespaces
	case "cluster":
		scope.Namespaces = false
	case "namespace":
		scope.Cluster = false
	default:
		return Scope{}, Usagef("--scope is %q; allowed are cluster, namespace and all", f.Scope)
	}
	if f.AllNamespaces {
		scope.Namespace = ""
	}
	return scope, nil
}

// Nearest is where to look for one object that is only shown: as Resolve, but behind
// a namespace that --namespace names comes the cluster, as svcat always looked.
func (f *ScopeFlags) Nearest(env *Env) (Scope, error) {
	scope, err := f.Resolve(env)
	scope.Cluster = scope.Cluster || f.Scope == ""
	return scope, err
}
