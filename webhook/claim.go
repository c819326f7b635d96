package webhook

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/commands"
)

// A claim is a binding that names no instance: it asks for one of its own. What is
// asked of that is decided as for any instance, by the same code, which is given the
// claim as the write of the instance.

// undecidedYet begins the warning of a write that is admitted without a plan.
const undecidedYet = "no plan is decided yet: "

// kindBinding is the kind of bindings.
const kindBinding = "ServiceBinding"

// claimed is what admission reads of a claim as that of its instance.
func claimed(b *binding) *written[v1beta1.ServiceInstanceSpec, progress] {
	own := &written[v1beta1.ServiceInstanceSpec, progress]{Metadata: b.Metadata, Spec: new(b.Spec.OwnInstance())}
	own.Spec.ExternalID = b.Spec.ExternalID
	own.Metadata.Annotations = map[string]string{}
	if b.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		own.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] = appliedOf(b.Metadata.Annotations).OfInstance().String()
	}
	return own
}

// inClaimsWords says of a claim what was said of the instance that it asks for.
func (v *verdict) inClaimsWords() {
	v.denied.inClaimsWords()
	for i, warning := range v.warnings {
		if names, ok := strings.CutPrefix(warning, "defaults set "); ok {
			warning = "defaults for its instance set " + names
		}
		if why, ok := strings.CutPrefix(warning, undecidedYet); ok {
			warning = undecidedYet + ofClaim(why)
		}
		v.warnings[i] = ofClaim(warning)
	}
}

// inClaimsWords returns the denial with the names that fields have in a claim; d may
// be nil.
func (d *denial) inClaimsWords() *denial {
	if d == nil {
		return nil
	}
	for i := range d.causes {
		d.causes[i].Field = ofClaim(d.causes[i].Field)
	}
	for i, remedy := range d.remedies {
		d.remedies[i] = strings.ReplaceAll(remedy, "kubectl explain serviceinstance.", "kubectl explain servicebinding.")
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

// misshapenClaim refuses a claim that no catalog could make right.
func misshapenClaim(spec *bindingSpec, namespace string) *denial {
	_, err := resolve.RequestFor(&spec.PlanReference, namespace, "")
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		return unresolved(refused, resolve.Request{}).inClaimsWords()
	}
	named := spec.PlanReference != (v1beta1.PlanReference{}) || spec.ServiceType != "" || spec.PlanSelector != nil
	if named || !refsOf(&spec.DecidedReference, namespace).empty() {
		return nil
	}
	return invalid("NoInstance", "spec.instanceRef", "it names no instance, and neither a type, a class nor a selector to make one of").
		remedy("to bind to an instance that there is, name it: spec.instanceRef.name").
		ways("to get one of the binding's own, set spec.serviceType, spec.planSelector or a class and its plan; the types on offer", commands.Types())
}

// notDedicated refuses, on a binding that names its instance, what is for an instance of a
// binding's own: it would be lost. namespace is the binding's.
func notDedicated(field, namespace string, instance types.NamespacedName) *denial {
	return invalid("NotDedicated", field, "it is for an instance of the binding's own, and instanceRef names another").
		remedy("leave it out, or change the instance itself: kubectl edit -n %s serviceinstance %s", instance.Namespace, instance.Name).
		ways("or ask for a binding that gets an instance of its own", commands.Claim(namespace))
}

// refuseUnbindable refuses a plan for a claim that could never be bound.
func (d *definition) refuseUnbindable(field string) *denial {
	if (&bound{defined: d}).bindable() {
		return nil
	}
	return invalid("NotBindable", field, "it means plan %s, which its broker does not let anyone bind to", d.title()).
		ways(seeWhatThereIs, commands.Classes(d.Class.Namespace).Wide())
}

// refusedClaim says what policies of either kind refuse a claim: to have an instance
// of the plan, or to bind to that.
func (h *bindings) refusedClaim(ctx context.Context, defined *definition, namespace, field string) (*denial, error) {
	target := policy.TargetOf(defined.Class, defined.Plan)
	var decided v1beta1.DecidedReference
	refs{class: defined.Class.Ref, plan: defined.Plan.Ref}.set(&decided)
	// Its name is not known yet, and nobody gave it labels but admission.
	target.Instance = &policy.Instance{Namespace: namespace, Labels: hashedLabels(&decided, nil)}
	refused, err := h.resolver.refusal(ctx, &target, namespace)
	if err != nil {
		return nil, fmt.Errorf("cannot hold the claim against the policies: %w", err)
	}
	if refused == nil {
		return nil, nil
	}
	refused.subject = "plan " + defined.title()
	return refused.denial(field), nil
}
