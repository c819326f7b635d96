package e2e_test

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A scope is one of the two catalogs. What the one does the other does too.
type scope struct {
	title      string
	namespaced bool
	// classPrefix and planPrefix begin the names of its fields.
	classPrefix, planPrefix string
	// rule is the rule by which a type is decided on its default.
	rule string
}

var (
	clusterScope   = scope{title: "Cluster", classPrefix: "clusterServiceClass", planPrefix: "clusterServicePlan", rule: "cluster-default"}
	namespaceScope = scope{title: "Namespace", namespaced: true, classPrefix: "serviceClass", planPrefix: "servicePlan", rule: "namespace-default"}
)

// names names a class and a plan of the scope by external name.
func (s scope) names(class, plan string) edit {
	if s.namespaced {
		return ofLocalPlan(class, plan)
	}
	return ofPlan(class, plan)
}

// fields writes the scope's field names for CLASS and PLAN.
func (s scope) fields(text string) string {
	return strings.NewReplacer("CLASS", s.classPrefix, "PLAN", s.planPrefix).Replace(text)
}

// planName is where the scope names a plan by external name.
func (s scope) planName(h *holding) *string {
	if s.namespaced {
		return &h.Names.ServicePlanExternalName
	}
	return &h.Names.ClusterServicePlanExternalName
}

// An offer is a class of a scope with two plans of one type, of which the first
// is the default, and a second class with a plan of another type.
type offer struct {
	*world
	scope
	// kind is the type; the others are Kubernetes names, and external names.
	kind, class, plan, other, foreignClass, foreignPlan string
}

// newOffer makes an offer; edits change the class and both plans first.
func newOffer(w *world, s scope, edits ...func(*class, *plan, *plan)) *offer {
	w.Helper()
	w.grant()
	o := &offer{
		world: w, scope: s, kind: w.name("type"), class: w.name("class"), plan: w.name("plan"), other: w.name("other"),
		foreignClass: w.name("foreign"), foreignPlan: w.name("distant"),
	}
	namespace := ""
	if s.namespaced {
		namespace = w.namespace
	}
	c := class{namespace: namespace, name: o.class, serviceType: o.kind, labels: map[string]string{"world": w.suffix}, defaults: `{"backup":true}`}
	p := plan{name: o.plan, isDefault: true, labels: map[string]string{"offer": o.plan}, defaults: `{"pool":{"mode":"cold"}}`}
	other := plan{name: o.other, labels: map[string]string{"offer": o.other}, defaults: `{"extra":true}`}
	for _, edit := range edits {
		edit(&c, &p, &other)
	}
	w.addPlans(c, p, other)
	w.addPlans(class{namespace: namespace, name: o.foreignClass, serviceType: w.name("strange")}, plan{name: o.foreignPlan})
	return o
}

// ref is the reference to a class or plan of the offer, as holdings have it.
func (o *offer) ref(name string) string {
	if o.namespaced {
		return o.namespace + "/" + name
	}
	return "/" + name
}

// named is an edit that says "type", "class", "plan", "other", "foreign" and
// "distant" for the names that these have in this world, and names cluster
// classes and plans for those of the offer's scope.
func (o *offer) named(e edit) edit {
	return func(i *api.ServiceInstance) {
		e(i)
		spec := &i.Spec
		if o.namespaced && spec.ClusterServiceClassExternalName != "" {
			ofLocalPlan(spec.ClusterServiceClassExternalName, spec.ClusterServicePlanExternalName)(i)
			ofPlan("", "")(i)
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
		// The edit's own map is for other worlds too.
		labels := map[string]string{}
		for key, value := range spec.PlanSelector.MatchLabels {
			labels[key] = o.nameFor(value)
		}
		spec.PlanSelector.MatchLabels = labels
	}
}

// nameFor is the name of this world for a word; another word is itself.
func (o *offer) nameFor(word string) string {
	switch word {
	case "type", "class", "plan", "other", "foreign", "distant", "strange":
		return o.name(word)
	}
	return word
}

// fill writes the names of this world for @type, @class and so on.
func (o *offer) fill(text string) string {
	for _, word := range []string{"type", "class", "plan", "other", "foreign", "distant", "strange"} {
		text = strings.ReplaceAll(text, "@"+word, o.name(word))
	}
	return text
}

// objectOf is a plan of the offer by its Kubernetes name.
func (o *offer) objectOf(name string) client.Object {
	p := plan{name: name}
	if o.namespaced {
		p.namespace = o.namespace
	}
	return p.object()
}

// turnDefault makes the other plan the default, and returns when a new instance
// gets it.
func (o *offer) turnDefault() {
	o.Helper()
	o.patch(o.objectOf(o.plan), `{"spec":{"defaultProvisionParameters":{"late":1}}}`)
	o.switchTo(o.at(), o.kind, o.other)
	o.eventually(func() (bool, error) {
		probe := o.instance("probe", ofType(o.kind))
		err := o.client.Create(o.Context(), probe, client.DryRunAll)
		return err == nil && planOf(probe) == o.other, err
	})
}

func hashOf(value string) string { return api.HashLabelValue(value) }
