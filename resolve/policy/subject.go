package policy

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// A subject is one entry of a rule's subjects: all that is set must be so.
type subject struct {
	serviceType, class, plan string
	// instance and the selectors are nil where none was given.
	instance         *v1beta1.PolicyInstance
	plans, instances labels.Selector
	costs            *costsAbove
}

// subject compiles an entry. One that says nothing is a fault: it would select
// everything.
func (f *faults) subject(given *v1beta1.BindingPolicySubject, at *field.Path) subject {
	s := subject{
		serviceType: given.ServiceType, class: given.ClassName, plan: given.PlanName, instance: given.Instance,
		plans:     f.selector(given.PlanSelector, at.Child("planSelector")),
		instances: f.selector(given.InstanceSelector, at.Child("instanceSelector")),
		costs:     f.costs(given.Costs, at.Child("costs")),
	}
	if s == (subject{}) {
		f.add(field.Required(at, "it says nothing, and would select everything: an empty planSelector says so"))
	}
	return s
}

// Selects says that the rule is about the target.
func (r *Rule) Selects(target Target) bool {
	return r.selects(&target)
}

func (r *Rule) selects(target *Target) bool {
	for i := range r.subjects {
		if r.subjects[i].selects(target) {
			return true
		}
	}
	return false
}

func (s *subject) selects(target *Target) bool {
	if s.serviceType != "" && s.serviceType != target.Type {
		return false
	}
	if !target.Class.answersTo(s.class) || !target.Plan.answersTo(s.plan) {
		return false
	}
	if s.plans != nil && !s.plans.Matches(&target.Labels) {
		return false
	}
	return s.selectsInstance(target.Instance) && (s.costs == nil || s.costs.selects(&target.Costs))
}

func (s *subject) selectsInstance(instance *Instance) bool {
	if s.instance == nil && s.instances == nil {
		return true
	}
	if instance == nil {
		return false
	}
	if s.instance != nil && (s.instance.Namespace != instance.Namespace || s.instance.Name != instance.Name) {
		return false
	}
	return s.instances == nil || s.instances.Matches(labels.Set(instance.Labels))
}
