package webhook

import (
	"context"
	"errors"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// update keeps what was decided, and decides what was not.
func (m *instanceMutation) update(ctx context.Context) error {
	restored := m.restore()
	if len(restored) > 0 {
		m.warnf("kept %s: leaving a field out does not clear it", list(restored))
	}
	guardAnnotations(&m.new.Metadata, &m.old.Metadata, m.annotations)
	m.changed = !sameSpec(m.old.Spec, &m.spec)
	switch {
	case !m.changed && m.old.Spec.UserInfo != nil:
		m.spec.UserInfo = m.old.Spec.UserInfo
	case m.changed, m.spec.UserInfo != nil:
		// Also where no one is on record: whoever writes a name here is someone.
		m.spec.UserInfo = requester(m.req)
	}
	switch {
	case m.old.Spec.Decided():
		return m.updateDecided(ctx)
	case changedReference(&m.new.Spec.DecidedReference, &m.old.Spec.DecidedReference, &m.old.Spec.DecidedReference) != "":
		m.deny(forgedReference(&m.new.Spec.DecidedReference))
		return nil
	case m.new.deleting() || m.old.Status.started():
		return nil
	}
	return m.decide(ctx, m.changed)
}

// guardAnnotations undoes edits of what admission wrote.
func guardAnnotations(now, old *objectMeta, annotations map[string]string) {
	for _, key := range []string{v1beta1.AnnotationMintedExternalID, v1beta1.AnnotationAppliedDefaults} {
		if was := old.Annotations[key]; now.Annotations[key] != was {
			annotations[key] = was
		}
	}
}

// updateDecided applies the restore table's other rows: another plan by name,
// and a plan that is gone before anything was sent to its broker.
func (m *instanceMutation) updateDecided(ctx context.Context) error {
	m.forgetChangedDefaults()
	if !m.changed {
		return nil
	}
	renamed := m.renames(keptWithClass) || m.renames(keptWithPlan)
	lost, err := m.lostPlan(ctx)
	switch {
	case err != nil:
		return err
	case renamed && !lost:
		return m.replan(ctx)
	}
	if m.refuseReferences(&m.new.Spec.DecidedReference, &m.old.Spec.DecidedReference, &m.old.Spec.DecidedReference); m.denied != nil || !lost {
		return nil
	}
	m.dropChosenNames()
	return m.decide(ctx, renamed)
}

// lostPlan says that the plan is gone and that nothing was sent to its broker, so
// that the instance may be decided anew. There is no way back: it is asked live.
func (m *instanceMutation) lostPlan(ctx context.Context) (bool, error) {
	if m.new.deleting() || m.old.Status.started() {
		return false, nil
	}
	plan := refsOf(&m.old.Spec.DecidedReference, m.req.Namespace).plan
	defined, err := m.resolver.catalog.define(ctx, plan)
	if err != nil || !defined.gone() {
		return false, err
	}
	defined, err = m.resolver.catalog.defineLive(ctx, plan)
	return err == nil && defined.gone(), err
}

// dropChosenNames forgets a plan name that an earlier choice filled in: the user
// never asked for that plan.
func (m *instanceMutation) dropChosenNames() {
	applied, err := v1beta1.ParseAppliedDefaults(m.old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults])
	if err != nil {
		return
	}
	switch resolve.Rule(applied.Rule) {
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
		clearPlanNames(&m.spec.PlanReference)
	default:
	}
}

// replan resolves the names that the write gives anew, within the decided class.
func (m *instanceMutation) replan(ctx context.Context) error {
	was := refsOf(&m.old.Spec.DecidedReference, m.req.Namespace)
	choice, err := m.chooseWithin(ctx, was)
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		if refused.Reason == resolve.ClassMismatch && m.renames(keptWithClass) {
			m.deny(classChange(was.class.Name, refused.Class))
			return nil
		}
		m.deny(unresolved(refused, resolve.Request{Namespace: m.req.Namespace, Namespaced: was.plan.Namespace != ""}))
		return nil
	}
	if err != nil {
		return err
	}
	if choice.Class.Ref != was.class {
		m.deny(classChange(was.class.Name, choice.Class.Name))
		return nil
	}
	now := refs{class: choice.Class.Ref, plan: choice.Plan.Ref}
	if now.plan != was.plan {
		m.warnf("plan changed from %s to %s; parameters stay as they are, no default is applied again", was.plan.Name, orElse(choice.Plan.ExternalName, choice.Plan.Name))
		m.audit("plan-change", was.plan.Name+" to "+now.plan.Name)
	}
	given := m.new.Spec.DecidedReference
	now.set(&m.spec.DecidedReference)
	m.refuseReferences(&given, &m.old.Spec.DecidedReference, &m.spec.DecidedReference)
	return nil
}

// chooseWithin resolves the names that the write gives anew; what it does not
// name is what was decided, whatever that is called by now.
func (m *instanceMutation) chooseWithin(ctx context.Context, was refs) (resolve.Choice, error) {
	req, err := resolve.RequestFor(&m.spec.PlanReference, m.req.Namespace, m.seed())
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
