package catalog

import (
	"cmp"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// Pending is the status of an object that no controller has seen yet.
const Pending = "Pending"

// Status is the status of an object in a word, as tables show it.
func Status(conditions []v1beta1.Condition) string {
	return cmp.Or(v1beta1.LastConditionState(conditions), Pending)
}
