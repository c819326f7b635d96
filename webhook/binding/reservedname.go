package binding

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A reservedName is the name of an object that one binding of a namespace alone may have.
type reservedName struct {
	// field finds the bindings that have a name. It is the cache's own.
	field string
	// of is the name by the spec of a binding with that name.
	of func(spec *bindingSpec, name string) string
	// taken denies a name that another binding has.
	taken func(namespace, name, owner string) *review.Denial
}

// index is the value of field.
func (r *reservedName) index(object client.Object) []string {
	if b, ok := object.(*v1beta1.ServiceBinding); ok {
		return []string{r.of(&b.Spec, b.Name)}
	}
	return nil
}

// refuse denies a name, new with the write, that another binding has. What the cache says is held
// against the API server.
func (r *reservedName) refuse(ctx context.Context, resolver *decision.Resolver, w *write) (*review.Denial, error) {
	name := r.changed(w)
	if name == "" {
		return nil, nil
	}
	owner, err := r.owner(ctx, resolver.Catalog.Cached, w, client.MatchingFields{r.field: name})
	if err != nil || owner == "" {
		return nil, err
	}
	denied := r.taken(w.Req.Namespace, name, owner)
	if !resolver.MayConfirm(w.Req.Namespace, denied) {
		return denied, nil
	}
	if owner, err = r.owner(ctx, resolver.Catalog.Live, w); err != nil || owner == "" {
		return nil, err
	}
	return r.taken(w.Req.Namespace, name, owner), nil
}

// changed is the name if it is new with the write, empty otherwise.
func (r *reservedName) changed(w *write) string {
	name := r.of(w.New.Spec, w.Req.Name)
	if w.Old != nil && name == r.of(w.Old.Spec, w.Req.Name) {
		return ""
	}
	return name
}

// owner is another binding of the namespace that has the name, empty for
// none. One that is being deleted gives it up.
func (r *reservedName) owner(ctx context.Context, reader client.Reader, w *write, match ...client.ListOption) (string, error) {
	var list v1beta1.ServiceBindingList
	if err := reader.List(ctx, &list, append(match, client.InNamespace(w.Req.Namespace), client.UnsafeDisableDeepCopy)...); err != nil {
		return "", fmt.Errorf("cannot list bindings: %w", err)
	}
	name := r.of(w.New.Spec, w.Req.Name)
	for i := range list.Items {
		other := &list.Items[i]
		if other.Name != w.Req.Name && other.DeletionTimestamp == nil && r.of(&other.Spec, other.Name) == name {
			return other.Name, nil
		}
	}
	return "", nil
}
