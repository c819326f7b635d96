package webhook

import (
	"context"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/webhook/review"
)

// An offeringValidation validates the final form of one write of a class or
// plan. Only changes are validated.
type offeringValidation struct {
	*offerings
	review.Result

	req *admission.Request
	new *offering
	// old is blank on CREATE.
	old     *offering
	created bool
}

// validate is the validating phase.
func (h *offerings) validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	v := &offeringValidation{offerings: h, Result: review.Result{Rule: review.RuleNone}, req: req, created: req.Operation == admissionv1.Create}
	if wrong := v.read(); wrong != nil {
		v.Deny(review.Invalid("Unreadable", wrong.Field, "%s", wrong.Text).Remedy("kubectl explain %s", req.Resource.Resource))
		return v.Result, nil
	}
	if err := v.judge(ctx); err != nil {
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

// judge first checks what needs no other object, then permissions, and last
// what only causes a warning.
func (v *offeringValidation) judge(ctx context.Context) error {
	if v.judgeDefaults(); v.Denied != nil {
		return nil
	}
	for _, step := range []func(context.Context) error{v.judgeTransforms, v.judgeBroker, v.judgeOneDefault} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	v.warnOfAnnotations()
	if v.Denied != nil || v.options.SchemaCheck == SchemaOff || !v.options.Gates.Enabled(SchemaChecks) {
		return nil
	}
	v.warn(ctx)
	return nil
}

// warnTime bounds how long a write waits for warnings.
const warnTime = time.Second

// warn adds warnings. What cannot be read in time causes no warning, and never
// an error.
func (v *offeringValidation) warn(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, warnTime)
	defer cancel()
	step := v.warnOfPlan
	if v.new.plan == nil {
		step = v.warnOfClass
	}
	if err := step(ctx); err != nil {
		log.FromContext(ctx).V(1).Info("not all warnings could be given", "cause", err.Error())
	}
}

// judgeOneDefault denies a second default of a type.
func (v *offeringValidation) judgeOneDefault(ctx context.Context) error {
	judge := v.oneDefault.judgeClass
	if v.new.plan != nil {
		judge = v.oneDefault.judgePlan
	}
	var old client.Object
	if !v.created {
		old = v.old.object
	}
	decided, err := judge(ctx, v.req, old, v.new.object)
	v.Deny(decided.Denied)
	v.Warnings = append(v.Warnings, decided.Warnings...)
	return err
}
