package binding

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// indexServiceName finds the bindings whose Service has a name. It is the cache's own.
const indexServiceName = "defaultplan/service-name"

// serviceName is the Service of a binding, if its endpoints have one.
func serviceName(spec *bindingSpec, name string) string { return cmp.Or(spec.ServiceName, name) }

func serviceNameOf(object client.Object) []string {
	if b, ok := object.(*v1beta1.ServiceBinding); ok {
		return []string{serviceName(&b.Spec, b.Name)}
	}
	return nil
}

// validateServiceName denies the name of another binding's Service if either of
// the two sets spec.serviceName; otherwise the names are those of the bindings,
// and differ. Without this check the faster broker would decide which binding
// gets the name.
func (v *validation) validateServiceName(ctx context.Context) error {
	name := serviceName(v.New.Spec, v.Req.Name)
	if name == "" || v.Old != nil && name == serviceName(v.Old.Spec, v.Req.Name) {
		return nil
	}
	owner, err := v.serviceWriter(ctx, v.Resolver.Catalog.Cached, name, client.MatchingFields{indexServiceName: name})
	if err != nil || owner == "" {
		return err
	}
	denied := takenService(v.Req.Namespace, name, owner)
	if v.Resolver.MayConfirm(v.Req.Namespace, denied) {
		if owner, err = v.serviceWriter(ctx, v.Resolver.Catalog.Live, name); err != nil || owner == "" {
			return err
		}
		denied = takenService(v.Req.Namespace, name, owner)
	}
	v.Deny(denied)
	return nil
}

func takenService(namespace, name, owner string) *review.Denial {
	return review.Invalid("ServiceReserved", "spec.serviceName", "the Service %q is binding %q's", name, owner).
		Remedy("name another Service: spec.serviceName, or svcat bind --service-name").
		Remedy("to see whose it is: kubectl describe -n %s servicebinding %s", namespace, owner)
}

// serviceWriter is another binding of the namespace whose Service has a name, empty for
// none. One that is being deleted gives it up.
func (v *validation) serviceWriter(ctx context.Context, reader client.Reader, service string, match ...client.ListOption) (string, error) {
	var list v1beta1.ServiceBindingList
	if err := reader.List(ctx, &list, append(match, client.InNamespace(v.Req.Namespace), client.UnsafeDisableDeepCopy)...); err != nil {
		return "", fmt.Errorf("cannot list bindings: %w", err)
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.Name != v.Req.Name && other.DeletionTimestamp == nil && serviceName(&other.Spec, other.Name) == service {
			return other.Name, nil
		}
	}
	return "", nil
}
