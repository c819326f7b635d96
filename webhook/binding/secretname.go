package binding

import (
	"cmp"
	"fmt"

	"github.com/defaultplan/defaultplan/webhook/review"
)

// secretNames are the Secrets that bindings write to.
var secretNames = reservedName{
	field: "defaultplan/secret-name",
	of:    func(spec *bindingSpec, name string) string { return cmp.Or(spec.SecretName, name) },
	taken: func(_, name, owner string) *review.Denial {
		return review.Invalid("SecretReserved", "spec.secretName", "binding %q writes its credentials to Secret %q", owner, name).
			Remedy("name another Secret: spec.secretName")
	},
}

// nameSecret names the Secret after the binding. With generateName there is no
// name yet, and the absent one means the binding's. Only a binding that is new
// or decided now gets one: at any other write it would be a change that the
// user did not make.
func nameSecret(spec *bindingSpec, name string) { spec.SecretName = cmp.Or(spec.SecretName, name) }

// refuseOverwrite denies a Secret, new with the write, that the binding reads from.
func refuseOverwrite(w *write) *review.Denial {
	name := secretNames.changed(w)
	field := readsFrom(w.New.Spec, w.Req.Namespace, name)
	if name == "" || field == "" {
		return nil
	}
	return review.Invalid("SecretReserved", "spec.secretName", "Secret %q is where %s reads from: the credentials would overwrite it", name, field).
		Remedy("name another Secret: spec.secretName")
}

// readsFrom is the field by which the binding reads the Secret, empty for none.
func readsFrom(spec *bindingSpec, namespace, secret string) string {
	for i, source := range spec.ParametersFrom {
		if source.SecretKeyRef != nil && source.SecretKeyRef.Name == secret {
			return fmt.Sprintf("spec.parametersFrom[%d]", i)
		}
	}
	for i, transform := range spec.SecretTransforms {
		from := transform.AddKeysFrom
		if from != nil && from.SecretRef != nil && from.SecretRef.Name == secret && cmp.Or(from.SecretRef.Namespace, namespace) == namespace {
			return fmt.Sprintf("spec.secretTransforms[%d].addKeysFrom", i)
		}
	}
	return ""
}
