package offering

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/defaultplan/defaultplan/webhook/review"
)

// A change is one write of a class or plan. Only what it changes is validated.
type change struct {
	req *admission.Request
	new *offering
	// old is blank on CREATE.
	old     *offering
	created bool
}

func readChange(req *admission.Request) (c *change, wrong *review.Unreadable) {
	c = &change{req: req, created: req.Operation == admissionv1.Create}
	if c.new, wrong = readOffering(req, req.Object.Raw); wrong != nil {
		return nil, wrong
	}
	if c.created {
		c.old = viewOffering(newOffering[req.Kind.Kind]())
		return c, nil
	}
	if c.old, wrong = readOffering(req, req.OldObject.Raw); wrong != nil {
		return nil, &review.Unreadable{Field: wrong.Field, Text: "the stored object cannot be read: " + wrong.Text}
	}
	return c, nil
}

// Validate is the validating phase. It first checks what needs no other object, then permissions,
// and last what only causes a warning.
func (o *Offerings) Validate(ctx context.Context, req *admission.Request) (review.Result, error) {
	decided := review.Result{Rule: review.RuleNone}
	c, wrong := readChange(req)
	if wrong != nil {
		decided.Deny(wrong.Denial(req.Resource.Resource))
		return decided, nil
	}
	gates := o.tools.Options.Gates
	if decided.Deny(refuseDefaults(c, gates)); decided.Denied != nil {
		return decided, nil
	}
	if err := o.validateRights(ctx, c, &decided); err != nil {
		return review.Result{Rule: review.RuleNone}, err
	}
	for _, warning := range idleAnnotations(c.old, c.new) {
		decided.Warnf("%s", warning)
	}
	if decided.Denied == nil && o.tools.Schemas.Checked() {
		schemas := &schemaCheck{schemas: o.tools.Schemas, gates: gates, cached: o.tools.Resolver.Catalog.Cached, change: c, decided: &decided}
		review.WarnInTime(ctx, schemas.warn)
	}
	return decided, nil
}

// validateRights denies what the writer has no right to, and a second default of a type.
func (o *Offerings) validateRights(ctx context.Context, c *change, decided *review.Result) error {
	secrets := secretCheck{access: o.tools.Access, options: o.tools.Options, req: c.req}
	denied, err := secrets.refuse(ctx, c.old.defaults.DefaultSecretTransforms, c.new.defaults.DefaultSecretTransforms)
	if decided.Deny(denied); err != nil {
		return err
	}
	brokers := brokerCheck{access: o.tools.Access, live: o.tools.Resolver.Catalog.Live, change: c}
	denied, err = brokers.refuse(ctx)
	if decided.Deny(denied); err != nil {
		return err
	}
	validate := o.oneDefault.validateClass
	if c.new.plan != nil {
		validate = o.oneDefault.validatePlan
	}
	var old client.Object
	if !c.created {
		old = c.old.object
	}
	one, err := validate(ctx, c.req, old, c.new.object)
	decided.Deny(one.Denied)
	decided.Warnings = append(decided.Warnings, one.Warnings...)
	return err
}
