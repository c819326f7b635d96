package policy

import "github.com/defaultplan/defaultplan/resolve"

// A Target is what a rule may select: a plan, and of a binding its instance.
type Target struct {
	Class Names
	Plan  Names
	// Type is the plan's own type, else its class's; empty where neither has one.
	Type string
	// Labels are the plan's, with its class's below its own.
	Labels Labels
	// Costs are what the plan costs. Of a copy they are those of its original: see PricedBy.
	Costs resolve.Costs
	// Original is where costs are to be looked up that the plan itself does not say; zero where
	// it does.
	Original Original
	// Instance is nil where an instance is to be provisioned.
	Instance *Instance
}

// Names are the names that a class or plan answers to. Its external ID is none.
type Names struct {
	Kubernetes string
	External   string
}

// An Instance is what a rule about bindings may select of an instance.
type Instance struct {
	Namespace string
	Name      string
	Labels    map[string]string
}

// TargetOf returns the target that a plan is together with its class, as resolve
// sees both. It shares their labels.
func TargetOf(class resolve.ClassEntry, plan resolve.PlanEntry) Target {
	target := Target{
		Class:  Names{Kubernetes: class.Name, External: class.ExternalName},
		Plan:   Names{Kubernetes: plan.Name, External: plan.ExternalName},
		Type:   plan.Type,
		Labels: Labels{Plan: plan.Labels, Class: class.Labels},
	}
	if target.Type == "" {
		target.Type = class.Type
	}
	target.Costs, target.Original = costsOf(&class, &plan)
	return target
}

// answersTo says that the name is one of the two; no name asks for none.
func (n *Names) answersTo(name string) bool {
	return name == "" || name == n.Kubernetes || name == n.External
}

// Labels are a plan's over its class's: what a plan selector sees.
type Labels struct {
	Plan  map[string]string
	Class map[string]string
}

// Lookup returns the value of a label, and whether it is there.
func (l *Labels) Lookup(label string) (string, bool) {
	if value, ok := l.Plan[label]; ok {
		return value, true
	}
	value, ok := l.Class[label]
	return value, ok
}

// Has says that the label is there.
func (l *Labels) Has(label string) bool {
	_, ok := l.Lookup(label)
	return ok
}

// Get returns the value of a label, empty where it is not there.
func (l *Labels) Get(label string) string {
	value, _ := l.Lookup(label)
	return value
}
