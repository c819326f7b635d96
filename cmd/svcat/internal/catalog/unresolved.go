package catalog

import (
	"cmp"
	"errors"
	"slices"

	"github.com/defaultplan/defaultplan/resolve"
)

// An Unresolved is a type that gives no plan to an instance that names nothing else, in one
// scope, and why.
type Unresolved struct {
	// Type is the type's name, and the namespace of its plans; empty: the cluster.
	Type resolve.Ref
	Why  *resolve.Error
}

// UnresolvedTypes are the types of a catalog that give no plan, by namespace and name. In a
// namespace the cluster's plans count too, as they do for an instance there. What
// EffectivePlans asks of the catalog holds here.
func UnresolvedTypes(entries *resolve.Catalog) []Unresolved {
	var unresolved []Unresolved
	parts := byType(entries)
	for group := range parts {
		_, err := resolve.Plan(resolve.Request{Namespace: group.Namespace, Type: group.Name}, seenFrom(group, parts))
		if why, ok := errors.AsType[*resolve.Error](err); ok {
			unresolved = append(unresolved, Unresolved{Type: group, Why: why})
		}
	}
	slices.SortFunc(unresolved, func(a, b Unresolved) int {
		return cmp.Or(cmp.Compare(a.Type.Namespace, b.Type.Namespace), cmp.Compare(a.Type.Name, b.Type.Name))
	})
	return unresolved
}
