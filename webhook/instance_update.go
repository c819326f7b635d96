package webhook

import (
	"cmp"
	"context"
	"errors"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Update keeps what was decided, and decides what was not.
func (m *instanceMutation) Update(ctx context.Context) error {
	restored := m.restore()
	if len(restored) > 0 {
		m.Warnf("kept %s: leaving a field out does not clear it", list(restored))
	}
	m.keepDefaults()
	guardAnnotations(&m.New.Metadata, &m.Old.Metadata, m.annotations)
	m.changed = !sameSpec(m.Old.Spec, &m.spec)
	switch {
	case !m.changed && m.Old.Spec.UserInfo != nil:
		m.spec.UserInfo = m.Old.Spec.UserInfo
	case m.changed, m.spec.UserInfo != nil:
		// Also if no user is recorded: a write of userInfo is a write by a
		// user.
		m.spec.UserInfo = requester(m.Req)
	}
	switch {
	case m.Old.Spec.Decided():
		return m.updateDecided(ctx)
	case changedReference(&m.New.Spec.DecidedReference, &m.Old.Spec.DecidedReference, &m.Old.Spec.DecidedReference) != "":
		m.Deny(forgedReference(&m.New.Spec.DecidedReference))
		return nil
	case m.New.Deleting() || m.Old.Status.started():
		return nil
	}
	return m.decide(ctx, m.changed)
}

// guardAnnotations undoes edits of what admission wrote.
func guardAnnotations(now, old *review.ObjectMeta, annotations map[string]string) {
	for _, key := range []string{v1beta1.AnnotationMintedExternalID, v1beta1.AnnotationAppliedDefaults} {
		if was := old.Annotations[key]; now.Annotations[key] != was {
			annotations[key] = was
		}
	}
}

// updateDecided applies the other rows of the restore table: a change of plan
// by name, and a plan that is gone before anything was sent to its broker.
func (m *instanceMutation) updateDecided(ctx context.Context) error {
	m.forgetChangedDefaults()
	if !m.changed {
		return nil
	}
	renamed := m.renames(keptWithClass) || m.renames(keptWithPlan)
	lost, err := m.lostPlan(ctx)
	if err != nil {
		return err
	}
	if !lost {
		m.tellDropped()
	}
	if renamed && !lost {
		return m.replan(ctx)
	}
	if m.refuseReferences(&m.New.Spec.DecidedReference, &m.Old.Spec.DecidedReference, &m.Old.Spec.DecidedReference); m.Denied != nil || !lost {
		return nil
	}
	m.dropChosenNames()
	return m.decide(ctx, renamed)
}

// lostPlan says whether the plan is gone and nothing was sent to its broker, so
// that the instance may be decided again. Deciding again cannot be undone, so
// the read is live.
func (m *instanceMutation) lostPlan(ctx context.Context) (bool, error) {
	if m.New.Deleting() || m.Old.Status.started() {
		return false, nil
	}
	plan := refsOf(&m.Old.Spec.DecidedReference, m.Req.Namespace).plan
	defined, err := m.resolver.catalog.define(ctx, plan)
	if err != nil || !defined.gone() {
		return false, err
	}
	defined, err = m.resolver.catalog.defineLive(ctx, plan)
	return err == nil && defined.gone(), err
}

// dropChosenNames removes a plan name that an earlier choice filled in: the
// user never asked for that plan.
func (m *instanceMutation) dropChosenNames() {
	applied, err := v1beta1.ParseAppliedDefaults(m.Old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults])
	if err != nil {
		return
	}
	switch resolve.Rule(applied.Rule) {
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
		clearPlanNames(&m.spec.PlanReference)
	default:
	}
}

// replan resolves the plan names of the write again, within the decided class.
func (m *instanceMutation) replan(ctx context.Context) error {
	was := refsOf(&m.Old.Spec.DecidedReference, m.Req.Namespace)
	choice, err := m.chooseWithin(ctx, was)
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		if refused.Reason == resolve.ClassMismatch && m.renames(keptWithClass) {
			m.Deny(classChange(was.class.Name, refused.Class))
			return nil
		}
		m.Deny(unresolved(refused, resolve.Request{Namespace: m.Req.Namespace, Namespaced: was.plan.Namespace != ""}))
		return nil
	}
	if err != nil {
		return err
	}
	if choice.Class.Ref != was.class {
		m.Deny(classChange(was.class.Name, choice.Class.Name))
		return nil
	}
	now := refs{class: choice.Class.Ref, plan: choice.Plan.Ref}
	if now.plan != was.plan {
		m.Warnf("plan changed from %s to %s; parameters stay as they are, no default is applied again", was.plan.Name, cmp.Or(choice.Plan.ExternalName, choice.Plan.Name))
		m.Audit("plan-change", was.plan.Name+" to "+now.plan.Name)
		m.recordChange(&choice)
	}
	given := m.New.Spec.DecidedReference
	now.set(&m.spec.DecidedReference)
	m.refuseReferences(&given, &m.Old.Spec.DecidedReference, &m.spec.DecidedReference)
	return nil
}

// recordChange records that the user named the plan. Defaults that were merged
// before and still exist stay in the record: none is merged again.
func (m *instanceMutation) recordChange(choice *resolve.Choice) {
	applied := m.recorded()
	applied.Rule, applied.Class, applied.Plan = string(choice.Rule), cmp.Or(choice.Class.ExternalName, choice.Class.Name), cmp.Or(choice.Plan.ExternalName, choice.Plan.Name)
	m.annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
}

// chooseWithin resolves the names that the write gives. What it does not name
// stays as decided, even if it was renamed.
func (m *instanceMutation) chooseWithin(ctx context.Context, was refs) (resolve.Choice, error) {
	req, err := resolve.RequestFor(&m.spec.PlanReference, m.Req.Namespace, m.Seed())
	if err != nil {
		return resolve.Choice{}, err
	}
	own := was.plan.Namespace != ""
	if req.Plan.Value != "" && req.Namespaced != own {
		return resolve.Choice{}, &resolve.Error{
			Reason: resolve.InvalidReference, Field: "spec", Value: req.Plan.Value,
			Detail: "the plan is of another scope than the class that was decided",
		}
	}
	if !m.renames(keptWithClass) {
		req.Class, req.Namespaced = resolve.Named{By: resolve.ByName, Value: was.class.Name}, own
	}
	if !m.renames(keptWithPlan) {
		req.Plan = resolve.Named{By: resolve.ByName, Value: was.plan.Name}
	}
	req.Type = m.spec.ServiceType
	return m.resolver.resolve(ctx, req)
}
