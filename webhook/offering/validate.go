package offering

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/webhook/review"
)

// An offeringValidation validates the final form of one write of a class or
// plan. Only changes are validated.
type offeringValidation struct {
	*Offerings
	review.Result

	req *admission.Request
	new *offering
	// old is blank on CREATE.
	old     *offering
	created bool
}

// Validate is the validating phase.
func (h *Offerings) Validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	v := &offeringValidation{Offerings: h, Result: review.Result{Rule: review.RuleNone}, req: req, created: req.Operation == admissionv1.Create}
	if wrong := v.read(); wrong != nil {
		v.Deny(review.Invalid("Unreadable", wrong.Field, "%s", wrong.Text).Remedy("kubectl explain %s", req.Resource.Resource))
		return v.Result, nil
	}
	if err := v.validate(ctx); err != nil {
		return review.Result{Rule: review.RuleNone}, err
	}
	return v.Result, nil
}

func (v *offeringValidation) read() (wrong *review.Unreadable) {
	if v.new, wrong = readOffering(v.req, v.req.Object.Raw); wrong != nil {
		return wrong
	}
	if v.created {
		v.old = viewOffering(newOffering[v.req.Kind.Kind]())
		return nil
	}
	if v.old, wrong = readOffering(v.req, v.req.OldObject.Raw); wrong != nil {
		return &review.Unreadable{Field: wrong.Field, Text: "the stored object cannot be read: " + wrong.Text}
	}
	return nil
}

// validate first checks what needs no other object, then permissions, and last
// what only causes a warning.
func (v *offeringValidation) validate(ctx context.Context) error {
	if v.validateDefaults(); v.Denied != nil {
		return nil
	}
	for _, step := range []func(context.Context) error{v.validateTransforms, v.validateBroker, v.validateOneDefault} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	v.warnOfAnnotations()
	if v.Denied != nil || !v.Schemas.Checked() {
		return nil
	}
	warn := v.warnOfPlan
	if v.new.plan == nil {
		warn = v.warnOfClass
	}
	review.WarnInTime(ctx, warn)
	return nil
}

// validateOneDefault denies a second default of a type.
func (v *offeringValidation) validateOneDefault(ctx context.Context) error {
	validate := v.oneDefault.validateClass
	if v.new.plan != nil {
		validate = v.oneDefault.validatePlan
	}
	var old client.Object
	if !v.created {
		old = v.old.object
	}
	decided, err := validate(ctx, v.req, old, v.new.object)
	v.Deny(decided.Denied)
	v.Warnings = append(v.Warnings, decided.Warnings...)
	return err
}
