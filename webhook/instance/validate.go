package instance

import (
	"cmp"
	"context"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A validation validates the final form of one write of an instance: what will be stored. It
// never recomputes a choice.
type validation struct {
	tools *decision.Tools
	write *Write
	// parameters are those of the new object, decoded at most once.
	parameters func() (map[string]any, error)
	decided    review.Result
}

// Validate is the validating phase.
func (h *Handler) Validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	decided := review.Result{Rule: review.RuleNone}
	write, wrong := review.Decode[v1beta1.ServiceInstanceSpec, Progress](req)
	if wrong != nil {
		decided.Deny(wrong.Denial("serviceinstance"))
		return decided, nil
	}
	if decided.Deny(cmp.Or(markOf(write).Refuse(), decision.RefusePreventDeletion(write))); decided.Denied != nil {
		return decided, nil
	}
	if req.Operation == admissionv1.Update {
		if decided.Deny(refuseOwner(write)); decided.Denied != nil || sameSpec(write.Old.Spec, write.New.Spec) && !unmarked(write) {
			// What was always wrong is not checked: the object must stay deletable.
			return decided, nil
		}
	}
	raw := parameters.Raw(write.New.Spec.Parameters)
	decided.ParameterBytes = len(raw)
	v := &validation{
		tools: h.Tools, write: write, decided: decided,
		parameters: sync.OnceValues(func() (map[string]any, error) { return merge.Decode(raw) }),
	}
	if err := v.validate(ctx); err != nil {
		return review.Result{Rule: review.RuleNone}, err
	}
	return v.decided, nil
}

// validate runs the rules, in order, up to the first that denies.
func (v *validation) validate(ctx context.Context) error {
	w, now := v.write, references.Of(&v.write.New.Spec.DecidedReference, v.write.Req.Namespace)
	if w.Old != nil && sameSpec(w.Old.Spec, w.New.Spec) {
		return v.validatePlan(ctx, now) // nothing else was not validated before
	}
	if w.Old == nil {
		done, denied, err := ownersOf(v.tools).refuseNew(ctx, w)
		v.decided.Deny(denied)
		if done {
			v.decided.Chosen = now.Plan
		}
		if done || err != nil {
			return err
		}
	}
	v.decided.Deny(refuseShape(w, v.parameters))
	if w.Old != nil {
		v.decided.Deny(refuseChanges(w))
	}
	if v.decided.Denied != nil {
		return nil
	}
	if v.decided.Deny(refuseUnseen(w)); v.decided.Denied != nil {
		return nil
	}
	chosen := &externalid.Adoption{Req: w.Req, Meta: &w.New.Metadata, Id: w.New.Spec.ExternalID, Was: w.Before().ExternalID}
	denied, err := chosen.Refuse(ctx, v.tools.Access, v.tools.Resolver.Catalog.Live)
	if v.decided.Deny(denied); err != nil || denied != nil {
		return err
	}
	return v.validatePlan(ctx, now)
}

// validatePlan holds the instance against its plan.
func (v *validation) validatePlan(ctx context.Context, now references.Pair) error {
	plan := &PlanCheck{
		Tools: v.tools, Write: v.write, Now: now, Parameters: v.parameters,
		Was: references.Of(&v.write.Before().DecidedReference, v.write.Req.Namespace),
	}
	checked, err := plan.Run(ctx)
	v.decided.Denied, v.decided.Warnings, v.decided.Chosen = checked.Denied, checked.Warnings, checked.Chosen
	return err
}

// refuseUnseen denies a change whose userInfo is not the user who makes it: the
// mutating phase was not called. That happens because the mutating hook's
// matchConditions compare integers with floats after rounding, while the
// validating phase is called for every new generation. For undecided objects
// both are always called.
func refuseUnseen(w *Write) *review.Denial {
	if w.Old == nil || !w.Old.Spec.Decided() || equality.Semantic.DeepEqual(w.New.Spec.UserInfo, review.Requester(w.Req)) {
		return nil
	}
	field := "spec.parameters"
	if parameters.Same(w.Old.Spec.Parameters, w.New.Spec.Parameters) {
		field = "spec.updateRequests" // the only other number
	}
	return review.Invalid("UnseenChange", field, "the mutating webhook was not asked about this change: a number changes by less than the API server tells apart").
		Remedy("write the number as it is stored, or change it by more")
}
