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
)

func bindSchema(plan *v1beta1.CommonServicePlanSpec) *runtime.RawExtension {
	return plan.ServiceBindingCreateParameterSchema
}

// A bindingValidation judges the final form of one write of a binding: what will
// be stored, whoever made it so.
type bindingValidation struct {
	*bindings
	*bindingWrite
	verdict

	now refs
	// parameters are those of the new object, decoded at most once.
	parameters func() (map[string]any, error)
}

// validate is the validating half.
func (h *bindings) validate(ctx context.Context, req *admission.Request) (verdict, error) {
	write, wrong := readWrite[bindingSpec, bindingProgress](req)
	if wrong != nil {
		denied := invalid("Unreadable", wrong.field, "%s", wrong.text).remedy("kubectl explain servicebinding")
		return verdict{rule: ruleNone, denied: denied}, nil
	}
	v := &bindingValidation{
		bindings: h, bindingWrite: write, verdict: verdict{rule: ruleNone},
		now:        bindingRefs(write.new.Spec, req.Namespace),
		parameters: sync.OnceValues(func() (map[string]any, error) { return merge.Decode(rawOf(write.new.Spec.Parameters)) }),
	}
	if req.Operation == admissionv1.Update && sameBindingSpec(v.old.Spec, v.new.Spec) {
		// What was always wrong is not checked: the object must stay deletable.
		return v.verdict, nil
	}
	v.parameterBytes = len(rawOf(write.new.Spec.Parameters))
	if err := v.judge(ctx); err != nil {
		return verdict{rule: ruleNone}, err
	}
	return v.verdict, nil
}

func (v *bindingValidation) judge(ctx context.Context) error {
	if v.old != nil && settledBinding(v.old) {
		v.judgeSettled()
		return nil
	}
	v.judgeShape()
	if v.denied != nil {
		return nil
	}
	if err := v.judgeAdoption(ctx); err != nil || v.denied != nil {
		return err
	}
	if err := v.judgeSecretName(ctx); err != nil || v.denied != nil {
		return err
	}
	if err := v.judgeServiceName(ctx); err != nil || v.denied != nil {
		return err
	}
	if v.now.plan.Name == "" && shares(v.new.Spec, v.req.Namespace) {
		return v.judgeShared(ctx)
	}
	if v.now.plan.Name == "" {
		return v.judgeSecrets(ctx, &bound{})
	}
	if v.new.Spec.InstanceRef == nil {
		return v.judgeClaim(ctx)
	}
	to, denied, err := v.bind(ctx, v.binder(), v.new.Spec)
	if err != nil {
		return err
	}
	if v.denied = denied; v.denied != nil {
		return nil
	}
	if err := v.judgeSecrets(ctx, &to); err != nil || v.denied != nil {
		return err
	}
	return v.judgeBound(ctx, &to)
}

// judgeAdoption judges an external ID that the write chooses.
func (v *bindingValidation) judgeAdoption(ctx context.Context) error {
	was := ""
	if v.old != nil {
		was = v.old.Spec.ExternalID
	}
	denied, err := v.refusedAdoption(ctx, &adoption{req: v.req, meta: &v.new.Metadata, id: v.new.Spec.ExternalID, was: was})
	v.deny(denied)
	return err
}

// judgeSettled refuses every edit of a binding that was decided: its broker is
// asked once.
func (v *bindingValidation) judgeSettled() {
	for _, field := range keptBindingFields {
		if field.name == fieldRotation || sameValue(field.value(v.old.Spec), field.value(v.new.Spec)) || v.sameJSON(field.name) {
			continue
		}
		v.deny(immutable("spec."+field.name, "a broker is asked for a binding once, and this one is decided"))
	}
	if v.denied != nil {
		v.denied.remedy("create another binding, with a secretName of its own, and delete this one")
	}
}

// sameJSON says that a field holds parameters that are the same, however they are
// written.
func (v *bindingValidation) sameJSON(field string) bool {
	switch field {
	case "parameters":
		return sameParameters(v.old.Spec.Parameters, v.new.Spec.Parameters)
	case "provisionParameters":
		return sameParameters(v.old.Spec.ProvisionParameters, v.new.Spec.ProvisionParameters)
	}
	return false
}

// misshapen refuses a spec that no instance could make right: names that
// contradict each other, and fields that have no effect beside a named instance.
// What is written into them would be lost.
func misshapen(spec *bindingSpec, namespace string) *denial {
	_, err := resolve.RequestFor(&spec.PlanReference, namespace, "")
	switch {
	case spec.InstanceRef == nil:
		return misshapenClaim(spec, namespace)
	case !isNull(rawOf(spec.ProvisionParameters)):
		return notDedicated("spec.provisionParameters", namespace, instanceAt(spec, namespace))
	case spec.PlanSelector != nil:
		return notDedicated("spec.planSelector", namespace, instanceAt(spec, namespace))
	case err != nil:
		return invalid("InvalidReference", "spec", "%s", err.Error()).remedy("leave class and plan out: they are the instance's")
	}
	return nil
}

// judgeShape holds the spec against what needs no look elsewhere.
func (v *bindingValidation) judgeShape() {
	spec, old := v.new.Spec, &bindingSpec{}
	if v.old != nil {
		old = v.old.Spec
	}
	v.denied = v.denied.also(misshapen(spec, v.req.Namespace))
	if v.old == nil || !sameParameters(old.Parameters, spec.Parameters) {
		v.denied = v.denied.also(unreadableParameters(v.parameters()))
	}
	v.judgeProvision()
	if v.old == nil || !equality.Semantic.DeepEqual(old.ParametersFrom, spec.ParametersFrom) {
		v.denied = v.denied.also(wrongSources(spec.ParametersFrom, "servicebinding"))
	}
	if old.ExternalID != "" && spec.ExternalID != old.ExternalID {
		v.deny(immutable("spec.externalID", "it is the binding's identity at its broker").remedy("leave it out"))
	}
}

// judgeSecrets asks for the Secrets that transforms name: of the user who writes
// them, or at a touch of the one who wrote the binding.
func (v *bindingValidation) judgeSecrets(ctx context.Context, to *bound) error {
	asked := transformReview{namespace: v.req.Namespace, user: v.req.UserInfo, now: v.new.Spec.SecretTransforms}
	if to.defined != nil {
		asked.plan = to.defined.Plan.Ref
	}
	if v.old != nil {
		asked.before = askedBefore(v.old)
		if sameValue(v.old.Spec.UserInfo, v.new.Spec.UserInfo) && v.new.Spec.UserInfo != nil {
			asked.user = writerOf(v.old)
		}
	}
	denied, err := v.refusedSecrets(ctx, asked)
	v.denied = v.denied.also(denied)
	return err
}

// judgeBound holds a binding that is now decided against its instance.
func (v *bindingValidation) judgeBound(ctx context.Context, to *bound) error {
	v.chosen = v.now.plan
	if v.new.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] == "" {
		v.deny(forgedOnBinding(&v.new.Spec.DecidedReference))
		return nil
	}
	if waits := to.waits(); waits != "" {
		v.deny(invalid("Disagreement", "spec.instanceRef.name", "instance %q %s, and the references name a plan", v.new.Spec.InstanceRef.Name, waits).
			remedy("leave the references out: they are the instance's"))
		return nil
	}
	// A binding that was made before its instance changed its plan has the former
	// one: within a class that is how a backup looks.
	restored := appliedOf(v.new.Metadata.Annotations).Rule == ruleRestored
	if to.defined.Class.Ref != v.now.class || !restored && to.defined.Plan.Ref != v.now.plan {
		v.deny(invalid("Disagreement", "spec.instanceRef.name", "instance %q is of plan %s, and the references say plan %q of class %q",
			v.new.Spec.InstanceRef.Name, to.defined.title(), v.now.plan.Name, v.now.class.Name).remedy("leave the references out: they are the instance's"))
		return nil
	}
	denied, err := v.refusedFor(ctx, to, v.req.Namespace)
	if err != nil || denied != nil {
		v.denied = v.denied.also(denied)
		return err
	}
	if err := v.judgeQuota(ctx, to.defined, "spec.instanceRef.name"); err != nil || v.denied != nil {
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
	applied := appliedOf(v.new.Metadata.Annotations)
	if v.old != nil && applied.Rule == ruleRestored {
		// It was bound before there were hooks.
		return nil
	}
	asked := question{which: bindSchema, sent: merge.Without(values, removedPointers(&applied)), partial: len(v.new.Spec.ParametersFrom) > 0}
	report, warning, err := v.schemas.judge(ctx, defined, asked)
	if err != nil {
		return err
	}
	if warning != "" {
		v.warnf("%s", warning)
	}
	if refused := v.tellReport(&v.verdict, report, applied.From); refused != nil {
		v.deny(refused.ways(defined.toSee()))
	}
	return nil
}
