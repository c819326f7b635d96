// Package offering has what tests of plans need in both scopes, the cluster's and a
// namespace's: an Offer, which is a class with plans of one type, and what the objects of
// a scope say of the default plan of a type.
package offering

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// At is the namespace of what is offered, empty for the cluster's.
func (o *Offer) At() string {
	if o.Namespaced {
		return o.Namespace
	}
	return ""
}

// ClassObject is a class of the offer by its Kubernetes name.
func (o *Offer) ClassObject(name string) client.Object {
	return env.Class{Namespace: o.At(), Name: name}.Object()
}

// TypeObject is a type of the offer, to write to.
func (o *Offer) TypeObject(serviceType string) client.Object {
	return env.TypeWithDefault(o.At(), serviceType, "")
}

// An Offer is a class of a scope with two plans of one type, of which the first
// is the default, and a second class with a plan of another type.
type Offer struct {
	*env.Env
	Scope
	// Type is the service type; the others are Kubernetes names and external names.
	Type, Class, Plan, Other, ForeignClass, ForeignPlan string
}

// New makes an offer; edits change the class and both plans first.
func New(e *env.Env, s Scope, edits ...func(*env.Class, *env.Plan, *env.Plan)) *Offer {
	e.Helper()
	e.GrantInstances()
	o := &Offer{
		Env: e, Scope: s, Type: e.Name("type"), Class: e.Name("class"), Plan: e.Name("plan"), Other: e.Name("other"),
		ForeignClass: e.Name("foreign"), ForeignPlan: e.Name("distant"),
	}
	namespace := ""
	if s.Namespaced {
		namespace = e.Namespace
	}
	c := env.Class{Namespace: namespace, Name: o.Class, ServiceType: o.Type, Labels: map[string]string{"test": e.Suffix}, Defaults: `{"backup":true}`}
	p := env.Plan{Name: o.Plan, Default: true, Labels: map[string]string{"offer": o.Plan}, Defaults: `{"pool":{"mode":"cold"}}`}
	other := env.Plan{Name: o.Other, Labels: map[string]string{"offer": o.Other}, Defaults: `{"extra":true}`}
	for _, edit := range edits {
		edit(&c, &p, &other)
	}
	e.AddPlans(c, p, other)
	e.AddPlans(env.Class{Namespace: namespace, Name: o.ForeignClass, ServiceType: e.Name("strange")}, env.Plan{Name: o.ForeignPlan})
	return o
}

// Ref is the reference to a class or plan of the offer, as holdings have it.
func (o *Offer) Ref(name string) string {
	if o.Namespaced {
		return o.Namespace + "/" + name
	}
	return "/" + name
}

// Named is an edit that says "type", "class", "plan", "other", "foreign" and
// "distant" for the names that these have in this test, and names cluster
// classes and plans for those of the offer's scope.
func (o *Offer) Named(e env.InstanceEdit) env.InstanceEdit {
	return func(i *api.ServiceInstance) {
		e(i)
		spec := &i.Spec
		if o.Namespaced && spec.ClusterServiceClassExternalName != "" {
			env.OfLocalPlan(spec.ClusterServiceClassExternalName, spec.ClusterServicePlanExternalName)(i)
			env.OfPlan("", "")(i)
		}
		for _, field := range []*string{
			&spec.ServiceType, &spec.ClusterServiceClassExternalName, &spec.ClusterServicePlanExternalName,
			&spec.ServiceClassExternalName, &spec.ServicePlanExternalName,
		} {
			*field = o.nameFor(*field)
		}
		if spec.PlanSelector == nil {
			return
		}
		// The edit's own map is for other tests too.
		labels := map[string]string{}
		for key, value := range spec.PlanSelector.MatchLabels {
			labels[key] = o.nameFor(value)
		}
		spec.PlanSelector.MatchLabels = labels
	}
}

// nameFor is the name in this test for a word; another word is itself.
func (o *Offer) nameFor(word string) string {
	switch word {
	case "type", "class", "plan", "other", "foreign", "distant", "strange":
		return o.Name(word)
	}
	return word
}

// Fill writes the names in this test for @type, @class and so on.
func (o *Offer) Fill(text string) string {
	for _, word := range []string{"type", "class", "plan", "other", "foreign", "distant", "strange"} {
		text = strings.ReplaceAll(text, "@"+word, o.Name(word))
	}
	return text
}

// PlanObject is a plan of the offer by its Kubernetes name.
func (o *Offer) PlanObject(name string) client.Object {
	p := env.Plan{Name: name}
	if o.Namespaced {
		p.Namespace = o.Namespace
	}
	return p.Object()
}

// TurnDefault makes the other plan the default, and returns when a new instance
// gets it.
func (o *Offer) TurnDefault() {
	o.Helper()
	o.Patch(o.PlanObject(o.Plan), `{"spec":{"defaultProvisionParameters":{"late":1}}}`)
	o.SwitchTo(o.At(), o.Type, o.Other)
	o.Eventually(func() (bool, error) {
		probe := o.Instance("probe", env.OfType(o.Type))
		err := o.Client().Create(o.Context(), probe, client.DryRunAll)
		return err == nil && env.PlanOf(probe) == o.Other, err
	})
}
