package binding

import (
	"context"
	"reflect"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/schema"
)

// A validation validates the final form of one write of a binding: what
// will be stored.
type validation struct {
	*Handler
	*write
	review.Result

	now references.Pair
	// parameterReader are those of the new object, decoded at most once.
	parameterReader func() (map[string]any, error)
}

// Validate is the validating phase.
func (h *Handler) Validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	write, wrong := review.Decode[bindingSpec, progress](req)
	if wrong != nil {
		denied := review.Invalid("Unreadable", wrong.Field, "%s", wrong.Text).Remedy("kubectl explain servicebinding")
		return review.Result{Rule: review.RuleNone, Denied: denied}, nil
	}
	v := &validation{
		Handler: h, write: write, Result: review.Result{Rule: review.RuleNone},
		now:             bindingRefs(write.New.Spec, req.Namespace),
		parameterReader: sync.OnceValues(func() (map[string]any, error) { return merge.Decode(parameters.Raw(write.New.Spec.Parameters)) }),
	}
	if req.Operation == admissionv1.Update && sameBindingSpec(v.Old.Spec, v.New.Spec) {
		// What was always wrong is not checked: the object must stay deletable.
		return v.Result, nil
	}
	v.ParameterBytes = len(parameters.Raw(write.New.Spec.Parameters))
	if err := v.validate(ctx); err != nil {
		return review.Result{Rule: review.RuleNone}, err
	}
	return v.Result, nil
}

func (v *validation) validate(ctx context.Context) error {
	if v.Old != nil && settledBinding(v.Old) {
		v.validateSettled()
		return nil
	}
	v.validateShape()
	if v.Denied != nil {
		return nil
	}
	if err := v.validateAdoption(ctx); err != nil || v.Denied != nil {
		return err
	}
	if err := v.validateSecretName(ctx); err != nil || v.Denied != nil {
		return err
	}
	if err := v.validateServiceName(ctx); err != nil || v.Denied != nil {
		return err
	}
	if v.now.Plan.Name == "" && shares(v.New.Spec, v.Req.Namespace) {
		return v.validateShared(ctx)
	}
	if v.now.Plan.Name == "" {
		return v.validateSecrets(ctx, &bound{})
	}
	if v.New.Spec.InstanceRef == nil {
		return v.validateClaim(ctx)
	}
	to, denied, err := v.bind(ctx, v.binder(), v.New.Spec)
	if err != nil {
		return err
	}
	if v.Denied = denied; v.Denied != nil {
		return nil
	}
	if err := v.validateSecrets(ctx, &to); err != nil || v.Denied != nil {
		return err
	}
	return v.validateBound(ctx, &to)
}

// validateAdoption validates an external ID that the write chooses.
func (v *validation) validateAdoption(ctx context.Context) error {
	was := ""
	if v.Old != nil {
		was = v.Old.Spec.ExternalID
	}
	chosen := &externalid.Adoption{Req: v.Req, Meta: &v.New.Metadata, Id: v.New.Spec.ExternalID, Was: was}
	denied, err := chosen.Refuse(ctx, v.Access, v.Resolver.Catalog.Live)
	v.Deny(denied)
	return err
}

// validateSettled denies every change of a decided binding: its broker is called
// once.
func (v *validation) validateSettled() {
	for _, field := range keptFields {
		if field.Name == fieldRotation || reflect.DeepEqual(field.Value(v.Old.Spec), field.Value(v.New.Spec)) || v.sameJSON(field.Name) {
			continue
		}
		v.Deny(review.Immutable("spec."+field.Name, "a broker is asked for a binding once, and this one is decided"))
	}
	if v.Denied != nil {
		v.Denied.Remedy("create another binding, with a secretName of its own, and delete this one")
	}
}

// sameJSON says that a field holds parameters that are the same, however they are
// written.
func (v *validation) sameJSON(field string) bool {
	switch field {
	case "parameters":
		return parameters.Same(v.Old.Spec.Parameters, v.New.Spec.Parameters)
	case "provisionParameters":
		return parameters.Same(v.Old.Spec.ProvisionParameters, v.New.Spec.ProvisionParameters)
	}
	return false
}

// misshapen denies a spec that is wrong for any instance: names that contradict
// each other, and fields that have no effect beside a named instance.
func misshapen(spec *bindingSpec, namespace string) *review.Denial {
	_, err := resolve.RequestFor(&spec.PlanReference, namespace, "")
	switch {
	case spec.InstanceRef == nil:
		return misshapenClaim(spec, namespace)
	case !parameters.IsNull(parameters.Raw(spec.ProvisionParameters)):
		return notDedicated("spec.provisionParameters", namespace, instanceAt(spec, namespace))
	case spec.PlanSelector != nil:
		return notDedicated("spec.planSelector", namespace, instanceAt(spec, namespace))
	case err != nil:
		return review.Invalid("InvalidReference", "spec", "%s", err.Error()).Remedy("leave class and plan out: they are the instance's")
	}
	return nil
}

// validateShape checks what needs no other object.
func (v *validation) validateShape() {
	spec, old := v.New.Spec, &bindingSpec{}
	if v.Old != nil {
		old = v.Old.Spec
	}
	v.Denied = v.Denied.Also(misshapen(spec, v.Req.Namespace))
	if v.Old == nil || !parameters.Same(old.Parameters, spec.Parameters) {
		v.Denied = v.Denied.Also(parameters.Unreadable(v.parameterReader()))
	}
	v.validateProvision()
	if v.Old == nil || !equality.Semantic.DeepEqual(old.ParametersFrom, spec.ParametersFrom) {
		v.Denied = v.Denied.Also(parameters.WrongSources(spec.ParametersFrom, "servicebinding"))
	}
	if old.ExternalID != "" && spec.ExternalID != old.ExternalID {
		v.Deny(review.Immutable("spec.externalID", "it is the binding's identity at its broker").Remedy("leave it out"))
	}
}

// validateSecrets checks the permission to read the Secrets that transforms name:
// that of the user who writes them, or at a touch that of the binding's user.
func (v *validation) validateSecrets(ctx context.Context, to *bound) error {
	asked := transformReview{namespace: v.Req.Namespace, user: v.Req.UserInfo, now: v.New.Spec.SecretTransforms}
	if to.defined != nil {
		asked.plan = to.defined.Plan.Ref
	}
	if v.Old != nil {
		asked.before = askedBefore(v.Old)
		if reflect.DeepEqual(v.Old.Spec.UserInfo, v.New.Spec.UserInfo) && v.New.Spec.UserInfo != nil {
			asked.user = writerOf(v.Old)
		}
	}
	denied, err := v.refusedSecrets(ctx, asked)
	v.Denied = v.Denied.Also(denied)
	return err
}

// validateBound checks a binding that is now decided against its instance.
func (v *validation) validateBound(ctx context.Context, to *bound) error {
	v.Chosen = v.now.Plan
	if v.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] == "" {
		v.Deny(forgedOnBinding(&v.New.Spec.DecidedReference))
		return nil
	}
	if waits := to.waits(); waits != "" {
		v.Deny(review.Invalid("Disagreement", "spec.instanceRef.name", "instance %q %s, and the references name a plan", v.New.Spec.InstanceRef.Name, waits).
			Remedy("leave the references out: they are the instance's"))
		return nil
	}
	// A binding that was created before a change of its instance's plan has the
	// former plan. So a restored binding may have another plan of the class.
	restored := parameters.Applied(v.New.Metadata.Annotations).Rule == review.RuleRestored
	if to.defined.Class.Ref != v.now.Class || !restored && to.defined.Plan.Ref != v.now.Plan {
		v.Deny(review.Invalid("Disagreement", "spec.instanceRef.name", "instance %q is of plan %s, and the references say plan %q of class %q",
			v.New.Spec.InstanceRef.Name, to.defined.Title(), v.now.Plan.Name, v.now.Class.Name).Remedy("leave the references out: they are the instance's"))
		return nil
	}
	denied, err := v.refusedFor(ctx, to, v.Req.Namespace)
	if err != nil || denied != nil {
		v.Denied = v.Denied.Also(denied)
		return err
	}
	if err := v.validateQuota(ctx, to.defined, "spec.instanceRef.name"); err != nil || v.Denied != nil {
		return err
	}
	return v.validateParameters(ctx, to.defined)
}

// validateParameters holds what the broker would be sent against the plan's schema
// for bindings.
func (v *validation) validateParameters(ctx context.Context, defined *catalog.Definition) error {
	if !v.Schemas.Checked() {
		return nil
	}
	values, err := v.parameterReader()
	if err != nil {
		return nil //nolint:nilerr // told where the shape is validated
	}
	applied := parameters.Applied(v.New.Metadata.Annotations)
	if v.Old != nil && applied.Rule == review.RuleRestored {
		// It was bound without the hooks.
		return nil
	}
	asked := schema.Question{Which: schema.ForBinding, Sent: merge.Without(values, parameters.Removed(&applied)), Partial: len(v.New.Spec.ParametersFrom) > 0}
	report, warning, err := v.Schemas.Check(ctx, defined, asked)
	if err != nil {
		return err
	}
	if warning != "" {
		v.Warnf("%s", warning)
	}
	if refused := v.Schemas.TellReport(&v.Result, report, applied.From); refused != nil {
		v.Deny(refused.Ways(defined.ToSee()))
	}
	return nil
}
