package explain

import (
	"context"
	"errors"
	"slices"

	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A chooser holds what is asked for against the rules, as a webhook with these gates does.
type chooser struct {
	reader client.Reader
	gates  featuregate.FeatureGate
}

// A chosen is what the rules make of an instance in the slice that it is about.
type chosen struct {
	slice  *slice
	teller *teller
	now    *Now
	// withinClass says that the request names its class.
	withinClass bool
}

// empty says that there is nothing at all that the request could mean.
func (c *chosen) empty() bool {
	if len(c.now.Others)+len(c.now.Records) > 0 {
		return false
	}
	return !slices.ContainsFunc(c.now.Tiers, func(t Tier) bool { return len(t.Claims) > 0 })
}

// offering are the class and plan that the rules chose; ok is false where they chose none.
func (c *chosen) offering() (class catalog.Class, plan catalog.Plan, ok bool) {
	if c.teller.account.Refused != nil {
		return class, plan, false
	}
	choice := &c.teller.account.Choice
	return c.slice.classes[choice.Class.Ref], c.slice.plans[choice.Plan.Ref], true
}

// choose holds an instance, as its user writes it, against the rules.
func (x chooser) choose(ctx context.Context, asked *v1beta1.ServiceInstance) (*chosen, error) {
	req, err := resolve.RequestFor(&asked.Spec.PlanReference, asked.Namespace, asked.Namespace+"/"+asked.Name)
	contradiction, _ := errors.AsType[*resolve.Error](err)
	req.Namespace = asked.Namespace
	if x.gates.Enabled(options.ServiceTypes) {
		req.Type, req.Selector = asked.Spec.ServiceType, asked.Spec.PlanSelector
	}
	if contradiction != nil {
		req = resolve.Request{Namespace: asked.Namespace}
	}
	found, err := gather(ctx, x.reader, &req)
	if err != nil {
		return nil, err
	}
	c := &chosen{slice: found, teller: newTeller(&req, found, x.gates), withinClass: req.Class.Value != ""}
	if contradiction != nil {
		c.teller.account = resolve.Account{Refused: contradiction}
	}
	now := c.teller.tell()
	c.now = now
	now.Secrets = secretsOf(asked.Spec.ParametersFrom)
	class, plan, ok := c.offering()
	if !ok {
		refused := c.teller.account.Refused
		now.Refusal = &Refusal{Reason: string(refused.Reason), Message: refused.Error()}
		return c, nil
	}
	now.Price = found.price(plan.Ref())
	ofClass, ofPlan := x.defaults(options.ParameterDefaults, class, plan)
	now.Parameters = mergedParameters(ofClass.DefaultProvisionParameters, ofPlan.DefaultProvisionParameters, asked.Spec.Parameters)
	return c, nil
}

// bind holds a binding to an instance of a class and plan against the policies, and merges
// what it is given.
func (x chooser) bind(now *Now, s *slice, class catalog.Class, plan catalog.Plan, instance *policy.Instance, asked *v1beta1.ServiceBinding) {
	target := s.target(&class, &plan)
	target.Instance = instance
	now.Policy = policyOf(policy.Judge(s.rules, target, s.place(asked.Namespace)))
	ofClass, ofPlan := x.defaults(options.BindDefaults, class, plan)
	now.Parameters = mergedParameters(ofClass.DefaultBindParameters, ofPlan.DefaultBindParameters, asked.Spec.Parameters)
	now.Transforms = mergedTransforms(ofClass, ofPlan, &asked.Spec)
}

// defaults are those of a class and plan where their gate is on, and none where it is off.
func (x chooser) defaults(gate featuregate.Feature, class catalog.Class, plan catalog.Plan) (ofClass, ofPlan *v1beta1.Defaults) {
	if x.gates.Enabled(gate) {
		return &class.Spec.Defaults, &plan.Spec.Defaults
	}
	return &v1beta1.Defaults{}, &v1beta1.Defaults{}
}

// closed takes from a catalog what a feature gate that is off keeps closed, as the
// webhook does.
func closed(entries *resolve.Catalog, gates featuregate.FeatureGate) {
	defaults := gates.Enabled(options.ServiceTypes)
	suggestions := defaults && gates.Enabled(options.SuggestedPlans)
	for i := range entries.Plans {
		plan := &entries.Plans[i]
		plan.Default, plan.Suggested = plan.Default && defaults, plan.Suggested && suggestions
	}
	if !defaults {
		entries.Records = nil
	}
}
