package webhook

import (
	"context"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
)

func bindSchema(plan *v1beta1.CommonServicePlanSpec) *runtime.RawExtension {
	return plan.ServiceBindingCreateParameterSchema
}

// A bindingValidation validates the final form of one write of a binding: what
// will be stored, including changes by other hooks.
type bindingValidation struct {
	*bindings
	*bindingWrite
	review.Result

	now refs
	// parameters are those of the new object, decoded at most once.
	parameters func() (map[string]any, error)
}

// validate is the validating phase.
func (h *bindings) validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	write, wrong := review.Decode[bindingSpec, bindingProgress](req)
	if wrong != nil {
		denied := review.Invalid("Unreadable", wrong.Field, "%s", wrong.Text).Remedy("kubectl explain servicebinding")
		return review.Result{Rule: review.RuleNone, Denied: denied}, nil
	}
	v := &bindingValidation{
		bindings: h, bindingWrite: write, Result: review.Result{Rule: review.RuleNone},
		now:        bindingRefs(write.New.Spec, req.Namespace),
		parameters: sync.OnceValues(func() (map[string]any, error) { return merge.Decode(rawOf(write.New.Spec.Parameters)) }),
	}
	if req.Operation == admissionv1.Update && sameBindingSpec(v.Old.Spec, v.New.Spec) {
		// What was always wrong is not checked: the object must stay deletable.
		return v.Result, nil
	}
	v.ParameterBytes = len(rawOf(write.New.Spec.Parameters))
	if err := v.judge(ctx); err != nil {
		return review.Result{Rule: review.RuleNone}, err
	}
	return v.Result, nil
}

func (v *bindingValidation) judge(ctx context.Context) error {
	if v.Old != nil && settledBinding(v.Old) {
		v.judgeSettled()
		return nil
	}
	v.judgeShape()
	if v.Denied != nil {
		return nil
	}
	if err := v.judgeAdoption(ctx); err != nil || v.Denied != nil {
		return err
	}
	if err := v.judgeSecretName(ctx); err != nil || v.Denied != nil {
		return err
	}
	if err := v.judgeServiceName(ctx); err != nil || v.Denied != nil {
		return err
	}
	if v.now.plan.Name == "" && shares(v.New.Spec, v.Req.Namespace) {
		return v.judgeShared(ctx)
	}
	if v.now.plan.Name == "" {
		return v.judgeSecrets(ctx, &bound{})
	}
	if v.New.Spec.InstanceRef == nil {
		return v.judgeClaim(ctx)
	}
	to, denied, err := v.bind(ctx, v.binder(), v.New.Spec)
	if err != nil {
		return err
	}
	if v.Denied = denied; v.Denied != nil {
		return nil
	}
	if err := v.judgeSecrets(ctx, &to); err != nil || v.Denied != nil {
		return err
	}
	return v.judgeBound(ctx, &to)
}

// judgeAdoption judges an external ID that the write chooses.
func (v *bindingValidation) judgeAdoption(ctx context.Context) error {
	was := ""
	if v.Old != nil {
		was = v.Old.Spec.ExternalID
	}
	denied, err := v.refusedAdoption(ctx, &adoption{req: v.Req, meta: &v.New.Metadata, id: v.New.Spec.ExternalID, was: was})
	v.Deny(denied)
	return err
}

// judgeSettled denies every change of a decided binding: its broker is called
// once.
func (v *bindingValidation) judgeSettled() {
	for _, field := range keptBindingFields {
		if field.name == fieldRotation || sameValue(field.value(v.Old.Spec), field.value(v.New.Spec)) || v.sameJSON(field.name) {
			continue
		}
		v.Deny(immutable("spec."+field.name, "a broker is asked for a binding once, and this one is decided"))
	}
	if v.Denied != nil {
		v.Denied.Remedy("create another binding, with a secretName of its own, and delete this one")
	}
}

// sameJSON says that a field holds parameters that are the same, however they are
// written.
func (v *bindingValidation) sameJSON(field string) bool {
	switch field {
	case "parameters":
		return sameParameters(v.Old.Spec.Parameters, v.New.Spec.Parameters)
	case "provisionParameters":
		return sameParameters(v.Old.Spec.ProvisionParameters, v.New.Spec.ProvisionParameters)
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
	case !isNull(rawOf(spec.ProvisionParameters)):
		return notDedicated("spec.provisionParameters", namespace, instanceAt(spec, namespace))
	case spec.PlanSelector != nil:
		return notDedicated("spec.planSelector", namespace, instanceAt(spec, namespace))
	case err != nil:
		return review.Invalid("InvalidReference", "spec", "%s", err.Error()).Remedy("leave class and plan out: they are the instance's")
	}
	return nil
}

// judgeShape checks what needs no other object.
func (v *bindingValidation) judgeShape() {
	spec, old := v.New.Spec, &bindingSpec{}
	if v.Old != nil {
		old = v.Old.Spec
	}
	v.Denied = v.Denied.Also(misshapen(spec, v.Req.Namespace))
	if v.Old == nil || !sameParameters(old.Parameters, spec.Parameters) {
		v.Denied = v.Denied.Also(unreadableParameters(v.parameters()))
	}
	v.judgeProvision()
	if v.Old == nil || !equality.Semantic.DeepEqual(old.ParametersFrom, spec.ParametersFrom) {
		v.Denied = v.Denied.Also(wrongSources(spec.ParametersFrom, "servicebinding"))
	}
	if old.ExternalID != "" && spec.ExternalID != old.ExternalID {
		v.Deny(immutable("spec.externalID", "it is the binding's identity at its broker").Remedy("leave it out"))
	}
}

// judgeSecrets checks the permission to read the Secrets that transforms name:
// that of the user who writes them, or at a touch that of the binding's user.
func (v *bindingValidation) judgeSecrets(ctx context.Context, to *bound) error {
	asked := transformReview{namespace: v.Req.Namespace, user: v.Req.UserInfo, now: v.New.Spec.SecretTransforms}
	if to.defined != nil {
		asked.plan = to.defined.Plan.Ref
	}
	if v.Old != nil {
		asked.before = askedBefore(v.Old)
		if sameValue(v.Old.Spec.UserInfo, v.New.Spec.UserInfo) && v.New.Spec.UserInfo != nil {
			asked.user = writerOf(v.Old)
		}
	}
	denied, err := v.refusedSecrets(ctx, asked)
	v.Denied = v.Denied.Also(denied)
	return err
}

// judgeBound checks a binding that is now decided against its instance.
func (v *bindingValidation) judgeBound(ctx context.Context, to *bound) error {
	v.Chosen = v.now.plan
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
	restored := appliedOf(v.New.Metadata.Annotations).Rule == ruleRestored
	if to.defined.Class.Ref != v.now.class || !restored && to.defined.Plan.Ref != v.now.plan {
		v.Deny(review.Invalid("Disagreement", "spec.instanceRef.name", "instance %q is of plan %s, and the references say plan %q of class %q",
			v.New.Spec.InstanceRef.Name, to.defined.title(), v.now.plan.Name, v.now.class.Name).Remedy("leave the references out: they are the instance's"))
		return nil
	}
	denied, err := v.refusedFor(ctx, to, v.Req.Namespace)
	if err != nil || denied != nil {
		v.Denied = v.Denied.Also(denied)
		return err
	}
	if err := v.judgeQuota(ctx, to.defined, "spec.instanceRef.name"); err != nil || v.Denied != nil {
		return err
	}
	return v.judgeParameters(ctx, to.defined)
}

// judgeParameters holds what the broker would be sent against the plan's schema
// for bindings.
func (v *bindingValidation) judgeParameters(ctx context.Context, defined *definition) error {
	if v.options.SchemaCheck == SchemaOff || !v.options.Gates.Enabled(SchemaChecks) {
		return nil
	}
	values, err := v.parameters()
	if err != nil {
		return nil //nolint:nilerr // told where the shape is judged
	}
	applied := appliedOf(v.New.Metadata.Annotations)
	if v.Old != nil && applied.Rule == ruleRestored {
		// It was bound without the hooks.
		return nil
	}
	asked := question{which: bindSchema, sent: merge.Without(values, removedPointers(&applied)), partial: len(v.New.Spec.ParametersFrom) > 0}
	report, warning, err := v.schemas.judge(ctx, defined, asked)
	if err != nil {
		return err
	}
	if warning != "" {
		v.Warnf("%s", warning)
	}
	if refused := v.tellReport(&v.Result, report, applied.From); refused != nil {
		v.Deny(refused.Ways(defined.toSee()))
	}
	return nil
}
