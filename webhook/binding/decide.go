package binding

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/schema"
)

// ruleInstance is the rule of a binding: its plan is that of its instance.
const ruleInstance = "instance"

// A decider decides on the plan, default parameters and transforms of a draft.
type decider struct {
	tools *decision.Tools
	reads instanceReads
	draft *draft
}

// decide takes the plan of the binding's instance, and merges the defaults for
// bindings into its parameters and transforms. With refuse, a failure is a
// denial; without, the binding is admitted undecided: updates that do not
// change spec are never denied for this.
func (d decider) decide(ctx context.Context, refuse bool) error {
	if d.draft.Spec.InstanceRef == nil {
		return claimDecider{d}.decide(ctx, refuse)
	}
	to, denied, err := d.binder().bind(ctx, &d.draft.Spec)
	if err != nil {
		return err
	}
	if denied != nil {
		d.hold(denied, refuse)
		return nil
	}
	// An instance of another namespace is read in each phase: it may not be shared any more.
	if to.instance != nil && d.draft.Req.Operation == admissionv1.Create && isMinted(d.draft) && !shares(&d.draft.Spec, d.draft.Req.Namespace) {
		d.reads.keep(d.draft.Spec.ExternalID, to.instance)
	}
	if waits := to.waits(); waits != "" {
		d.wait(waits, refuse)
		return nil
	}
	if !refuse {
		// If policies may deny this write, the validating phase denies it.
		if denied, err = policiesOf(d.tools, d.draft.Req.Namespace).refuse(ctx, &to); err != nil {
			return err
		}
		if denied != nil {
			d.hold(denied, refuse)
			return nil
		}
	}
	return d.complete(ctx, &to, refuse)
}

// binder is the user who writes the binding; at a touch, the recorded user.
func (d decider) binder() binder {
	by := binder{tools: d.tools, namespace: d.draft.Req.Namespace, user: d.draft.Req.UserInfo}
	if d.draft.IsTouch() {
		by.user = writerOf(d.draft.Old)
	}
	return by
}

// complete decides plan, parameters and transforms together, or none of them. A
// binding with an ID that was not generated here is adopted: nothing is added
// to its parameters, because its broker got them as they are.
func (d decider) complete(ctx context.Context, to *bound, refuse bool) error {
	if !isMinted(d.draft) {
		references.Pair{Class: to.defined.Class.Ref, Plan: to.defined.Plan.Ref}.Set(&d.draft.Spec.DecidedReference)
		d.draft.Settled = true
		d.draft.RecordRestored(waitingRecord(d.draft), to.defined)
		d.warnTaken(to.defined)
		return nil
	}
	var applied v1beta1.AppliedDefaults
	parameters.RecordChoice(&applied, ruleInstance, &to.defined.Class, &to.defined.Plan)
	err := d.finish(ctx, to.defined, &applied, refuse)
	if own, _ := to.serviceType(); d.draft.Settled && d.draft.Spec.ServiceType == "" {
		d.draft.Spec.ServiceType = own
	}
	return err
}

// finish merges the defaults for bindings and settles the binding, or holds it.
// applied is the record so far.
func (d decider) finish(ctx context.Context, defined *catalog.Definition, applied *v1beta1.AppliedDefaults, refuse bool) error {
	defaults := &merging{d.tools.Defaults, d.tools.Options.Gates.Enabled(options.BindDefaults), &d.draft.Spec}
	merged, denied, err := defaults.merge(defined, applied)
	if err == nil && denied == nil && d.draft.IsTouch() {
		denied, err = d.refusedLater(ctx, defined, &merged)
	}
	if err != nil {
		return err
	}
	if denied != nil {
		d.hold(denied, refuse)
		return nil
	}
	d.settle(defined, applied, &merged)
	return nil
}

// refusedLater is the denial that the validating phase would give after a
// touch: a binding with one is not decided.
func (d decider) refusedLater(ctx context.Context, defined *catalog.Definition, merged *mergedDefaults) (*review.Denial, error) {
	asked := schema.Question{Which: schema.ForBinding, Sent: merged.parameters.Sent(), Partial: len(d.draft.Spec.ParametersFrom) > 0}
	if denied, err := d.tools.Schemas.Refuse(ctx, defined, asked); err != nil || denied != nil {
		return denied, err
	}
	secrets := transformReview{
		access: d.tools.Access, plans: d.tools.Resolver.Catalog, namespace: d.draft.Req.Namespace,
		user: writerOf(d.draft.Old), before: askedBefore(d.draft.Old), now: merged.transforms, plan: defined.Plan.Ref,
	}
	return secrets.refuse(ctx)
}

// settle stores the decision.
func (d decider) settle(defined *catalog.Definition, applied *v1beta1.AppliedDefaults, merged *mergedDefaults) {
	draft := d.draft
	draft.Settled = true
	if draft.Spec.ExternalID == "" {
		// The binding was created without the hooks.
		draft.Spec.ExternalID = externalid.Mint(draft.Req, "", &draft.New.Metadata, draft.Annotations)
	}
	nameSecret(&draft.Spec, draft.Req.Name)
	references.Pair{Class: defined.Class.Ref, Plan: defined.Plan.Ref}.Set(&draft.Spec.DecidedReference)
	draft.RecordDefaults(applied, &merged.parameters)
	if applied.Transforms != nil {
		draft.Spec.SecretTransforms = merged.transforms
		given := slices.DeleteFunc(slices.Clone(applied.Transforms), func(layer string) bool { return layer == parameters.LayerUser })
		if len(given) > 0 {
			draft.Warnf("defaults of plan %s add %d secret transforms", defined.Title(), len(given))
		}
	}
	draft.Decide(applied.Rule, defined.Plan.Ref, defined.Title())
}

// warnTaken says that nothing was added to a binding of the plan.
func (d decider) warnTaken(defined *catalog.Definition) {
	d.draft.Warnf("taken as it is: plan %s; no default was applied", defined.Title())
}
