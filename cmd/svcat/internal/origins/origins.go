// Package origins tells where parameters come from: the class, the plan, the user or a Secret.
package origins

import (
	"maps"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/merge"
)

// Of are the roots of the subtrees that one layer gave, each with that layer. values are the
// parameters as they are stored, and sent those that the broker was sent.
func Of(values, sent map[string]any, record v1beta1.AppliedDefaults) *printer.Pairs {
	found := map[string]string{}
	removed := map[merge.Pointer]bool{}
	for _, pointer := range record.Removed {
		removed[merge.Pointer(pointer)] = true
		found[pointer] = "nowhere, the user's null took the default away"
	}
	// mixed are the objects that hold defaults below them.
	mixed := map[merge.Pointer]bool{}
	for _, pointer := range slices.Concat(slices.Collect(maps.Keys(record.From)), record.Removed) {
		at := merge.Pointer("")
		for _, token := range merge.Pointer(pointer).Tokens() {
			mixed[at] = true
			at = at.Child(token)
		}
	}
	var visit func(at merge.Pointer, object map[string]any)
	visit = func(at merge.Pointer, object map[string]any) {
		for name, value := range object {
			below := at.Child(name)
			layer, given := record.From[string(below)]
			inner, isObject := value.(map[string]any)
			switch {
			case removed[below]:
			case isObject && mixed[below]:
				visit(below, inner)
			case given:
				found[string(below)] = layer
			default:
				found[string(below)] = "user"
			}
		}
	}
	visit("", values)
	for name, value := range sent {
		at := merge.Pointer("").Child(name)
		_, isDefault := record.From[string(at)]
		if _, written := values[name]; value == v1beta1.Redacted && (!written || isDefault) {
			found[string(at)] = "Secret"
		}
	}
	list := &printer.Pairs{}
	for _, pointer := range slices.Sorted(maps.Keys(found)) {
		list.Add(strings.TrimPrefix(pointer, "/")+":", found[pointer])
	}
	return list
}
