package relist

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// fieldSeparator stands between the keys of a path; no key of a field has it.
const fieldSeparator = "\x00"

// pathOf is a field as managedFields name it.
func pathOf(names ...string) string {
	return "f:" + strings.Join(names, fieldSeparator+"f:")
}

// namesOf are the names in a path.
func namesOf(path string) []string {
	return strings.Split(strings.TrimPrefix(path, "f:"), fieldSeparator+"f:")
}

// A fieldSet is a set of paths of fields. One that was read from managedFields is not to be changed:
// others have it, too.
type fieldSet map[string]bool

func (s fieldSet) equal(other fieldSet) bool { return maps.Equal(s, other) }

// holds says that a field, one within it, or one that it is within, is in the set.
func (s fieldSet) holds(path string) bool {
	for one := range s {
		if one == path || isWithin(one, path) || isWithin(path, one) {
			return true
		}
	}
	return false
}

// isWithin says that a field is within another.
func isWithin(path, outer string) bool {
	below, is := strings.CutPrefix(path, outer)
	return is && strings.HasPrefix(below, fieldSeparator)
}

// appliedBy are the fields of an object, status aside, that a manager owns by apply.
func appliedBy(entries []metav1.ManagedFieldsEntry, manager string) fieldSet {
	return fieldsWhere(entries, func(entry *metav1.ManagedFieldsEntry) bool {
		return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply
	})
}

// ownedByOthers are the fields of an object, except status, that other managers
// own. Fields that the same manager owns by operations other than apply count
// as another's.
func ownedByOthers(entries []metav1.ManagedFieldsEntry, manager string) fieldSet {
	return fieldsWhere(entries, func(entry *metav1.ManagedFieldsEntry) bool {
		return entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply
	})
}

// hasOthersFields says whether a manager other than the relist owns a field of
// an object: a user, a chart, or the keeper, which annotates the recorded
// default. Status does not count, and only the controller uses its own manager
// name.
func (f *found) hasOthersFields() bool {
	return slices.ContainsFunc(f.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		switch entry.Manager {
		case api.FieldOwnerCatalog, api.FieldOwnerSuggestions, api.FieldOwnerController:
			return false
		}
		return entry.Subresource == ""
	})
}

// fieldsWhere are the fields of the entries that is chooses; of one entry, the set that is kept of its text.
func fieldsWhere(entries []metav1.ManagedFieldsEntry, is func(*metav1.ManagedFieldsEntry) bool) fieldSet {
	var fields fieldSet
	shared := true
	for i := range entries {
		entry := &entries[i]
		if entry.Subresource != "" || entry.FieldsV1 == nil || !is(entry) {
			continue
		}
		leaves := leavesOf(entry.FieldsV1.GetRawString())
		if fields == nil {
			fields = leaves
			continue
		}
		if shared {
			fields, shared = maps.Clone(fields), false
		}
		maps.Copy(fields, leaves)
	}
	return fields
}

// Plans of one catalog own the same fields, and so have the same text: the last ones are kept, none of
// them long.
const (
	keptTexts   = 256
	longestText = 8 << 10
)

var knownLeaves = lru.New(keptTexts)

// leavesOf are the leaves of a text of managedFields, none if it cannot be read.
func leavesOf(text string) fieldSet {
	if known, is := knownLeaves.Get(text); is {
		return known.(fieldSet) //nolint:forcetypeassert // nothing else is kept
	}
	leaves := fieldSet{}
	var tree map[string]any
	if json.Unmarshal([]byte(text), &tree) == nil {
		addLeaves(leaves, "", tree)
	}
	if len(text) <= longestText {
		knownLeaves.Add(text, leaves)
	}
	return leaves
}

// addLeaves adds the paths of a tree's leaves. The dot stands for the container
// itself, which exists as long as it has content.
func addLeaves(fields fieldSet, path string, tree map[string]any) {
	for key, below := range tree {
		if key == "." {
			continue
		}
		at := key
		if path != "" {
			at = path + fieldSeparator + key
		}
		if inner, _ := below.(map[string]any); len(inner) > 0 {
			addLeaves(fields, at, inner)
			continue
		}
		fields[at] = true
	}
}
