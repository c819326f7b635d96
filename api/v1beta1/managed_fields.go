package v1beta1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FieldOwnerKeeper is the field manager of what the keeper writes.
const FieldOwnerKeeper = "defaultplan-keeper"

// The field managers of what the controller writes.
const (
	// FieldOwnerController owns status, finalizers and Secrets.
	FieldOwnerController = "defaultplan-controller"
	// FieldOwnerCatalog owns the facts of a broker's catalog.
	FieldOwnerCatalog = "defaultplan-catalog"
	// FieldOwnerSuggestions owns what a broker's catalog only suggests: another
	// manager that writes such a field keeps it.
	FieldOwnerSuggestions = "defaultplan-suggestions"
)

// Manages says that an entry of managedFields has the field at a path of keys as
// FieldsV1 writes them, such as "f:spec", "f:defaultPlanRef".
func Manages(entry metav1.ManagedFieldsEntry, path ...string) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	fields := json.RawMessage(entry.FieldsV1.GetRawBytes())
	for _, key := range path {
		var within map[string]json.RawMessage
		if err := json.Unmarshal(fields, &within); err != nil || within[key] == nil {
			return false
		}
		fields = within[key]
	}
	return true
}

// RecordedByKeeper says whether only the keeper, following an annotation, has
// written the default of a service type with these managedFields. A write by
// another manager is a switch of the default.
func RecordedByKeeper(entries []metav1.ManagedFieldsEntry) bool {
	recorded := false
	for _, entry := range entries {
		if !Manages(entry, "f:spec", "f:defaultPlanRef", "f:name") {
			continue
		}
		if entry.Manager != FieldOwnerKeeper {
			return false
		}
		recorded = true
	}
	return recorded
}
