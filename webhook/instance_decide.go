package webhook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
	"github.com/defaultplan/defaultplan/resolve"
)

// ruleRestored is the rule of an object that came with its references; the other
// rules are those of package resolve. ruleUndecided is an attempt to decide that
// did not succeed, ruleNone no attempt at all.
const (
	ruleRestored  = "restored"
	ruleUndecided = "undecided"
	ruleNone      = "none"
)

// The layers of an instance's parameters, lowest first, as they are recorded.
const (
	layerClass = "class"
	layerPlan  = "plan"
	layerUser  = "user"
)

// An addition is a subtree that a default adds to the parameters.
type addition struct {
	pointer string
	value   any
}

// decide resolves the instance's class and plan and merges their defaults into
// its parameters. With refuse, a request that cannot be settled is denied;
// without, it is admitted as it is: who does not change spec is never refused
// for it.
func (m *instanceMutation) decide(ctx context.Context, refuse bool) error {
	req, err := m.request()
	var choice resolve.Choice
	if err == nil {
		choice, err = m.resolver.resolve(ctx, req)
	}
	var refused *resolve.Error
	if errors.As(err, &refused) {
		m.undecided(refused, req, refuse)
		return nil
	}
	if err != nil {
		return err
	}
	defined, err := m.resolver.catalog.define(ctx, choice.Plan.Ref, choice.Plan.UID)
	if err != nil {
		return err
	}
	if defined == nil {
		return fmt.Errorf("cannot read plan %q that was just chosen: it is gone again; try once more", choice.Plan.Name)
	}
	merged, denied, err := m.mergeDefaults(defined)
	if err != nil {
		return err
	}
	if denied != nil {
		m.hold(denied, refuse)
		return nil
	}
	m.settle(&choice)
	m.recordDefaults(&choice, &merged)
	return nil
}

// hold refuses what cannot be made whole, or leaves it undecided: its plan is
// settled together with its parameters, or not at all.
func (m *instanceMutation) hold(denied *denial, refuse bool) {
	if refuse {
		m.deny(denied)
		return
	}
	m.rule = ruleUndecided
	m.audit("undecided", denied.label)
	m.warn("no plan is decided yet: %s: %s; the instance waits", denied.causes[0].Field, denied.causes[0].Message)
}

// request is what the instance asks of resolve.
func (m *instanceMutation) request() (resolve.Request, error) {
	req, err := resolve.RequestFor(&m.spec.PlanReference, m.req.Namespace, m.seed())
	if err != nil || !m.options.Gates.Enabled(ServiceTypes) {
		return req, err
	}
	req.Type, req.Selector = m.spec.ServiceType, m.spec.PlanSelector
	if m.old != nil && m.old.Spec.PlanSelector != nil && selectsNothing(req.Selector) {
		// An explicit {} on UPDATE clears the selector that was there.
		req.Selector = nil
	}
	return req, nil
}

// undecided admits or refuses what could not be settled.
func (m *instanceMutation) undecided(refused *resolve.Error, req resolve.Request, refuse bool) {
	m.rule = ruleUndecided
	m.audit("undecided", string(refused.Reason))
	switch {
	case !refuse,
		req.Plan.Value != "" && waitsForNamed(refused.Reason),
		m.options.Unresolved == UnresolvedWait && waitsForOperator(refused.Reason):
		asked := refused.Field
		if refused.Value != "" {
			asked += fmt.Sprintf(" %.100q", refused.Value)
		}
		m.warn("no plan is decided yet: %s: %s; the instance waits", asked, refused.Detail)
		return
	}
	m.deny(unresolved(refused, req))
}

// waitsForNamed says that a class and plan that are both named may yet come: such
// an instance was always admitted.
func waitsForNamed(reason resolve.Reason) bool {
	return reason == resolve.ClassNotFound || reason == resolve.PlanNotFound || reason == resolve.Unusable
}

// waitsForOperator says that the catalog, not the request, has to change.
func waitsForOperator(reason resolve.Reason) bool {
	return waitsForNamed(reason) || reason == resolve.NoDefault || reason == resolve.NoMatch
}

// settle records the choice.
func (m *instanceMutation) settle(choice *resolve.Choice) {
	m.rule, m.chosen = string(choice.Rule), choice.Plan.Ref
	refs{class: choice.Class.Ref, plan: choice.Plan.Ref}.set(&m.spec.DecidedReference)
	nameChosenPlan(&m.spec.PlanReference, choice)
	title := display(choice.Class.ExternalName, choice.Class.Name) + "/" + display(choice.Plan.ExternalName, choice.Plan.Name)
	if choice.Rule != resolve.RuleNamed {
		m.warn("%s resolved to plan %s (%s)", m.asked(choice), title, ruleText(choice.Rule))
	}
	for _, note := range choice.Notes {
		m.warn("%s", note)
	}
	m.audit("rule", m.rule)
	m.audit("plan", title)
}

// asked is what the request goes by, for people.
func (m *instanceMutation) asked(choice *resolve.Choice) string {
	switch choice.Rule {
	case resolve.RuleSelector:
		return "the plan selector"
	case resolve.RuleOnlyPlan, resolve.RuleClassDefault, resolve.RuleClassSuggested:
		return "class " + display(choice.Class.ExternalName, choice.Class.Name)
	default:
		return m.spec.ServiceType
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

// mergeDefaults merges the parameters class < plan < user.
func (m *instanceMutation) mergeDefaults(defined *definition) (merge.Result, *denial, error) {
	layers, denied := m.layers(defined)
	if denied != nil {
		return merge.Result{}, denied, nil
	}
	result, err := merge.Layers(layers...)
	if limit := (*merge.LimitError)(nil); errors.As(err, &limit) {
		return merge.Result{}, invalid("TooLarge", "spec.parameters", "%s", limit.Error()), nil
	}
	if err != nil {
		return merge.Result{}, nil, fmt.Errorf("cannot merge the defaults of plan %q: %w", defined.title(), err)
	}
	return result, nil, nil
}

// recordDefaults notes what defaults add, and where each came from.
func (m *instanceMutation) recordDefaults(choice *resolve.Choice, merged *merge.Result) {
	for _, added := range merged.Added {
		m.additions = append(m.additions, addition{string(added.Pointer), added.Value})
	}
	applied := v1beta1.AppliedDefaults{
		Rule: string(choice.Rule), Class: display(choice.Class.ExternalName, choice.Class.Name),
		Plan: display(choice.Plan.ExternalName, choice.Plan.Name), From: map[string]string{},
	}
	for pointer, layer := range merged.Origin {
		if layer != layerUser {
			applied.From[string(pointer)] = layer
		}
	}
	for _, pointer := range merged.Removed {
		applied.Removed = append(applied.Removed, string(pointer))
	}
	m.annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	if len(applied.From) > 0 {
		m.warn("defaults set %s", parameterNames(applied.From))
	}
}

// layers are the parameters of class, plan and user, decoded.
func (m *instanceMutation) layers(defined *definition) ([]merge.Layer, *denial) {
	user, err := merge.Decode(rawOf(m.spec.Parameters))
	if err != nil {
		return nil, invalid("InvalidParameters", "spec.parameters", "%s", err.Error())
	}
	if !m.options.Gates.Enabled(ParameterDefaults) {
		return []merge.Layer{{Name: layerUser, Values: user}}, nil
	}
	class, err := m.defaults.of(defined.class.DefaultProvisionParameters)
	if err != nil {
		return nil, brokenDefaults("class", defined.Class.Ref, err)
	}
	plan, err := m.defaults.of(defined.plan.DefaultProvisionParameters)
	if err != nil {
		return nil, brokenDefaults("plan", defined.Plan.Ref, err)
	}
	return []merge.Layer{{Name: layerClass, Values: class}, {Name: layerPlan, Values: plan}, {Name: layerUser, Values: user}}, nil
}

// brokenDefaults refuses to leave out defaults that cannot be read: an instance
// without them would be another one than the operator meant.
func brokenDefaults(kind string, ref resolve.Ref, err error) *denial {
	resource := "clusterservice" + kind + " " + ref.Name
	if ref.Namespace != "" {
		resource = "-n " + ref.Namespace + " service" + kind + " " + ref.Name
	}
	return invalid("BrokenDefaults", "spec.parameters", "spec.defaultProvisionParameters of %s %q cannot be applied: %s", kind, ref.Name, err.Error()).
		remedy("an operator mends them: kubectl edit %s", resource)
}

// parameterNames are the top-level names that pointers lead into, for people.
func parameterNames(from map[string]string) string {
	names := map[string]bool{}
	for pointer := range from {
		name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		names[unescaper.Replace(name)] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// takeAsDecided admits an instance that comes with its references: a backup, or
// an object of the retired catalog. Nothing is merged.
func (m *instanceMutation) takeAsDecided(ctx context.Context) error {
	annotation := m.new.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	if annotation == "" && m.new.Spec.ExternalID == "" {
		m.deny(forgedReference(&m.spec.DecidedReference))
		return nil
	}
	now := refsOf(&m.spec.DecidedReference, m.req.Namespace)
	defined, err := m.resolver.catalog.define(ctx, now.plan, "")
	if err != nil {
		return err
	}
	denied := disagreement(&m.spec, now, defined)
	if denied != nil && defined != nil && m.resolver.confirms.allow(m.req.Namespace) {
		if defined, err = m.resolver.catalog.defineLive(ctx, now.plan); err != nil {
			return err
		}
		denied = disagreement(&m.spec, now, defined)
	}
	if denied != nil {
		m.deny(denied)
		return nil
	}
	applied, err := v1beta1.ParseAppliedDefaults(annotation)
	if err != nil {
		applied = v1beta1.AppliedDefaults{}
	}
	applied.Rule, applied.Class, applied.Plan = ruleRestored, display(defined.Class.ExternalName, defined.Class.Name), display(defined.Plan.ExternalName, defined.Plan.Name)
	m.annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
	m.rule, m.chosen = ruleRestored, now.plan
	m.audit("rule", ruleRestored)
	m.audit("plan", defined.title())
	m.warn("taken as decided: plan %s, as the references say; no default was applied", defined.title())
	return nil
}

// forgetChangedDefaults takes out of applied-defaults what the write changes: a
// value that the user set is a default no longer.
func (m *instanceMutation) forgetChangedDefaults() {
	was := m.old.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults]
	if was == "" {
		m.claimAppliedDefaults()
		return
	}
	if sameParameters(m.old.Spec.Parameters, m.spec.Parameters) {
		return
	}
	applied, err := v1beta1.ParseAppliedDefaults(was)
	if err != nil {
		return
	}
	before, errBefore := merge.Decode(rawOf(m.old.Spec.Parameters))
	after, errAfter := merge.Decode(rawOf(m.spec.Parameters))
	if errBefore != nil || errAfter != nil {
		return
	}
	unchanged := func(pointer string) bool { return sameAt(before, after, merge.Pointer(pointer)) }
	maps.DeleteFunc(applied.From, func(pointer, _ string) bool { return !unchanged(pointer) })
	applied.Removed = slices.DeleteFunc(applied.Removed, func(pointer string) bool { return !unchanged(pointer) })
	m.annotations[v1beta1.AnnotationAppliedDefaults] = applied.String()
}

// claimAppliedDefaults replaces an annotation that a user wrote on an object
// that never had one.
func (m *instanceMutation) claimAppliedDefaults() {
	if m.new.Metadata.Annotations[v1beta1.AnnotationAppliedDefaults] != "" {
		m.annotations[v1beta1.AnnotationAppliedDefaults] = v1beta1.AppliedDefaults{Rule: ruleRestored}.String()
	}
}

// sameAt says that two objects hold the same at a pointer.
func sameAt(a, b map[string]any, pointer merge.Pointer) bool {
	x, okX := valueAt(a, pointer)
	y, okY := valueAt(b, pointer)
	return okX == okY && sameValue(x, y)
}

func valueAt(values map[string]any, pointer merge.Pointer) (any, bool) {
	var at any = values
	for _, token := range pointer.Tokens() {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = object[token]; !ok {
			return nil, false
		}
	}
	return at, true
}
