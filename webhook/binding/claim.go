package binding

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/instance"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A claim is a binding that names no instance, and gets a dedicated one. That
// instance is decided by the same code as any instance: the code gets the claim
// as a write of the instance.

// claimed is what admission reads of a claim as that of its instance.
func claimed(b *binding) *review.Object[v1beta1.ServiceInstanceSpec, instance.Progress] {
	own := &review.Object[v1beta1.ServiceInstanceSpec, instance.Progress]{Metadata: b.Metadata, Spec: new(b.Spec.OwnInstance())}
	own.Spec.ExternalID = b.Spec.ExternalID
	own.Metadata.Annotations = map[string]string{}
	if value, is := b.Metadata.Annotations[v1beta1.AnnotationPreventDeletion]; is {
		own.Metadata.Annotations[v1beta1.AnnotationPreventDeletion] = value
	}
	if b.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		own.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] = parameters.Applied(b.Metadata.Annotations).OfInstance().String()
	}
	return own
}

// inClaimsWords rewrites a result for the dedicated instance into one for the
// claim.
func inClaimsWords(v *review.Result) {
	deniedInClaimsWords(v.Denied)
	for i, warning := range v.Warnings {
		if names, ok := strings.CutPrefix(warning, "defaults set "); ok {
			warning = "defaults for its instance set " + names
		}
		if why, ok := strings.CutPrefix(warning, instance.UndecidedYet); ok {
			warning = instance.UndecidedYet + ofClaim(why)
		}
		v.Warnings[i] = ofClaim(warning)
	}
}

// deniedInClaimsWords returns the denial with the names that fields have in a claim; d may
// be nil.
func deniedInClaimsWords(d *review.Denial) *review.Denial {
	if d == nil {
		return nil
	}
	for i := range d.Causes {
		d.Causes[i].Field = ofClaim(d.Causes[i].Field)
	}
	for i, remedy := range d.Remedies {
		d.Remedies[i] = strings.ReplaceAll(remedy, "kubectl explain serviceinstance.", "kubectl explain servicebinding.")
	}
	return d
}

// ofClaim is a text that begins with a field of an instance, with the field's name
// in a claim.
func ofClaim(text string) string {
	if rest, ok := strings.CutPrefix(text, "spec.parameters"); ok {
		return "spec.provisionParameters" + rest
	}
	return text
}

// misshapenClaim denies a claim that is wrong for any catalog.
func misshapenClaim(spec *bindingSpec, namespace string) *review.Denial {
	_, err := resolve.RequestFor(&spec.PlanReference, namespace, "")
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		return deniedInClaimsWords(decision.Unresolved(refused, resolve.Request{}))
	}
	named := spec.PlanReference != (v1beta1.PlanReference{}) || spec.ServiceType != "" || spec.PlanSelector != nil
	if named || !references.Of(&spec.DecidedReference, namespace).Empty() {
		return nil
	}
	return review.Invalid("NoInstance", "spec.instanceRef", "it names no instance, and neither a type, a class nor a selector to make one of").
		Remedy("to bind to an instance that there is, name it: spec.instanceRef.name").
		Ways("to get one of the binding's own, set spec.serviceType, spec.planSelector or a class and its plan; the types on offer", suggest.Types())
}

// notDedicated denies, on a binding that names its instance, fields that apply
// to a dedicated instance only: they would have no effect. namespace is the
// binding's.
func notDedicated(field, namespace string, instance types.NamespacedName) *review.Denial {
	return review.Invalid("NotDedicated", field, "it is for an instance of the binding's own, and instanceRef names another").
		Remedy("leave it out, or change the instance itself: kubectl edit -n %s serviceinstance %s", instance.Namespace, instance.Name).
		Ways("or ask for a binding that gets an instance of its own", suggest.Claim(namespace))
}

// refuseUnbindable refuses a plan for a claim that could never be bound.
func refuseUnbindable(d *catalog.Definition, field string) *review.Denial {
	if d.Bindable() {
		return nil
	}
	return review.Invalid("NotBindable", field, "it means plan %s, which its broker does not let anyone bind to", d.Title()).
		Ways(suggest.WhatThereIs, suggest.Classes(d.Class.Namespace).Wide())
}
