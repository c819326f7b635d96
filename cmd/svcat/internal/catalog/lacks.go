package catalog

import (
	"cmp"
	"errors"
	"slices"

	"github.com/defaultplan/defaultplan/resolve"
)

// A Lack is a type that gives no plan to an instance that names nothing else, in one
// scope, and why.
type Lack struct {
	// Type is the type's name, and the namespace of its plans; empty: the cluster.
	Type resolve.Ref
	Why  *resolve.Error
}

// Lacks are the types of a catalog that give no plan, by namespace and name. In a
// namespace the cluster's plans count too, as they do for an instance there. What
// Standings asks of the catalog holds here.
func Lacks(entries *resolve.Catalog) []Lack {
	var lacks []Lack
	parts := byType(entries)
	for group := range parts {
		_, err := resolve.Plan(resolve.Request{Namespace: group.Namespace, Type: group.Name}, seenFrom(group, parts))
		if why, ok := errors.AsType[*resolve.Error](err); ok {
			lacks = append(lacks, Lack{Type: group, Why: why})
		}
	}
	slices.SortFunc(lacks, func(a, b Lack) int {
		return cmp.Or(cmp.Compare(a.Type.Namespace, b.Type.Namespace), cmp.Compare(a.Type.Name, b.Type.Name))
	})
	return lacks
}
