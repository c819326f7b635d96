package webhook

import (
	"context"
	"errors"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// An instanceValidation validates the final form of one write of an instance:
// what will be stored, including changes by other hooks. It never recomputes a
// choice.
type instanceValidation struct {
	*instances
	*instanceWrite
	review.Result

	was, now refs
	// waited says that the instance is for a claim that was admitted undecided
	// before.
	waited bool
	// parameters are those of the new object, decoded at most once.
	parameters func() (map[string]any, error)
	// defined is the plan that the instance is decided on, nil before that or if
	// it is gone.
	defined *definition
}

// validate is the validating phase.
func (h *instances) validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	write, wrong := review.Decode[v1beta1.ServiceInstanceSpec, progress](req)
	if wrong != nil {
		denied := review.Invalid("Unreadable", wrong.Field, "%s", wrong.Text).Remedy("kubectl explain serviceinstance")
		return review.Result{Rule: review.RuleNone, Denied: denied}, nil
	}
	v := &instanceValidation{
		instances: h, instanceWrite: write, Result: review.Result{Rule: review.RuleNone},
		now:        refsOf(&write.New.Spec.DecidedReference, req.Namespace),
		parameters: sync.OnceValues(func() (map[string]any, error) { return merge.Decode(rawOf(write.New.Spec.Parameters)) }),
	}
	if v.judgeMark(); v.Denied != nil {
		return v.Result, nil
	}
	if req.Operation == admissionv1.Update {
		if v.judgeOwner(); v.Denied != nil || sameSpec(v.Old.Spec, v.New.Spec) {
			// What was always wrong is not checked: the object must stay deletable.
			return v.Result, nil
		}
		v.was = refsOf(&v.Old.Spec.DecidedReference, req.Namespace)
	}
	v.ParameterBytes = len(rawOf(write.New.Spec.Parameters))
	if err := v.judge(ctx); err != nil {
		return review.Result{Rule: review.RuleNone}, err
	}
	return v.Result, nil
}

func (v *instanceValidation) judge(ctx context.Context) error {
	if v.Old == nil {
		if done, err := v.judgeNewOwner(ctx); done || err != nil {
			return err
		}
	}
	v.judgeShape()
	if v.Old != nil {
		v.judgeImmutable()
	}
	if v.Denied != nil {
		return nil
	}
	if v.judgeAuthor(); v.Denied != nil {
		return nil
	}
	if err := v.judgeAdoption(ctx); err != nil || v.Denied != nil {
		return err
	}
	return v.judgeConfirmed(ctx)
}

// judgeAuthor denies a change whose userInfo is not the user who makes it: the
// mutating phase was not called. That happens because the mutating hook's
// matchConditions compare integers with floats after rounding, while the
// validating hook is called for every new generation. For undecided objects
// both are always called.
func (v *instanceValidation) judgeAuthor() {
	if v.Old == nil || !v.Old.Spec.Decided() || equality.Semantic.DeepEqual(v.New.Spec.UserInfo, requester(v.Req)) {
		return
	}
	field := "spec.parameters"
	if sameParameters(v.Old.Spec.Parameters, v.New.Spec.Parameters) {
		field = "spec.updateRequests" // the only other number
	}
	v.Deny(review.Invalid("UnseenChange", field, "the mutating webhook was not asked about this change: a number changes by less than the API server tells apart").
		Remedy("write the number as it is stored, or change it by more"))
}

// judgeAdoption judges an external ID that the write chooses.
func (v *instanceValidation) judgeAdoption(ctx context.Context) error {
	was := ""
	if v.Old != nil {
		was = v.Old.Spec.ExternalID
	}
	denied, err := v.refusedAdoption(ctx, &adoption{req: v.Req, meta: &v.New.Metadata, id: v.New.Spec.ExternalID, was: was})
	v.Deny(denied)
	return err
}

// judgeShape checks what needs no other object.
func (v *instanceValidation) judgeShape() {
	spec := v.New.Spec
	var contradiction *resolve.Error
	if _, err := resolve.RequestFor(&spec.PlanReference, v.Req.Namespace, ""); errors.As(err, &contradiction) {
		v.Deny(unresolved(contradiction, resolve.Request{}))
	}
	if v.Req.Operation == admissionv1.Create || !sameParameters(v.Old.Spec.Parameters, spec.Parameters) {
		v.Denied = v.Denied.Also(unreadableParameters(v.parameters()))
	}
	if v.Req.Operation == admissionv1.Create || !equality.Semantic.DeepEqual(v.Old.Spec.ParametersFrom, spec.ParametersFrom) {
		v.Denied = v.Denied.Also(wrongSources(spec.ParametersFrom, "serviceinstance"))
	}
	v.judgeSharing()
}

// judgeCreate checks the references of a new instance against the catalog.
func (v *instanceValidation) judgeCreate() {
	if v.now.empty() {
		return
	}
	if v.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] == "" {
		v.Deny(forgedReference(&v.New.Spec.DecidedReference))
		return
	}
	v.Denied = v.Denied.Also(v.disagreement(v.New.Spec, v.now, v.defined))
}

// judgeImmutable denies changes of immutable fields.
func (v *instanceValidation) judgeImmutable() {
	old, spec := v.Old.Spec, v.New.Spec
	if spec.UpdateRequests < old.UpdateRequests {
		v.Deny(review.Invalid("UpdateRequests", "spec.updateRequests", "it counts requests and cannot go back from %d to %d", old.UpdateRequests, spec.UpdateRequests).
			Remedy("raise it, or leave it out"))
	}
	if old.ExternalID != "" && spec.ExternalID != old.ExternalID {
		v.Deny(immutable("spec.externalID", "it is the instance's identity at its broker").
			Remedy("leave it out, or put it back: kubectl get -n %s serviceinstance %s -o jsonpath={.spec.externalID}", v.Req.Namespace, v.Req.Name))
	}
	if !old.Decided() {
		return
	}
	if spec.ServiceType != old.ServiceType {
		v.Deny(immutable("spec.serviceType", "the plan is decided").Remedy("create another instance of the other type"))
	}
	if !selectsNothing(spec.PlanSelector) && !equality.Semantic.DeepEqual(spec.PlanSelector, old.PlanSelector) {
		v.Deny(immutable("spec.planSelector", "the plan is decided").
			Remedy("to change the plan, name it, and clear the selector: spec.clusterServicePlanExternalName or another of its names, and spec.planSelector: {}"))
	}
}

// judgeUpdate validates names and references that changed.
func (v *instanceValidation) judgeUpdate(ctx context.Context, seen view) error {
	old, spec := v.Old.Spec, v.New.Spec
	if !old.Decided() {
		if v.now.plan.Name != "" {
			v.Denied = v.Denied.Also(v.disagreement(spec, v.now, v.defined))
		}
		return nil
	}
	if v.now == v.was {
		if spec.PlanReference != old.PlanReference {
			v.Denied = v.Denied.Also(v.disagreement(v.changedNames(), v.now, v.defined))
		}
		return nil
	}
	return v.judgeReferences(ctx, seen)
}

// changedNames is the spec without unchanged names: a broker may have renamed
// what they refer to since.
func (v *instanceValidation) changedNames() *v1beta1.ServiceInstanceSpec {
	seen := *v.New.Spec
	for _, field := range keptFields {
		same := field.when == keptWithClass && v.now.class == v.was.class || field.when == keptWithPlan && v.now.plan == v.was.plan
		if same && sameValue(field.value(&seen), field.value(v.Old.Spec)) {
			field.copy(&seen, &v1beta1.ServiceInstanceSpec{})
		}
	}
	return &seen
}

// judgeReferences judges references that changed.
func (v *instanceValidation) judgeReferences(ctx context.Context, seen view) error {
	if v.Denied = v.Denied.Also(v.disagreement(v.changedNames(), v.now, v.defined)); v.Denied != nil {
		return nil
	}
	before, err := seen.define(ctx, v.was.plan)
	if err != nil {
		return err
	}
	if before.gone() && !v.Old.Status.started() {
		return nil
	}
	switch {
	case v.now.class != v.was.class:
		v.Deny(classChange(v.was.class.Name, v.now.class.Name))
	case v.New.Spec.PlanReference == v.Old.Spec.PlanReference:
		v.Deny(review.Invalid("ReferenceChange", "spec."+changedField(v.New.Spec), "it is decided at admission and cannot be edited").
			Remedy("to change the plan, name it: spec.clusterServicePlanExternalName or another of its names"))
	default:
		return v.judgePlanChange(ctx, seen, before)
	}
	return nil
}

// judgePlanChange denies a change from a plan that is not updatable: the plan
// that the instance has at the broker, if status records it, otherwise the
// previously decided one. A change back to the current plan is allowed. The
// controller applies the same rule.
func (v *instanceValidation) judgePlanChange(ctx context.Context, seen view, before *definition) error {
	switch has := v.Old.Status.planInForce(); has {
	case "":
	case v.defined.Plan.ExternalID:
		return nil
	default:
		var err error
		if before, err = seen.inForce(ctx, v.was.class, has); err != nil {
			return err
		}
	}
	v.Deny(before.planFixed(v.defined))
	return nil
}

// selectsNothing says that there is no selector, or an explicit {} that clears
// the one that was there.
func selectsNothing(selector *labelSelector) bool {
	return selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0
}

func changedField(spec *v1beta1.ServiceInstanceSpec) string {
	if spec.ServicePlanRef != nil && spec.ServicePlanRef.Name != "" {
		return "servicePlanRef"
	}
	return "clusterServicePlanRef"
}

func immutable(field, why string) *review.Denial {
	return review.Invalid("Immutable", field, "it cannot change: %s", why)
}
