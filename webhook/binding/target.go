package binding

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/instance"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A bound is the instance that a binding is for, and the instance's decided
// plan.
type bound struct {
	// instance is nil if there is none.
	instance *v1beta1.ServiceInstance
	// defined is nil while the instance is not decided, and where its plan or class
	// is gone.
	defined *catalog.Definition
}

// A binder is the user for whom a binding is decided, and the binding's
// namespace.
type binder struct {
	tools     *decision.Tools
	namespace string
	user      authenticationv1.UserInfo
	// read is the instance, if it was read for this request before.
	read *v1beta1.ServiceInstance
}

// bind finds the instance of a binding, or the reason why it cannot be bound.
// The instance is read live, a single key: it may just have been created, or
// have changed its plan. Its plan and class are read from the cache, and again
// live before a denial.
func (b binder) bind(ctx context.Context, spec *bindingSpec) (bound, *review.Denial, error) {
	at, resolver := instanceAt(spec, b.namespace), b.tools.Resolver
	instance, refused, err := b.find(ctx, at)
	if err != nil || refused != nil || instance == nil {
		return bound{}, refused, err
	}
	if refused, err = refuseDedicated(ctx, resolver.Catalog.Cached, instance); err != nil || refused != nil {
		return bound{}, refused, err
	}
	decided := references.Of(&instance.Spec.DecidedReference, at.Namespace)
	if decided.Plan.Name == "" {
		to := bound{instance: instance}
		return to, to.refuse(spec), nil
	}
	defined, err := resolver.Catalog.Define(ctx, decided.Plan)
	if defined != nil && defined.Class.Ref != decided.Class {
		// The cache has the plan as it was before.
		defined, err = resolver.Catalog.DefineLive(ctx, decided.Plan)
	}
	if err != nil {
		return bound{}, nil, err
	}
	defined, denied, err := resolver.Confirmed(ctx, b.namespace, defined, func(found *catalog.Definition) *review.Denial {
		to := bound{instance, found}
		return to.refuse(spec)
	})
	return bound{instance, defined}, denied, err
}

// waitsForPlan describes an instance whose plan or class is gone.
const waitsForPlan = "is of a plan that is gone"

// waits is what a binding to it waits for, completing "instance x …"; empty for
// nothing.
func (b *bound) waits() string {
	switch {
	case b.instance == nil:
		return "does not exist yet"
	case !b.instance.Spec.Decided():
		return "has no plan yet"
	case b.defined == nil:
		return waitsForPlan
	}
	return ""
}

// serviceType is the instance's own type, and its effective type.
func (b *bound) serviceType() (own, effective string) {
	own = b.instance.Spec.ServiceType
	if own != "" || b.defined == nil {
		return own, own
	}
	return own, b.defined.Type()
}

// refuse says why the instance cannot be bound, for reasons that no change of
// the catalog could lift.
func (b *bound) refuse(spec *bindingSpec) *review.Denial {
	const field = "spec.instanceRef.name"
	switch {
	case b.instance == nil:
		return nil
	case b.instance.DeletionTimestamp != nil:
		return review.Invalid("InstanceDeleting", field, "instance %q is being deleted", b.instance.Name).
			Remedy("bind to another instance, or wait until it is gone and create it again")
	case b.defined == nil:
		return nil
	case !b.defined.Bindable():
		return review.Invalid("NotBindable", field, "instance %q is of plan %s, which its broker does not let anyone bind to", b.instance.Name, b.defined.Title()).
			Ways(suggest.WhatThereIs, suggest.Classes(b.defined.Class.Namespace).Wide())
	}
	if _, effective := b.serviceType(); spec.ServiceType != "" && effective != "" && spec.ServiceType != effective {
		return review.Invalid("TypeMismatch", "spec.serviceType", "instance %q is of type %q, not of %q", b.instance.Name, effective, spec.ServiceType).
			Remedy("leave serviceType out: it is filled in from the instance")
	}
	if denied := references.Misnamed(&spec.PlanReference, b.defined); denied != nil {
		denied.Causes[0].Message = fmt.Sprintf("instance %q is of plan %s, which has another name", b.instance.Name, b.defined.Title())
		return denied.Remedy("leave class and plan out: they are the instance's")
	}
	return nil
}

// refuseDedicated refuses to bind to an instance that another binding has for itself: by
// its owner, or, where someone took that away, by its name.
func refuseDedicated(ctx context.Context, cached client.Reader, to *v1beta1.ServiceInstance) (*review.Denial, error) {
	owner, dedicated := to.DedicatedTo()
	if !dedicated {
		var err error
		if owner.Name, err = instance.OwnerByName(ctx, cached, to.Namespace, to.Name); err != nil || owner.Name == "" {
			return nil, err
		}
	}
	return instance.NotYours("spec.instanceRef.name", to.Name, owner.Name).
		Ways("bind to another instance; those that there are", suggest.Instances(to.Namespace)).
		Ways("or ask for a binding that gets an instance of its own", suggest.Claim(to.Namespace)), nil
}
