package binding

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// instanceAt is the instance that a binding in a namespace names.
func instanceAt(spec *bindingSpec, namespace string) types.NamespacedName {
	ref := spec.InstanceRef
	if ref == nil {
		return types.NamespacedName{Namespace: namespace}
	}
	return types.NamespacedName{Namespace: cmp.Or(ref.Namespace, namespace), Name: ref.Name}
}

// shares says that the instance is one of another namespace.
func shares(spec *bindingSpec, namespace string) bool {
	return instanceAt(spec, namespace).Namespace != namespace
}

// bindingRefs are the references of a binding: names in its instance's namespace.
func bindingRefs(spec *bindingSpec, namespace string) references.Pair {
	return references.Of(&spec.DecidedReference, instanceAt(spec, namespace).Namespace)
}

// find reads the instance to bind to, nil if there is none. One of another
// namespace is found only if the user may bind to it.
func (b binder) find(ctx context.Context, at types.NamespacedName) (*v1beta1.ServiceInstance, *review.Denial, error) {
	switch {
	case b.read != nil:
		return b.read, nil, nil
	case at.Namespace != b.namespace:
		return b.open(ctx, at)
	}
	instance := &v1beta1.ServiceInstance{}
	found, err := catalog.Scope{Reader: b.tools.Resolver.Catalog.Live, Namespace: at.Namespace}.Read(ctx, at.Name, instance)
	if err != nil || !found {
		return nil, nil, err
	}
	return instance, nil, nil
}

// open reads an instance of another namespace for a user who may bind to it.
// Permission is checked first, and without it nothing is read: the duration of a
// read reveals whether an instance exists, and its size. An instance that does not
// exist is treated as not shared.
func (b binder) open(ctx context.Context, at types.NamespacedName) (*v1beta1.ServiceInstance, *review.Denial, error) {
	mayBind, err := b.tools.Access.MayBind(ctx, b.user, at)
	if err != nil {
		return nil, nil, err
	}
	if !mayBind {
		return nil, b.notShared(at), nil
	}
	instance := &v1beta1.ServiceInstance{}
	if _, err := (catalog.Scope{Reader: b.tools.Resolver.Catalog.Live, Namespace: at.Namespace}).Read(ctx, at.Name, instance); err != nil {
		return nil, nil, err
	}
	place, err := b.tools.Policies.Place(ctx, b.namespace, b.tools.Policies.Live)()
	if err != nil {
		return nil, nil, err
	}
	if !instance.Spec.Sharing.Admits(place.Namespace, place.Labels) {
		return nil, b.notShared(at), nil
	}
	return instance, nil, nil
}

// notShared is the one denial for an instance that does not exist, that is not
// shared with the binding's namespace, or to which the user may not bind. Its
// text does not reveal which.
func (b binder) notShared(at types.NamespacedName) *review.Denial {
	user := b.user.Username
	return review.Forbidden("NotShared", "spec.instanceRef",
		"user %q cannot bind to instance %q from namespace %q: it is not there, it is not shared with that namespace, or the user does not have the verb %s on it",
		user, at.String(), b.namespace, access.VerbBind).
		Ways("who keeps the instance shares it", suggest.Share(at.Namespace, at.Name, b.namespace)).
		Remedy("and an administrator of namespace %s lets you bind: %s", at.Namespace, suggest.GrantBind(at.Namespace, user)).
		Remedy("to check the latter: %s", suggest.MayBind(at.Namespace, at.Name, user))
}

// sharedWaits denies a binding that would wait for an instance of another
// namespace: the user may not see what it waits for.
func sharedWaits(at types.NamespacedName, waits string) *review.Denial {
	if waits == waitsForPlan {
		return review.Invalid("SharedNotReady", "spec.instanceRef", "instance %q %s: nothing can be bound to it", at.String(), waits).
			Remedy("ask the instance's owner to choose another plan, or the catalog's administrator to restore this one")
	}
	return review.Invalid("SharedNotReady", "spec.instanceRef", "instance %q %s, and a binding from another namespace does not wait", at.String(), waits).
		Remedy("create the binding once the instance is ready")
}
