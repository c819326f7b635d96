package cli

import (
	"github.com/spf13/pflag"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
)

// PlaceFlags say where to look for classes, plans, types and brokers:
//
//	(none)                      the cluster, and the current namespace
//	--cluster                   only the cluster
//	-n NAMESPACE                only that namespace
//	--cluster -n NAMESPACE      both
//	--cluster --all-namespaces  everything (as --all-namespaces alone)
//	--scope cluster|namespace|all   as svcat had it; it wins where it is given, and
//	                            --cluster with it may not contradict it
type PlaceFlags struct {
	Cluster       bool
	AllNamespaces bool
	Scope         string
}

// Bind adds the flags; --all-namespaces only where many says so: commands that write
// leave it out.
func (p *PlaceFlags) Bind(flags *pflag.FlagSet, many bool) {
	flags.BoolVar(&p.Cluster, "cluster", false, "Look in the cluster only; with --namespace, in both")
	flags.StringVar(&p.Scope, "scope", "", "Where to look: cluster, namespace or all")
	if many {
		flags.BoolVarP(&p.AllNamespaces, "all-namespaces", "A", false, "Look in the cluster and in every namespace; with --scope namespace, in every namespace")
	}
}

// Place is where the flags say to look.
func (p *PlaceFlags) Place(env *Env) (catalog.Place, error) {
	namespace, given, err := env.Namespace()
	if err != nil {
		return catalog.Place{}, err
	}
	if p.Cluster && p.Scope == "namespace" {
		return catalog.Place{}, Usagef("--cluster and --scope namespace contradict each other; give one of them")
	}
	place := catalog.Place{Cluster: true, Namespaces: true, Namespace: namespace}
	switch p.Scope {
	case "all":
	case "":
		place.Cluster = p.Cluster || !given || p.AllNamespaces
		place.Namespaces = !p.Cluster || given || p.AllNamespaces
	case "cluster":
		place.Namespaces = false
	case "namespace":
		place.Cluster = false
	default:
		return catalog.Place{}, Usagef("--scope is %q; allowed are cluster, namespace and all", p.Scope)
	}
	if p.AllNamespaces {
		place.Namespace = ""
	}
	return place, nil
}

// Nearest is where to look for one object that is only shown: as Place, but behind
// a namespace that --namespace names comes the cluster, as svcat always looked.
func (p *PlaceFlags) Nearest(env *Env) (catalog.Place, error) {
	place, err := p.Place(env)
	place.Cluster = place.Cluster || p.Scope == ""
	return place, err
}
