package binding

import (
	"reflect"

	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// refuseSettled denies every change of a decided binding: its broker is called
// once.
func refuseSettled(old, spec *bindingSpec) *review.Denial {
	var denied *review.Denial
	for _, field := range keptFields {
		if field.Name == fieldRotation || reflect.DeepEqual(field.Value(old), field.Value(spec)) || sameJSON(field.Name, old, spec) {
			continue
		}
		denied = denied.Also(review.Immutable("spec."+field.Name, "a broker is asked for a binding once, and this one is decided"))
	}
	if denied == nil {
		return nil
	}
	return denied.Remedy("create another binding, with a secretName of its own, and delete this one")
}

// sameJSON says that a field holds parameters that are the same, however they are
// written.
func sameJSON(field string, old, spec *bindingSpec) bool {
	switch field {
	case "parameters":
		return parameters.Same(old.Parameters, spec.Parameters)
	case "provisionParameters":
		return parameters.Same(old.ProvisionParameters, spec.ProvisionParameters)
	}
	return false
}
