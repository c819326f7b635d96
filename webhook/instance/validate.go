package instance

import (
	"context"
	"errors"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A Validation validates the final form of one write of an instance:
// what will be stored. It never recomputes a
// choice.
type Validation struct {
	*Handler
	*Write
	review.Result

	was, Now references.Pair
	// Waited says that the instance is for a claim that was admitted undecided
	// before.
	Waited bool
	// ParameterReader are those of the new object, decoded at most once.
	ParameterReader func() (map[string]any, error)
	// Defined is the plan that the instance is decided on, nil before that or if
	// it is gone.
	Defined *catalog.Definition
}

// Validate is the validating phase.
func (h *Handler) Validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	write, wrong := review.Decode[v1beta1.ServiceInstanceSpec, Progress](req)
	if wrong != nil {
		denied := review.Invalid("Unreadable", wrong.Field, "%s", wrong.Text).Remedy("kubectl explain serviceinstance")
		return review.Result{Rule: review.RuleNone, Denied: denied}, nil
	}
	v := &Validation{
		Handler: h, Write: write, Result: review.Result{Rule: review.RuleNone},
		Now:             references.Of(&write.New.Spec.DecidedReference, req.Namespace),
		ParameterReader: sync.OnceValues(func() (map[string]any, error) { return merge.Decode(parameters.Raw(write.New.Spec.Parameters)) }),
	}
	if v.validateMark(); v.Denied != nil {
		return v.Result, nil
	}
	if req.Operation == admissionv1.Update {
		if v.validateOwner(); v.Denied != nil || sameSpec(v.Old.Spec, v.New.Spec) {
			// What was always wrong is not checked: the object must stay deletable.
			return v.Result, nil
		}
		v.was = references.Of(&v.Old.Spec.DecidedReference, req.Namespace)
	}
	v.ParameterBytes = len(parameters.Raw(write.New.Spec.Parameters))
	if err := v.validate(ctx); err != nil {
		return review.Result{Rule: review.RuleNone}, err
	}
	return v.Result, nil
}

func (v *Validation) validate(ctx context.Context) error {
	if v.Old == nil {
		if done, err := v.validateNewOwner(ctx); done || err != nil {
			return err
		}
	}
	v.validateShape()
	if v.Old != nil {
		v.validateImmutable()
	}
	if v.Denied != nil {
		return nil
	}
	if v.validateAuthor(); v.Denied != nil {
		return nil
	}
	if err := v.validateAdoption(ctx); err != nil || v.Denied != nil {
		return err
	}
	return v.ValidateConfirmed(ctx)
}

// validateAuthor denies a change whose userInfo is not the user who makes it: the
// mutating phase was not called. That happens because the mutating hook's
// matchConditions compare integers with floats after rounding, while the
// validating phase is called for every new generation. For undecided objects
// both are always called.
func (v *Validation) validateAuthor() {
	if v.Old == nil || !v.Old.Spec.Decided() || equality.Semantic.DeepEqual(v.New.Spec.UserInfo, review.Requester(v.Req)) {
		return
	}
	field := "spec.parameters"
	if parameters.Same(v.Old.Spec.Parameters, v.New.Spec.Parameters) {
		field = "spec.updateRequests" // the only other number
	}
	v.Deny(review.Invalid("UnseenChange", field, "the mutating webhook was not asked about this change: a number changes by less than the API server tells apart").
		Remedy("write the number as it is stored, or change it by more"))
}

// validateAdoption validates an external ID that the write chooses.
func (v *Validation) validateAdoption(ctx context.Context) error {
	was := ""
	if v.Old != nil {
		was = v.Old.Spec.ExternalID
	}
	chosen := &externalid.Adoption{Req: v.Req, Meta: &v.New.Metadata, Id: v.New.Spec.ExternalID, Was: was}
	denied, err := chosen.Refuse(ctx, v.Access, v.Resolver.Catalog.Live)
	v.Deny(denied)
	return err
}

// validateShape checks what needs no other object.
func (v *Validation) validateShape() {
	spec := v.New.Spec
	var contradiction *resolve.Error
	if _, err := resolve.RequestFor(&spec.PlanReference, v.Req.Namespace, ""); errors.As(err, &contradiction) {
		v.Deny(decision.Unresolved(contradiction, resolve.Request{}))
	}
	if v.Req.Operation == admissionv1.Create || !parameters.Same(v.Old.Spec.Parameters, spec.Parameters) {
		v.Denied = v.Denied.Also(parameters.Unreadable(v.ParameterReader()))
	}
	if v.Req.Operation == admissionv1.Create || !equality.Semantic.DeepEqual(v.Old.Spec.ParametersFrom, spec.ParametersFrom) {
		v.Denied = v.Denied.Also(parameters.WrongSources(spec.ParametersFrom, "serviceinstance"))
	}
	v.validateSharing()
}

// validateCreate checks the references of a new instance against the catalog.
func (v *Validation) validateCreate() {
	if v.Now.Empty() {
		return
	}
	if v.New.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] == "" {
		v.Deny(references.Forged(&v.New.Spec.DecidedReference))
		return
	}
	v.Denied = v.Denied.Also(v.disagreement(v.New.Spec, v.Now, v.Defined))
}

// validateImmutable denies changes of immutable fields.
func (v *Validation) validateImmutable() {
	old, spec := v.Old.Spec, v.New.Spec
	if spec.UpdateRequests < old.UpdateRequests {
		v.Deny(review.Invalid("UpdateRequests", "spec.updateRequests", "it counts requests and cannot go back from %d to %d", old.UpdateRequests, spec.UpdateRequests).
			Remedy("raise it, or leave it out"))
	}
	if old.ExternalID != "" && spec.ExternalID != old.ExternalID {
		v.Deny(review.Immutable("spec.externalID", "it is the instance's identity at its broker").
			Remedy("leave it out, or put it back: kubectl get -n %s serviceinstance %s -o jsonpath={.spec.externalID}", v.Req.Namespace, v.Req.Name))
	}
	if !old.Decided() {
		return
	}
	if spec.ServiceType != old.ServiceType {
		v.Deny(review.Immutable("spec.serviceType", "the plan is decided").Remedy("create another instance of the other type"))
	}
	if !selectsNothing(spec.PlanSelector) && !equality.Semantic.DeepEqual(spec.PlanSelector, old.PlanSelector) {
		v.Deny(review.Immutable("spec.planSelector", "the plan is decided").
			Remedy("to change the plan, name it, and clear the selector: spec.clusterServicePlanExternalName or another of its names, and spec.planSelector: {}"))
	}
}

// validateUpdate validates names and references that changed.
func (v *Validation) validateUpdate(ctx context.Context, seen view) error {
	old, spec := v.Old.Spec, v.New.Spec
	if !old.Decided() {
		if v.Now.Plan.Name != "" {
			v.Denied = v.Denied.Also(v.disagreement(spec, v.Now, v.Defined))
		}
		return nil
	}
	if v.Now == v.was {
		if spec.PlanReference != old.PlanReference {
			v.Denied = v.Denied.Also(v.disagreement(v.changedNames(), v.Now, v.Defined))
		}
		return nil
	}
	return v.validateReferences(ctx, seen)
}

// changedNames is the spec without unchanged names: a broker may have renamed
// what they refer to since.
func (v *Validation) changedNames() *v1beta1.ServiceInstanceSpec {
	seen := *v.New.Spec
	for _, field := range keptFields {
		same := field.When == restore.WithClass && v.Now.Class == v.was.Class || field.When == restore.WithPlan && v.Now.Plan == v.was.Plan
		if same && reflect.DeepEqual(field.Value(&seen), field.Value(v.Old.Spec)) {
			field.Copy(&seen, &v1beta1.ServiceInstanceSpec{})
		}
	}
	return &seen
}

// validateReferences validates references that changed.
func (v *Validation) validateReferences(ctx context.Context, seen view) error {
	if v.Denied = v.Denied.Also(v.disagreement(v.changedNames(), v.Now, v.Defined)); v.Denied != nil {
		return nil
	}
	before, err := seen.define(ctx, v.was.Plan)
	if err != nil {
		return err
	}
	if before.Gone() && !v.Old.Status.started() {
		return nil
	}
	switch {
	case v.Now.Class != v.was.Class:
		v.Deny(classChange(v.was.Class.Name, v.Now.Class.Name))
	case v.New.Spec.PlanReference == v.Old.Spec.PlanReference:
		v.Deny(review.Invalid("ReferenceChange", "spec."+changedField(v.New.Spec), "it is decided at admission and cannot be edited").
			Remedy("to change the plan, name it: spec.clusterServicePlanExternalName or another of its names"))
	default:
		return v.validatePlanChange(ctx, seen, before)
	}
	return nil
}

// validatePlanChange denies a change from a plan that is not updatable: the plan
// that the instance has at the broker, if status records it, otherwise the
// previously decided one. A change back to the current plan is allowed. The
// controller applies the same rule.
func (v *Validation) validatePlanChange(ctx context.Context, seen view, before *catalog.Definition) error {
	switch has := v.Old.Status.planInForce(); has {
	case "":
	case v.Defined.Plan.ExternalID:
		return nil
	default:
		var err error
		if before, err = seen.inForce(ctx, v.was.Class, has); err != nil {
			return err
		}
	}
	v.Deny(planFixed(before, v.Defined))
	return nil
}

// selectsNothing says that there is no selector, or an explicit {} that clears
// the one that was there.
func selectsNothing(selector *metav1.LabelSelector) bool {
	return selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0
}

func changedField(spec *v1beta1.ServiceInstanceSpec) string {
	if spec.ServicePlanRef != nil && spec.ServicePlanRef.Name != "" {
		return "servicePlanRef"
	}
	return "clusterServicePlanRef"
}
