package binding

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// indexSecretName finds the bindings that write to a Secret. It is the cache's own.
const indexSecretName = "defaultplan/secret-name"

// secretName is the Secret that a binding writes to.
func secretName(spec *bindingSpec, name string) string { return cmp.Or(spec.SecretName, name) }

func secretNameOf(object client.Object) []string {
	if b, ok := object.(*v1beta1.ServiceBinding); ok {
		return []string{secretName(&b.Spec, b.Name)}
	}
	return nil
}

// validateSecretName denies a Secret that is taken: another binding writes to it,
// or this one reads from it.
func (v *validation) validateSecretName(ctx context.Context) error {
	name := secretName(v.New.Spec, v.Req.Name)
	if name == "" || v.Old != nil && name == secretName(v.Old.Spec, v.Req.Name) {
		return nil
	}
	if field := readsFrom(v.New.Spec, v.Req.Namespace, name); field != "" {
		v.Deny(review.Invalid("SecretReserved", "spec.secretName", "Secret %q is where %s reads from: the credentials would overwrite it", name, field).
			Remedy("name another Secret: spec.secretName"))
		return nil
	}
	owner, err := v.secretWriter(ctx, v.Resolver.Catalog.Cached, name, client.MatchingFields{indexSecretName: name})
	if err != nil || owner == "" {
		return err
	}
	denied := takenSecret(name, owner)
	if v.Resolver.MayConfirm(v.Req.Namespace, denied) {
		if owner, err = v.secretWriter(ctx, v.Resolver.Catalog.Live, name); err != nil || owner == "" {
			return err
		}
		denied = takenSecret(name, owner)
	}
	v.Deny(denied)
	return nil
}

func takenSecret(name, owner string) *review.Denial {
	return review.Invalid("SecretReserved", "spec.secretName", "binding %q writes its credentials to Secret %q", owner, name).
		Remedy("name another Secret: spec.secretName")
}

// secretWriter is another binding of the namespace that writes to a Secret, empty for
// none. One that is being deleted gives it up.
func (v *validation) secretWriter(ctx context.Context, reader client.Reader, secret string, match ...client.ListOption) (string, error) {
	var list v1beta1.ServiceBindingList
	if err := reader.List(ctx, &list, append(match, client.InNamespace(v.Req.Namespace), client.UnsafeDisableDeepCopy)...); err != nil {
		return "", fmt.Errorf("cannot list bindings: %w", err)
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.Name != v.Req.Name && other.DeletionTimestamp == nil && secretName(&other.Spec, other.Name) == secret {
			return other.Name, nil
		}
	}
	return "", nil
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
