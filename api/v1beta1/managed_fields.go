package v1beta1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FieldOwnerKeeper is whose the fields are that the keeper writes.
const FieldOwnerKeeper = "defaultplan-keeper"

// Whose the fields are that the controller writes.
const (
	// FieldOwnerController is its owner of status, of finalizers and of Secrets.
	FieldOwnerController = "defaultplan-controller"
	// FieldOwnerCatalog is its owner of what a broker's catalog says as a fact.
	FieldOwnerCatalog = "defaultplan-catalog"
	// FieldOwnerSuggestions is its owner of what a broker's catalog suggests, and
	// what whoever else writes it keeps.
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

// RecordedByKeeper says that the default of a service type with these managedFields
// was recorded by the keeper, following an annotation, and that nobody else has
// written it: whoever does so switches.
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
