package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// UndecidedYet begins the warning of a write that is admitted without a plan.
const UndecidedYet = "no plan is decided yet: "

// Decide resolves the instance's class and plan and merges their defaults into
// its parameters. With refuse, a failure is a denial; without, the instance is
// admitted undecided: updates that do not change spec are never denied for
// this.
func (m *Mutation) Decide(ctx context.Context, refuse bool) error {
	req, err := m.request()
	var choice resolve.Choice
	if err == nil {
		choice, err = m.Resolver.Resolve(ctx, req)
	}
	if err == nil && !refuse {
		// If policies may deny this write, the validating phase denies does.
		err = m.Resolver.Refuse(ctx, req, &choice)
	}
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		m.undecided(refused, req, refuse)
		return nil
	}
	if refused, ok := errors.AsType[*policies.RefusedError](err); ok {
		m.hold(refused.Denial("spec"), refuse)
		return nil
	}
	if err != nil {
		return err
	}
	defined, err := m.Resolver.Catalog.DefineChoice(ctx, &choice)
	if err != nil {
		return err
	}
	if defined == nil {
		return fmt.Errorf("cannot read plan %q that was just chosen: it is gone again; try once more", choice.Plan.Name)
	}
	return m.complete(ctx, &choice, defined, refuse)
}

// complete decides the choice together with its parameters, or neither.
func (m *Mutation) complete(ctx context.Context, choice *resolve.Choice, defined *catalog.Definition, refuse bool) error {
	merged, denied, err := m.mergeDefaults(defined)
	if err == nil && denied == nil && m.Old != nil && !m.Changed {
		denied, err = m.refusedBySchema(ctx, defined, &merged)
	}
	if err != nil {
		return err
	}
	var applied v1beta1.AppliedDefaults
	if denied == nil {
		applied, denied = m.record(choice, &merged)
	}
	if denied != nil {
		m.hold(denied, refuse)
		return nil
	}
	m.settle(choice)
	m.Defined, m.Applied = defined, applied
	m.applyDefaults(&applied, &merged)
	return nil
}

// hold denies what cannot be decided, or leaves it undecided: plan and
// parameters are decided together, or not at all.
func (m *Mutation) hold(denied *review.Denial, refuse bool) {
	if refuse {
		m.Deny(denied)
		return
	}
	m.tried(denied.Label)
	m.leave(denied.Causes[0].Field + ": " + denied.Causes[0].Message)
}

// tried records a failed attempt to decide.
func (m *Mutation) tried(why string) {
	m.Rule = review.RuleUndecided
	m.Audit("undecided", why)
}

// leave admits the instance without a decision, and says why.
func (m *Mutation) leave(why string) {
	if m.Old != nil && m.Old.Spec.Decided() {
		m.Warnf("the decided plan %s is gone, and no other is found: %s; it stays until spec changes again",
			references.Of(&m.Old.Spec.DecidedReference, m.Req.Namespace).Plan.Name, why)
		return
	}
	m.Warnf(UndecidedYet+"%s; the %s waits", why, m.waiter())
}

// waiter names what waits: the instance, or the binding that it is dedicated
// to.
func (m *Mutation) waiter() string {
	if m.Req.Kind.Kind == "ServiceBinding" {
		return "binding"
	}
	return "instance"
}

// request is what the instance asks of resolve.
func (m *Mutation) request() (resolve.Request, error) {
	req, err := resolve.RequestFor(&m.Spec.PlanReference, m.Req.Namespace, m.Seed())
	if err != nil || !m.Options.Gates.Enabled(options.ServiceTypes) {
		return req, err
	}
	req.Type, req.Selector = m.Spec.ServiceType, m.Spec.PlanSelector
	if m.Old != nil && m.Old.Spec.PlanSelector != nil && selectsNothing(req.Selector) {
		// An explicit {} on UPDATE clears the selector that was there.
		req.Selector = nil
	}
	return req, nil
}

// undecided admits or denies what could not be decided.
func (m *Mutation) undecided(refused *resolve.Error, req resolve.Request, refuse bool) {
	m.tried(string(refused.Reason))
	switch {
	case !refuse,
		req.Plan.Value != "" && waitsForNamed(refused.Reason),
		m.Options.Unresolved == options.UnresolvedWait && waitsForOperator(refused.Reason):
		asked := refused.Field
		if refused.Value != "" {
			asked += fmt.Sprintf(" %.100q", refused.Value)
		}
		m.leave(asked + ": " + refused.Detail)
		return
	}
	m.Deny(decision.Unresolved(refused, req))
}

// waitsForNamed says whether a class and plan, both named, may be created
// later: the retired catalog admitted such an instance, too.
func waitsForNamed(reason resolve.Reason) bool {
	return reason == resolve.ClassNotFound || reason == resolve.PlanNotFound || reason == resolve.Unusable
}

// waitsForOperator says that the catalog, not the request, has to change.
func waitsForOperator(reason resolve.Reason) bool {
	return waitsForNamed(reason) || reason == resolve.NoDefault || reason == resolve.NoMatch
}

// settle records the choice.
func (m *Mutation) settle(choice *resolve.Choice) {
	m.Rule, m.Chosen, m.Settled = string(choice.Rule), choice.Plan.Ref, true
	if m.Spec.ExternalID == "" {
		// The instance was created without the hooks.
		m.Spec.ExternalID = externalid.Mint(m.Req, "", &m.New.Metadata, m.Annotations)
	}
	references.Pair{Class: choice.Class.Ref, Plan: choice.Plan.Ref}.Set(&m.Spec.DecidedReference)
	nameChosenPlan(&m.Spec.PlanReference, choice)
	title := cmp.Or(choice.Class.ExternalName, choice.Class.Name) + "/" + cmp.Or(choice.Plan.ExternalName, choice.Plan.Name)
	if choice.Rule != resolve.RuleNamed {
		m.Warnf("%s resolved to plan %s (%s)", m.asked(choice), title, ruleText(choice.Rule))
	}
	for _, note := range choice.Notes {
		m.Warnf("%s", note)
	}
	m.Audit("rule", m.Rule)
	m.Audit("plan", title)
}

// asked describes what the request selects by.
func (m *Mutation) asked(choice *resolve.Choice) string {
	switch choice.Rule {
	case resolve.RuleSelector:
		return "the plan selector"
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
		return "class " + cmp.Or(choice.Class.ExternalName, choice.Class.Name)
	default:
		return m.Spec.ServiceType
	}
}

// ruleText is the rule as the proposals call it.
func ruleText(rule resolve.Rule) string {
	switch rule {
	case resolve.RuleNamespaceDefault:
		return "default of the namespace"
	case resolve.RuleClusterDefault, resolve.RuleClassDefault:
		return "default"
	case resolve.RuleNamespaceSuggested:
		return "suggested in the namespace"
	case resolve.RuleClusterSuggested, resolve.RuleClassSuggested:
		return "suggested"
	case resolve.RuleOnlyPlan:
		return "its only plan"
	default:
		return "the heaviest match"
	}
}

// nameChosenPlan names the plan of a class-only request in the way that the
// class is named, as the retired catalog did: old clients read the plan there.
func nameChosenPlan(ref *v1beta1.PlanReference, choice *resolve.Choice) {
	switch choice.Rule {
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
	default:
		return
	}
	plan := choice.Plan
	switch {
	case ref.ClusterServiceClassExternalName != "":
		ref.ClusterServicePlanExternalName = plan.ExternalName
	case ref.ClusterServiceClassExternalID != "":
		ref.ClusterServicePlanExternalID = plan.ExternalID
	case ref.ClusterServiceClassName != "":
		ref.ClusterServicePlanName = plan.Name
	case ref.ServiceClassExternalName != "":
		ref.ServicePlanExternalName = plan.ExternalName
	case ref.ServiceClassExternalID != "":
		ref.ServicePlanExternalID = plan.ExternalID
	case ref.ServiceClassName != "":
		ref.ServicePlanName = plan.Name
	}
}

func clearPlanNames(ref *v1beta1.PlanReference) {
	ref.ClusterServicePlanExternalName, ref.ClusterServicePlanExternalID, ref.ClusterServicePlanName = "", "", ""
	ref.ServicePlanExternalName, ref.ServicePlanExternalID, ref.ServicePlanName = "", "", ""
}
