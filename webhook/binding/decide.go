package binding

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/instance"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/schema"
)

// ruleInstance is the rule of a binding: its plan is that of its instance.
const ruleInstance = "instance"

// decide takes the plan of the binding's instance, and merges the defaults for
// bindings into its parameters and transforms. With refuse, a failure is a
// denial; without, the binding is admitted undecided: updates that do not
// change spec are never denied for this.
func (m *mutation) decide(ctx context.Context, refuse bool) error {
	if m.spec.InstanceRef == nil {
		return m.decideClaim(ctx, refuse)
	}
	to, denied, err := m.bind(ctx, m.binder(), &m.spec)
	if err != nil {
		return err
	}
	if denied != nil {
		m.hold(denied, refuse)
		return nil
	}
	if waits := to.waits(); waits != "" {
		m.wait(waits, refuse)
		return nil
	}
	if !refuse {
		// If policies may deny this write, the validating phase denies does.
		if denied, err = m.refusedFor(ctx, &to, m.Req.Namespace); err != nil {
			return err
		}
		if denied != nil {
			m.hold(denied, refuse)
			return nil
		}
	}
	return m.complete(ctx, &to, refuse)
}

// complete decides plan, parameters and transforms together, or none of them. A
// binding with an ID that was not generated here is adopted: nothing is added
// to its parameters, because its broker got them as they are.
func (m *mutation) complete(ctx context.Context, to *bound, refuse bool) error {
	if !m.minted() {
		references.Pair{Class: to.defined.Class.Ref, Plan: to.defined.Plan.Ref}.Set(&m.spec.DecidedReference)
		m.settled = true
		m.restored(m.waitingRecord(), to.defined)
		return nil
	}
	applied := v1beta1.AppliedDefaults{
		Rule: ruleInstance, Class: cmp.Or(to.defined.Class.ExternalName, to.defined.Class.Name),
		Plan: cmp.Or(to.defined.Plan.ExternalName, to.defined.Plan.Name),
	}
	err := m.finish(ctx, to.defined, &applied, refuse)
	if own, _ := to.serviceType(); m.settled && m.spec.ServiceType == "" {
		m.spec.ServiceType = own
	}
	return err
}

// finish merges the defaults for bindings and settles the binding, or holds it.
// applied is the record so far.
func (m *mutation) finish(ctx context.Context, defined *catalog.Definition, applied *v1beta1.AppliedDefaults, refuse bool) error {
	merged, denied, err := m.mergeDefaults(defined, applied)
	if err != nil {
		return err
	}
	transforms, refused := m.mergeTransforms(defined, applied)
	if denied = denied.Also(refused); denied == nil {
		denied = parameters.TooMuchRemoved(applied)
	}
	if denied == nil && m.Old != nil && !m.changed {
		denied, err = m.refusedLater(ctx, defined, &merged, transforms)
	}
	if err != nil {
		return err
	}
	if denied != nil {
		m.hold(denied, refuse)
		return nil
	}
	m.settle(defined, applied, &merged, transforms)
	return nil
}

// hold denies what cannot be decided, or leaves it undecided.
func (m *mutation) hold(denied *review.Denial, refuse bool) {
	if refuse {
		m.Deny(denied)
		return
	}
	m.leave(denied.Label, denied.Causes[0].Field+": "+denied.Causes[0].Message)
}

// leave admits the binding without a decision, and says why.
func (m *mutation) leave(label, why string) {
	m.undecided(label, why, "the binding waits")
}

// undecided admits the binding without a decision, and warns of the reason and
// of what happens next.
func (m *mutation) undecided(label, why, becomes string) {
	m.Rule = review.RuleUndecided
	m.Audit("undecided", label)
	m.Warnf(instance.UndecidedYet+"%s; %s", why, becomes)
}

// mergeDefaults merges the parameters class < plan < binding.
func (m *mutation) mergeDefaults(defined *catalog.Definition, applied *v1beta1.AppliedDefaults) (merge.Result, *review.Denial, error) {
	user, err := merge.Decode(parameters.Raw(m.spec.Parameters))
	if err != nil {
		return merge.Result{}, review.Invalid("InvalidParameters", "spec.parameters", "%s", err.Error()), nil
	}
	var layers []merge.Layer
	if m.Options.Gates.Enabled(options.BindDefaults) {
		var denied *review.Denial
		if layers, denied = m.Defaults.Layers(defined, parameters.BindDefaults); denied != nil {
			return merge.Result{}, denied, nil
		}
	}
	merged, denied, err := parameters.Merge(append(layers, merge.Layer{Name: parameters.LayerUser, Values: user}), defined)
	if err != nil || denied != nil {
		return merge.Result{}, denied, err
	}
	parameters.NoteMerged(applied, &merged)
	return merged, nil, nil
}

// mergeTransforms merges the transforms of class, plan and binding.
func (m *mutation) mergeTransforms(defined *catalog.Definition, applied *v1beta1.AppliedDefaults) ([]v1beta1.SecretTransform, *review.Denial) {
	layers := []merge.TransformLayer{{Name: parameters.LayerUser, Transforms: m.spec.SecretTransforms}}
	if m.Options.Gates.Enabled(options.BindDefaults) && m.spec.SecretTransformDefaults != v1beta1.SecretTransformDefaultsNone {
		layers = append(defaultTransforms(defined), layers...)
	}
	merged, err := merge.Transforms(layers...)
	if wrong, ok := errors.AsType[*merge.TransformError](err); ok && wrong.Layer == parameters.LayerUser {
		return nil, review.Invalid("InvalidTransforms", fmt.Sprintf("spec.secretTransforms[%d]", wrong.Index), "%s", wrong.Detail).
			Remedy("kubectl explain servicebinding.spec.secretTransforms")
	}
	if err != nil {
		return nil, review.Invalid("InvalidTransforms", "spec.secretTransforms", "%s", err.Error()).
			Remedy("set spec.secretTransformDefaults: None to ignore the transforms of class and plan")
	}
	if len(merged.Transforms) > len(m.spec.SecretTransforms) {
		applied.Transforms = merged.Layers
	}
	return merged.Transforms, nil
}

// defaultTransforms are those that class and plan give.
func defaultTransforms(defined *catalog.Definition) []merge.TransformLayer {
	return []merge.TransformLayer{
		{Name: parameters.LayerClass, Transforms: defined.ClassSpec.DefaultSecretTransforms},
		{Name: parameters.LayerPlan, Transforms: defined.PlanSpec.DefaultSecretTransforms},
	}
}

// refusedLater is the denial that the validating phase would give after a
// touch: a binding with one is not decided.
func (m *mutation) refusedLater(ctx context.Context, defined *catalog.Definition, merged *merge.Result, transforms []v1beta1.SecretTransform) (*review.Denial, error) {
	if m.Schemas.Enforced() {
		asked := schema.Question{Which: schema.ForBinding, Sent: merged.Sent(), Partial: len(m.spec.ParametersFrom) > 0}
		report, _, err := m.Schemas.Check(ctx, defined, asked)
		if err != nil {
			return nil, err
		}
		if len(report.Violations) > 0 {
			return schema.FirstViolation(report), nil
		}
	}
	return m.refusedSecrets(ctx, transformReview{namespace: m.Req.Namespace, user: writerOf(m.Old), before: askedBefore(m.Old), now: transforms, plan: defined.Plan.Ref})
}

// settle records the decision.
func (m *mutation) settle(defined *catalog.Definition, applied *v1beta1.AppliedDefaults, merged *merge.Result, transforms []v1beta1.SecretTransform) {
	m.Rule, m.Chosen, m.settled = applied.Rule, defined.Plan.Ref, true
	if m.spec.ExternalID == "" {
		// The binding was created without the hooks.
		m.spec.ExternalID = externalid.Mint(m.Req, "", &m.New.Metadata, m.annotations)
	}
	m.nameSecret()
	references.Pair{Class: defined.Class.Ref, Plan: defined.Plan.Ref}.Set(&m.spec.DecidedReference)
	if applied.Transforms != nil {
		m.spec.SecretTransforms = transforms
	}
	m.annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	m.additions = append(m.additions, parameters.AdditionsOf(merged)...)
	if len(applied.From) > 0 {
		m.Warnf("defaults set %s", parameters.Names(applied.From))
	}
	if given := len(transforms) - countOf(applied.Transforms, parameters.LayerUser); applied.Transforms != nil && given > 0 {
		m.Warnf("defaults of plan %s add %d secret transforms", defined.Title(), given)
	}
	m.Audit("rule", m.Rule)
	m.Audit("plan", defined.Title())
}

func countOf(words []string, word string) int {
	n := 0
	for _, w := range words {
		if w == word {
			n++
		}
	}
	return n
}
