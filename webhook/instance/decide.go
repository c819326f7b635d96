package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/quota"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/decision"
	"github.com/defaultplan/defaultplan/webhook/externalid"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/restore"
	"github.com/defaultplan/defaultplan/webhook/review"
)

// A Decider decides on the class, plan and default parameters of a draft.
type Decider struct {
	Tools *decision.Tools
	Draft *Draft
}

// A Decision is the plan that a draft was decided on, and the record of it.
type Decision struct {
	Defined *catalog.Definition
	Applied v1beta1.AppliedDefaults
}

// Decide resolves the instance's class and plan and merges their defaults into
// its parameters. With refuse, a failure is a denial; without, the instance is
// admitted undecided: updates that do not change spec are never denied for
// this. Without a decision it returns nil.
func (d Decider) Decide(ctx context.Context, refuse bool) (*Decision, error) {
	req, err := d.request(&d.Draft.Spec)
	var choice resolve.Choice
	if err == nil {
		choice, err = d.Tools.Resolver.Resolve(ctx, req)
	}
	if err == nil && !refuse {
		// If policies may deny this write, the validating phase denies it.
		err = d.Tools.Resolver.Refuse(ctx, req, &choice)
	}
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		d.unresolved(refused, req, refuse)
		return nil, nil
	}
	if refused, ok := errors.AsType[*policies.RefusedError](err); ok {
		d.hold(refused.Denial("spec"), refuse)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defined, err := d.Tools.Resolver.Catalog.DefineChoice(ctx, &choice)
	if err != nil {
		return nil, err
	}
	if defined == nil {
		return nil, fmt.Errorf("cannot read plan %q that was just chosen: it is gone again; try once more", choice.Plan.Name)
	}
	if !refuse && d.Draft.Before().Decided() {
		// If limits may deny this write, the validating phase denies it.
		full, err := d.full(ctx, &choice, defined)
		if err != nil {
			return nil, err
		}
		if full != nil {
			d.hold(full, refuse)
			return nil, nil
		}
	}
	return d.complete(ctx, &choice, defined, refuse)
}

// full is the denial of a choice by a limit.
func (d Decider) full(ctx context.Context, choice *resolve.Choice, defined *catalog.Definition) (*review.Denial, error) {
	w := policies.Want{Kind: quota.Instances, Defined: defined, Namespace: d.Draft.Req.Namespace, Uid: d.Draft.New.Metadata.UID}
	return d.Tools.Resolver.RefusedOver(ctx, w, AskedFieldOf(string(choice.Rule), &d.Draft.Spec))
}

// request is what the instance, with this spec, asks of resolve.
func (d Decider) request(spec *v1beta1.ServiceInstanceSpec) (resolve.Request, error) {
	named := spec.PlanReference
	if d.filledIn() {
		clearPlanNames(&named)
	}
	req, err := resolve.RequestFor(&named, d.Draft.Req.Namespace, d.Draft.Seed())
	if err != nil {
		return req, err
	}
	if before := d.Draft.Before(); before.Decided() && req.Plan.Value != "" && req.Class.Value == "" {
		// A plan that is named alone is of the decided class, as in chooseWithin.
		if was := references.Of(&before.DecidedReference, req.Namespace); req.Namespaced == was.Plan.Namespaced() {
			req.Class, req.ClassDecided = resolve.Named{By: resolve.ByName, Value: was.Class.Name}, true
		}
	}
	if !d.Tools.Options.Gates.Enabled(options.ServiceTypes) {
		return req, nil
	}
	req.Type, req.Selector = spec.ServiceType, spec.PlanSelector
	if before := d.Draft.Before(); (before.Decided() || before.PlanSelector != nil) && selectsNothing(req.Selector) {
		// An explicit {} on UPDATE clears the selector that decided, or would have.
		req.Selector = nil
	}
	return req, nil
}

// filledIn says that an earlier choice filled in the name of the plan: the user never asked for
// that one.
func (d Decider) filledIn() bool {
	return d.Draft.Before().Decided() && !renames(d.Draft.Write, restore.WithPlan) &&
		isByClass(resolve.Rule(parameters.Applied(d.Draft.Old.Metadata.Annotations).Rule))
}

// asksForAnother says that the write asks for another plan than the decided one, which is lost, or
// that it makes spec contradict itself. Other names of the decided plan ask for no other; defined is
// that plan, nil if it does not exist: then no name is known to be its own.
func (d Decider) asksForAnother(defined *catalog.Definition) bool {
	old := d.Draft.Old.Spec
	if d.contradicts(&d.Draft.Spec) && !d.contradicts(old) {
		return true
	}
	was := references.Of(&old.DecidedReference, d.Draft.Req.Namespace)
	return disagreement(changedNames(&d.Draft.Spec, old, true, true), was, defined, d.Tools.Options.Gates) != nil
}

// contradicts says that a spec asks for what no catalog can have.
func (d Decider) contradicts(spec *v1beta1.ServiceInstanceSpec) bool {
	req, err := d.request(spec)
	return err != nil || req.Validate() != nil
}

// complete decides the choice together with its parameters, or neither.
func (d Decider) complete(ctx context.Context, choice *resolve.Choice, defined *catalog.Definition, refuse bool) (*Decision, error) {
	merging := d.merging()
	merged, denied, err := merging.merge(d.Draft.Spec.Parameters, defined)
	if err == nil && denied == nil && d.Draft.IsTouch() && !adopts(d.Draft.Write) {
		// It must not be denied for its spec, so it stays undecided.
		denied, err = d.Tools.Schemas.Refuse(ctx, defined, createQuestion(&d.Draft.Spec, merged.Sent()))
	}
	if err != nil {
		return nil, err
	}
	applied := v1beta1.AppliedDefaults{}
	if denied == nil {
		applied, denied = merging.record(choice, &merged)
	}
	if denied != nil {
		d.hold(denied, refuse)
		return nil, nil
	}
	d.settle(choice, applied.Class+"/"+applied.Plan)
	d.Draft.RecordDefaults(&applied, &merged)
	d.Draft.PreventDeletion(defined)
	return &Decision{defined, applied}, nil
}

// merging is how defaults are merged into the draft's parameters.
func (d Decider) merging() *merging {
	m := &merging{
		defaults: d.Tools.Defaults,
		enabled:  d.Tools.Options.Gates.Enabled(options.ParameterDefaults) && !adopts(d.Draft.Write),
	}
	if d.Draft.Before().Decided() {
		m.lost = &lostPlan{earlierRecord(d.Draft.Annotations, d.Draft.Old.Metadata.Annotations)}
	}
	return m
}

// settle stores the choice; title is its plan.
func (d Decider) settle(choice *resolve.Choice, title string) {
	draft := d.Draft
	draft.Settled = true
	if draft.Spec.ExternalID == "" {
		// The instance was created without the hooks.
		draft.Spec.ExternalID = externalid.Mint(draft.Req, "", &draft.New.Metadata, draft.Annotations)
	}
	references.Pair{Class: choice.Class.Ref, Plan: choice.Plan.Ref}.Set(&draft.Spec.DecidedReference)
	nameChosenPlan(&draft.Spec.PlanReference, choice)
	if choice.Rule != resolve.RuleNamed {
		draft.Warnf("%s resolved to plan %s (%s)", asked(choice, draft.Spec.ServiceType), title, ruleText(choice.Rule))
	}
	for _, note := range choice.Notes {
		draft.Warnf("%s", note)
	}
	draft.Decide(string(choice.Rule), choice.Plan.Ref, title)
}

// asked describes what a request selects by.
func asked(choice *resolve.Choice, serviceType string) string {
	switch {
	case choice.Rule == resolve.RuleSelector:
		return "the plan selector"
	case isByClass(choice.Rule):
		return "class " + cmp.Or(choice.Class.ExternalName, choice.Class.Name)
	default:
		return serviceType
	}
}

// isByClass says that a rule chooses a plan for a request that names the class alone.
func isByClass(rule resolve.Rule) bool {
	return rule == resolve.RuleOnlyPlan || rule == resolve.RuleClassDefault || rule == resolve.RuleClassSuggested
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

// nameChosenPlan names the plan of a class-only request as the retired catalog did, because old
// clients read the plan there: in the way that the class is named, or that an earlier choice named
// the plan in the same scope, so that one name stands there.
func nameChosenPlan(ref *v1beta1.PlanReference, choice *resolve.Choice) {
	if !isByClass(choice.Rule) {
		return
	}
	plan := &choice.Plan
	ways := v1beta1.PerScope(plan.Namespace, []planName{
		{&ref.ClusterServicePlanExternalName, ref.ClusterServiceClassExternalName, plan.ExternalName},
		{&ref.ClusterServicePlanExternalID, ref.ClusterServiceClassExternalID, plan.ExternalID},
		{&ref.ClusterServicePlanName, ref.ClusterServiceClassName, plan.Name},
	}, []planName{
		{&ref.ServicePlanExternalName, ref.ServiceClassExternalName, plan.ExternalName},
		{&ref.ServicePlanExternalID, ref.ServiceClassExternalID, plan.ExternalID},
		{&ref.ServicePlanName, ref.ServiceClassName, plan.Name},
	})
	at := slices.IndexFunc(ways, func(way planName) bool { return *way.field != "" })
	if at < 0 {
		at = slices.IndexFunc(ways, func(way planName) bool { return way.class != "" })
	}
	if at >= 0 {
		clearPlanNames(ref)
		*ways[at].field = ways[at].name
	}
}

// A planName is one way to name a plan: its field, the name of the class in the same way, empty
// for none, and the name.
type planName struct {
	field       *string
	class, name string
}

func clearPlanNames(ref *v1beta1.PlanReference) {
	ref.ClusterServicePlanExternalName, ref.ClusterServicePlanExternalID, ref.ClusterServicePlanName = "", "", ""
	ref.ServicePlanExternalName, ref.ServicePlanExternalID, ref.ServicePlanName = "", "", ""
}
