package instance

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// Update keeps what was decided, and decides what was not.
func (m *Mutation) Update(ctx context.Context) error {
	restored := m.restore()
	if len(restored) > 0 {
		m.Warnf("kept %s: leaving a field out does not clear it", strings.Join(restored, ", "))
	}
	m.keepDefaults()
	restore.GuardAnnotations(&m.New.Metadata, &m.Old.Metadata, m.Annotations)
	m.Changed = !sameSpec(m.Old.Spec, &m.Spec)
	switch {
	case !m.Changed && m.Old.Spec.UserInfo != nil:
		m.Spec.UserInfo = m.Old.Spec.UserInfo
	case m.Changed, m.Spec.UserInfo != nil:
		// Also if no user is recorded: a write of userInfo is a write by a user.
		m.Spec.UserInfo = review.Requester(m.Req)
	}
	switch {
	case m.Old.Spec.Decided():
		return m.updateDecided(ctx)
	case references.Changed(&m.New.Spec.DecidedReference, &m.Old.Spec.DecidedReference, &m.Old.Spec.DecidedReference) != "":
		m.Deny(references.Forged(&m.New.Spec.DecidedReference))
		return nil
	case m.New.Deleting() || m.Old.Status.started():
		return nil
	}
	return m.Decide(ctx, m.Changed)
}

// updateDecided applies the other rows of the restore table: a change of plan
// by name, and a plan that is gone before anything was sent to its broker.
func (m *Mutation) updateDecided(ctx context.Context) error {
	m.forgetChangedDefaults()
	if !m.Changed {
		return nil
	}
	renamed := m.renames(restore.WithClass) || m.renames(restore.WithPlan)
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
	return m.Decide(ctx, renamed)
}

// lostPlan says whether the plan is gone and nothing was sent to its broker, so
// that the instance may be decided again. Deciding again cannot be undone, so
// the read is live.
func (m *Mutation) lostPlan(ctx context.Context) (bool, error) {
	if m.New.Deleting() || m.Old.Status.started() {
		return false, nil
	}
	plan := references.Of(&m.Old.Spec.DecidedReference, m.Req.Namespace).Plan
	defined, err := m.Resolver.Catalog.Define(ctx, plan)
	if err != nil || !defined.Gone() {
		return false, err
	}
	defined, err = m.Resolver.Catalog.DefineLive(ctx, plan)
	return err == nil && defined.Gone(), err
}

// dropChosenNames removes a plan name that an earlier choice filled in: the
// user never asked for that plan.
func (m *Mutation) dropChosenNames() {
	applied, err := v1beta1.ParseAppliedDefaults(m.Old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults])
	if err != nil {
		return
	}
	switch resolve.Rule(applied.Rule) {
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
		clearPlanNames(&m.Spec.PlanReference)
	default:
	}
}

// replan resolves the plan names of the write again, within the decided class.
func (m *Mutation) replan(ctx context.Context) error {
	was := references.Of(&m.Old.Spec.DecidedReference, m.Req.Namespace)
	choice, err := m.chooseWithin(ctx, was)
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		if refused.Reason == resolve.ClassMismatch && m.renames(restore.WithClass) {
			m.Deny(classChange(was.Class.Name, refused.Class))
			return nil
		}
		m.Deny(decision.Unresolved(refused, resolve.Request{Namespace: m.Req.Namespace, Namespaced: was.Plan.Namespace != ""}))
		return nil
	}
	if err != nil {
		return err
	}
	if choice.Class.Ref != was.Class {
		m.Deny(classChange(was.Class.Name, choice.Class.Name))
		return nil
	}
	now := references.Pair{Class: choice.Class.Ref, Plan: choice.Plan.Ref}
	if now.Plan != was.Plan {
		m.Warnf("plan changed from %s to %s; parameters stay as they are, no default is applied again", was.Plan.Name, cmp.Or(choice.Plan.ExternalName, choice.Plan.Name))
		m.Audit("plan-change", was.Plan.Name+" to "+now.Plan.Name)
		m.recordChange(&choice)
	}
	given := m.New.Spec.DecidedReference
	now.Set(&m.Spec.DecidedReference)
	m.refuseReferences(&given, &m.Old.Spec.DecidedReference, &m.Spec.DecidedReference)
	return nil
}

// recordChange records that the user named the plan. Defaults that were merged
// before and still exist stay in the record: none is merged again.
func (m *Mutation) recordChange(choice *resolve.Choice) {
	applied := m.recorded()
	applied.Rule, applied.Class, applied.Plan = string(choice.Rule), cmp.Or(choice.Class.ExternalName, choice.Class.Name), cmp.Or(choice.Plan.ExternalName, choice.Plan.Name)
	m.Annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
}

// chooseWithin resolves the new names that the write gives; what it does not name
// stays as decided, even if it was renamed.
func (m *Mutation) chooseWithin(ctx context.Context, was references.Pair) (resolve.Choice, error) {
	req, err := resolve.RequestFor(&m.Spec.PlanReference, m.Req.Namespace, m.Seed())
	if err != nil {
		return resolve.Choice{}, err
	}
	own := was.Plan.Namespace != ""
	if req.Plan.Value != "" && req.Namespaced != own {
		return resolve.Choice{}, &resolve.Error{
			Reason: resolve.InvalidReference, Field: "spec", Value: req.Plan.Value,
			Detail: "the plan is of another scope than the class that was decided",
		}
	}
	if !m.renames(restore.WithClass) {
		req.Class, req.Namespaced = resolve.Named{By: resolve.ByName, Value: was.Class.Name}, own
	}
	if !m.renames(restore.WithPlan) {
		req.Plan = resolve.Named{By: resolve.ByName, Value: was.Plan.Name}
	}
	req.Type = m.Spec.ServiceType
	return m.Resolver.Resolve(ctx, req)
}

// refuseReferences refuses references that the write changes by hand: those that
// are neither what they were nor what they are to be.
func (m *Mutation) refuseReferences(given, was, now *v1beta1.DecidedReference) {
	if field := references.Changed(given, was, now); field != "" {
		m.Deny(review.Invalid("ReferenceChange", field, "it is decided at admission and cannot be edited").
			Remedy("to change the plan, name it: spec.clusterServicePlanExternalName or another of its names"))
	}
}
