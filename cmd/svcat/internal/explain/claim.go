package explain

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// claim holds a binding that names no instance, as its user writes it, against the
// rules: those for the instance that it asks for, then those for the binding to it.
func (x *explainer) claim(ctx context.Context, asked *v1beta1.ServiceBinding, written *unstructured.Unstructured) (*Now, []string, error) {
	instance := &v1beta1.ServiceInstance{ObjectMeta: asked.ObjectMeta, Spec: asked.Spec.OwnInstance()}
	var notes []string
	if asked.Spec.Decided() {
		notes = append(notes, "it comes with its references: admission takes it as decided, and chooses nothing")
		nameByReferences(&instance.Spec)
	}
	chosen, err := x.choose(ctx, instance)
	if err != nil {
		return nil, nil, err
	}
	// After the choice, which goes by the policies about instances alone.
	g := gatherer{x.reader, chosen.slice}
	if err := g.binding(ctx); err != nil {
		return nil, nil, err
	}
	now := chosen.now
	now.ProvisionParameters, now.Parameters = now.Parameters, nil
	now.Secrets = secretsOf(asked.Spec.ParametersFrom)
	x.tellClaim(chosen, asked)
	if _, err := x.apply(ctx, now, chosen.matter(), written); err != nil {
		return nil, nil, err
	}
	return now, append(notes, g.notes...), nil
}

// tellClaim tells what policies say to the binding, and what it is given.
func (x *explainer) tellClaim(c *chosen, asked *v1beta1.ServiceBinding) {
	if c.teller.account.Refused != nil {
		return
	}
	choice := &c.teller.account.Choice
	class, plan := c.slice.classes[choice.Class.Ref], c.slice.plans[choice.Plan.Ref]
	target := policy.TargetOf(choice.Class, choice.Plan)
	target.Instance = &policy.Instance{Namespace: asked.Namespace}
	c.now.Policy = policyOf(policy.Judge(c.slice.rules, target, c.slice.place(asked.Namespace)))
	ofClass, ofPlan := &class.Spec.Defaults, &plan.Spec.Defaults
	if !x.options.Gates.Enabled(options.BindDefaults) {
		ofClass, ofPlan = &v1beta1.Defaults{}, &v1beta1.Defaults{}
	}
	c.now.Parameters = mergedParameters(ofClass.DefaultBindParameters, ofPlan.DefaultBindParameters, asked.Spec.Parameters)
	c.now.Transforms = mergedTransforms(ofClass, ofPlan, &asked.Spec)
}

// provisionNode are the parameters for an instance of a binding's own, if there are
// any.
func provisionNode(title string, parameters []Parameter) node {
	if len(parameters) == 0 {
		return node{}
	}
	return parametersNode(title, parameters, nil)
}
