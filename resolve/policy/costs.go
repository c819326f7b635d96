package policy

import (
	"cmp"
	"fmt"
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/costs"
)

// costsAbove is what a subject says of costs: it selects the plans that cost more than limit,
// and, unless skipUnknown, those of which that is unknown.
type costsAbove struct {
	currency, unit string
	limit          *big.Rat
	skipUnknown    bool
}

// costs compiles what a subject says of costs; nil stays nil. It has the rules of the schema,
// because a cluster without it may have stored the policy.
func (f *faults) costs(given *v1beta1.PolicyCosts, at *field.Path) *costsAbove {
	if given == nil {
		return nil
	}
	for _, word := range [][2]string{{"currency", given.Currency}, {"unit", given.Unit}} {
		if strings.TrimSpace(word[1]) == "" || strings.TrimSpace(word[1]) != word[1] {
			f.add(field.Invalid(at.Child(word[0]), word[1], "give a text without spaces around it"))
		}
	}
	limit, err := costs.Decimal(given.Above)
	if err != nil {
		f.add(field.Invalid(at.Child("above"), given.Above, "it "+err.Error()))
	}
	known := []v1beta1.UnknownCosts{v1beta1.UnknownDeny, v1beta1.UnknownAllow}
	if given.Unknown != "" && given.Unknown != known[0] && given.Unknown != known[1] {
		f.add(field.NotSupported(at.Child("unknown"), given.Unknown, known))
	}
	return &costsAbove{currency: given.Currency, unit: given.Unit, limit: limit, skipUnknown: given.Unknown == v1beta1.UnknownAllow}
}

// selects says that a plan costs more than the limit, or counts so.
func (c *costsAbove) selects(of *resolve.Costs) bool {
	total, known := c.total(of)
	if !known {
		return !c.skipUnknown
	}
	return total.Cmp(c.limit) > 0
}

// total is what a plan costs in the currency and the unit. Free counts only where the broker
// names no costs: it is also what a catalog says that leaves it out.
func (c *costsAbove) total(of *resolve.Costs) (total *big.Rat, known bool) {
	switch {
	case of.Malformed, of.Unread:
		return nil, false
	case len(of.Listed) == 0 && of.Free:
		return new(big.Rat), true
	}
	return costs.Total(of.Listed, c.currency, c.unit)
}

// words say what a plan costs, and the limit. They are the policy's own, but for the amount.
func (c *costsAbove) words(of *resolve.Costs) string {
	in := c.currency + " / " + c.unit
	if total, known := c.total(of); known {
		return fmt.Sprintf("it costs %s %s, and the limit is %s", costs.Text(total), in, costs.Text(c.limit))
	}
	return fmt.Sprintf("what it costs in %s is unknown, and the limit is %s", in, costs.Text(c.limit))
}

// costsOf says what the target costs and the limit; empty where the rule selects the target
// whatever it costs.
func (r *Rule) costsOf(target *Target) string {
	words := ""
	for i := range r.subjects {
		s := &r.subjects[i]
		if !s.selects(target) {
			continue
		}
		if s.costs == nil {
			return ""
		}
		words = cmp.Or(words, s.costs.words(&target.Costs))
	}
	return words
}

// AboutCosts says that any of the rules selects plans by what they cost.
func AboutCosts(rules []Rule) bool {
	for i := range rules {
		for k := range rules[i].subjects {
			if rules[i].subjects[k].costs != nil {
				return true
			}
		}
	}
	return false
}

// An Original is where a plan has its costs from: the plans of the cluster with an ID at a
// broker of the cluster.
type Original struct {
	Broker, ExternalID string
}

// costsOf are the costs of a plan, and where they are to be looked up.
//
// A user who may write the plans of a namespace may write any costs into the status of a copy,
// or that it is free. So a plan of a cluster's broker in a namespace costs what the plan of the
// cluster costs that has its ID, and what one costs that names no broker yet is unknown. A
// plan of a namespace's own broker costs what that says. A copy in the cluster, which only
// operators write, has no costs in its status: they are looked up, too.
func costsOf(class *resolve.ClassEntry, plan *resolve.PlanEntry) (resolve.Costs, Original) {
	broker, original := cmp.Or(plan.Broker, class.Broker), Original{}
	if broker.Name != "" && broker == (resolve.Ref{Name: broker.Name}) {
		original = Original{Broker: broker.Name, ExternalID: plan.ExternalID}
	}
	switch inScope := plan.Namespace == broker.Namespace; {
	case !inScope:
		return resolve.Costs{}, original
	case plan.Costs.Named():
		return plan.Costs, Original{}
	}
	return plan.Costs, original
}

// PricedBy is the target with its costs completed by the plans of the cluster among which its original
// is, in any order; of those without costs, all have to be free. Without an original, the costs of a
// copy in a namespace stay unknown.
func (t Target) PricedBy(plans []resolve.PlanEntry) Target {
	if t.Original == (Original{}) {
		return t
	}
	var first *resolve.PlanEntry
	found, free := false, true
	for i := range plans {
		plan := &plans[i]
		if plan.Namespace != plan.Broker.Namespace || plan.ExternalID != t.Original.ExternalID || plan.Broker != (resolve.Ref{Name: t.Original.Broker}) {
			continue
		}
		found, free = true, free && plan.Costs.Free && !plan.Costs.Unread
		if plan.Costs.Named() && (first == nil || plan.Name < first.Name) {
			first = plan
		}
	}
	switch {
	case first != nil:
		t.Costs = first.Costs
	case found:
		t.Costs = resolve.Costs{Free: free}
	}
	return t
}
