package binding

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A binder is the user for whom a binding is decided, and the binding's
// namespace.
type binder struct {
	namespace string
	user      authenticationv1.UserInfo
}

// binder is the user who writes the binding; at a touch, the recorded user.
func (m *mutation) binder() binder {
	if m.Old != nil && !m.changed {
		return binder{m.Req.Namespace, writerOf(m.Old)}
	}
	return binder{m.Req.Namespace, m.Req.UserInfo}
}

// binder is the user of the validated write: a write that does not change
// userInfo is a touch.
func (v *validation) binder() binder {
	if v.Old != nil && v.New.Spec.UserInfo != nil && reflect.DeepEqual(v.Old.Spec.UserInfo, v.New.Spec.UserInfo) {
		return binder{v.Req.Namespace, writerOf(v.Old)}
	}
	return binder{v.Req.Namespace, v.Req.UserInfo}
}

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
func (h *Handler) find(ctx context.Context, by binder, at types.NamespacedName) (*v1beta1.ServiceInstance, *review.Denial, error) {
	if at.Namespace != by.namespace {
		return h.open(ctx, by, at)
	}
	instance := &v1beta1.ServiceInstance{}
	found, err := catalog.Scope{Reader: h.Resolver.Catalog.Live, Namespace: at.Namespace}.Read(ctx, at.Name, instance)
	if err != nil || !found {
		return nil, nil, err
	}
	return instance, nil, nil
}

// open reads an instance of another namespace for a user who may bind to it.
// Permission is checked first, and without it nothing is read: the duration of a
// read reveals whether an instance exists, and its size. An instance that does not
// exist is treated as not shared.
func (h *Handler) open(ctx context.Context, by binder, at types.NamespacedName) (*v1beta1.ServiceInstance, *review.Denial, error) {
	mayBind, err := h.Access.MayBind(ctx, by.user, at)
	if err != nil {
		return nil, nil, err
	}
	if !mayBind {
		return nil, notShared(by, at), nil
	}
	instance := &v1beta1.ServiceInstance{}
	if _, err := (catalog.Scope{Reader: h.Resolver.Catalog.Live, Namespace: at.Namespace}).Read(ctx, at.Name, instance); err != nil {
		return nil, nil, err
	}
	place, err := h.Policies.Place(ctx, by.namespace, h.Policies.Live)()
	if err != nil {
		return nil, nil, err
	}
	if !instance.Spec.Sharing.Admits(place.Namespace, place.Labels) {
		return nil, notShared(by, at), nil
	}
	return instance, nil, nil
}

// notShared is the one denial for an instance that does not exist, that is not
// shared with the binding's namespace, or to which the user may not bind. Its
// text does not reveal which.
func notShared(by binder, at types.NamespacedName) *review.Denial {
	user := by.user.Username
	return review.Forbidden("NotShared", "spec.instanceRef",
		"user %q cannot bind to instance %q from namespace %q: it is not there, it is not shared with that namespace, or the user does not have the verb %s on it",
		user, at.String(), by.namespace, access.VerbBind).
		Ways("who keeps the instance shares it", suggest.Share(at.Namespace, at.Name, by.namespace)).
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

// wait leaves a binding undecided until its instance is decided, or denies it
// if the instance is in another namespace.
func (m *mutation) wait(waits string, refuse bool) {
	at := instanceAt(&m.spec, m.Req.Namespace)
	if at.Namespace != m.Req.Namespace {
		m.hold(sharedWaits(at, waits), refuse)
		return
	}
	becomes := "the binding waits"
	if waits == waitsForPlan { // the controller needs no plan to bind to what its broker has
		becomes = "the binding is made without the plan's defaults if the instance is provisioned, and waits else"
	}
	m.undecided("Waiting", fmt.Sprintf("instance %q %s", at.Name, waits), becomes)
}

// validateShared denies an undecided binding to another namespace: none may be
// stored.
func (v *validation) validateShared(ctx context.Context) error {
	to, denied, err := v.bind(ctx, v.binder(), v.New.Spec)
	if err != nil {
		return err
	}
	if denied == nil {
		denied = sharedWaits(instanceAt(v.New.Spec, v.Req.Namespace), cmp.Or(to.waits(), "was not decided on"))
	}
	v.Deny(denied)
	return nil
}

// restoreInstance treats an empty reference as an absent one: the types of the
// retired catalog cannot omit it, and so write an empty one on a binding that
// gets a dedicated instance.
func (m *mutation) restoreInstance() {
	if given := m.spec.InstanceRef; given != nil && *given == (v1beta1.InstanceReference{}) {
		m.spec.InstanceRef = m.Old.Spec.InstanceRef
	}
}

// restoreNamespace puts back the namespace of the instance, which the clients of the
// retired catalog do not know.
func (m *mutation) restoreNamespace() {
	was, now := m.Old.Spec.InstanceRef, m.spec.InstanceRef
	if was == nil || now == nil || was.Namespace == "" || now.Namespace != "" || was.Name != now.Name {
		return
	}
	m.spec.InstanceRef = &v1beta1.InstanceReference{Name: now.Name, Namespace: was.Namespace}
}
