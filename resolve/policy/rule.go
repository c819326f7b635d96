package policy

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// The kinds of policies.
const (
	KindProvisioning = "ProvisioningPolicy"
	KindBinding      = "BindingPolicy"
)

// A Rule is one policy, compiled: what it is about, and where it holds. It shares
// the policy's strings and lists. The zero Rule selects nothing and holds nowhere.
type Rule struct {
	// Kind and Name are those of the policy.
	Kind string
	Name string
	// Deny says that the rule refuses; otherwise it allows, unless it only limits.
	Deny bool
	// OnlyLimits says that the rule neither refuses nor allows.
	OnlyLimits bool
	// Limits are how many each namespace may have in which the rule holds.
	Limits Limits
	// Message is what the operator says to whom the rule refuses; it may be empty.
	Message string

	subjects []subject
	places   places
}

// places are the namespaces that a rule holds in.
type places struct {
	everywhere bool
	names      []string
	// selector is nil where none was given.
	selector labels.Selector
}

// A Place is the namespace where an instance or binding is, or is to be.
type Place struct {
	Namespace string
	// Labels are those of the namespace.
	Labels map[string]string
}

// FromProvisioning returns the rule of a policy about instances. The error is an
// *[Error], and the rule then the zero one.
func FromProvisioning(policy *v1beta1.ProvisioningPolicy) (Rule, error) {
	subjects := make([]v1beta1.BindingPolicySubject, len(policy.Spec.Subjects))
	for i := range policy.Spec.Subjects {
		subjects[i].PlanSubject = policy.Spec.Subjects[i].PlanSubject
	}
	rule := Rule{Kind: KindProvisioning, Name: policy.Name}
	if policy.Spec.Action != v1beta1.PolicyDeny {
		rule.Limits = Limits{Instances: policy.Spec.MaxInstances, Bindings: policy.Spec.MaxBindings}
	}
	return compile(rule, &policy.Spec.PolicyRule, subjects)
}

// FromBinding returns the rule of a policy about bindings. The error is an
// *[Error], and the rule then the zero one.
func FromBinding(policy *v1beta1.BindingPolicy) (Rule, error) {
	return compile(Rule{Kind: KindBinding, Name: policy.Name}, &policy.Spec.PolicyRule, policy.Spec.Subjects)
}

// compile completes a rule that has its kind and name.
func compile(rule Rule, given *v1beta1.PolicyRule, subjects []v1beta1.BindingPolicySubject) (Rule, error) {
	found, spec := faults{}, field.NewPath("spec")
	rule.Message = given.Message
	rule.Deny, rule.OnlyLimits = given.Action == v1beta1.PolicyDeny, given.Action == v1beta1.PolicyLimit
	if actions := actionsOf(rule.Kind); !slices.Contains(actions, given.Action) {
		found.add(field.NotSupported(spec.Child("action"), given.Action, actions))
	}
	rule.places = found.places(given.Namespaces, spec.Child("namespaces"))
	rule.subjects = make([]subject, len(subjects))
	for i := range subjects {
		rule.subjects[i] = found.subject(&subjects[i], spec.Child("subjects").Index(i))
	}
	if len(found) > 0 {
		return Rule{}, &Error{Kind: rule.Kind, Name: rule.Name, Faults: found}
	}
	return rule, nil
}

func (f *faults) places(given *v1beta1.PolicyNamespaces, at *field.Path) places {
	if given == nil {
		return places{everywhere: true}
	}
	if len(given.Names) == 0 && given.Selector == nil {
		f.add(field.Required(at, "give names or a selector; without namespaces the rule holds in every namespace"))
	}
	return places{names: given.Names, selector: f.selector(given.Selector, at.Child("selector"))}
}

// Holds says that the rule holds in the place.
func (r *Rule) Holds(place Place) bool {
	p := &r.places
	return p.everywhere || slices.Contains(p.names, place.Namespace) ||
		p.selector != nil && p.selector.Matches(labels.Set(place.Labels))
}
