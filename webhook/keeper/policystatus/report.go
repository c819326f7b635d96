package policystatus

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// maxNames is how many names of what it selects a policy's status holds.
const maxNames = 32

// Why a policy is effective, or not.
const (
	reasonSelects    = "Selects"
	reasonNothing    = "SelectsNothing"
	reasonNowhere    = "SelectsNoNamespace"
	reasonUnreadable = "Unreadable"
)

// A report is what one policy selects.
type report struct {
	// policy and stored are the cache's: not to be written to.
	policy client.Object
	stored *v1beta1.PolicyStatus
	// where is what the policy says of namespaces; nil is everywhere.
	where *v1beta1.PolicyNamespaces
	rule  policy.Rule
	// fault says why the policy cannot be compiled.
	fault error

	plans, namespaces, instances tally
	// counted is the last that was counted: one that is found by several keys
	// counts once.
	counted int
}

// A tally counts what is found in order, and remembers the first names.
type tally struct {
	count int32
	names []string
}

func (t *tally) add(name string) {
	t.count++
	if len(t.names) < maxNames {
		t.names = append(t.names, name)
	}
}

func reportOnProvisioning(p *v1beta1.ProvisioningPolicy) *report {
	rule, fault := policy.FromProvisioning(p)
	return &report{policy: p, stored: &p.Status, where: p.Spec.Namespaces, rule: rule, fault: fault}
}

func reportOnBinding(p *v1beta1.BindingPolicy) *report {
	rule, fault := policy.FromBinding(p)
	return &report{policy: p, stored: &p.Status, where: p.Spec.Namespaces, rule: rule, fault: fault}
}

func (r *report) kind() string {
	if r.aboutBindings() {
		return policy.KindBinding
	}
	return policy.KindProvisioning
}

func (r *report) aboutBindings() bool { return policyKeyOf(r.policy).binding }

// empty is an empty object of the policy's kind.
func (r *report) empty() client.Object {
	if r.aboutBindings() {
		return &v1beta1.BindingPolicy{}
	}
	return &v1beta1.ProvisioningPolicy{}
}

// status is the policy's new status.
func (r *report) status(now metav1.Time) v1beta1.PolicyStatus {
	generation := r.policy.GetGeneration()
	status := v1beta1.PolicyStatus{
		ObservedGeneration: generation,
		Plans:              r.plans.count, PlanNames: r.plans.names,
		Namespaces: r.namespaces.count, NamespaceNames: r.namespaces.names,
		Slots:      r.stored.Slots, // another's affair: they are not written
		Conditions: v1beta1.SetCondition(r.stored.Conditions, r.effective(), generation, now),
	}
	if r.aboutBindings() {
		status.Instances = &r.instances.count
	}
	return status
}

// effective says whether the policy does anything now, and if not, why: most
// often, a name is misspelt.
func (r *report) effective() v1beta1.Condition {
	if r.fault != nil {
		return v1beta1.Effective(false, reasonUnreadable, r.fault.Error())
	}
	var none []string
	reason := reasonSelects
	if r.namespaces.count == 0 {
		none, reason = append(none, "namespace"), reasonNowhere
	}
	if r.plans.count == 0 && r.instances.count == 0 {
		none, reason = append([]string{"plan"}, none...), reasonNothing
		if r.aboutBindings() {
			none = append([]string{"instance"}, none...)
		}
	}
	if len(none) > 0 {
		return v1beta1.Effective(false, reason, "selects no "+strings.Join(none, " and no ")+" now: a name or label may be misspelt, or what it names is yet to come")
	}
	return v1beta1.Effective(true, reason, "selects what exists now")
}
