package explain

import (
	"cmp"

	"k8s.io/component-base/featuregate"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/policy"
)

// A teller tells an account of package resolve as this package's report does.
type teller struct {
	account resolve.Account
	plans   map[resolve.Ref]*resolve.PlanEntry
	classes map[resolve.Ref]*resolve.ClassEntry
	refused map[resolve.Ref]*policy.Refusal
}

// newTeller explains a request in a slice, as a webhook with these gates sees it.
func newTeller(req *resolve.Request, s *slice, gates featuregate.FeatureGate) *teller {
	entries, refused := s.entries(req.Namespace)
	closed(&entries, gates)
	t := &teller{
		account: resolve.Explain(*req, entries), refused: refused,
		plans: map[resolve.Ref]*resolve.PlanEntry{}, classes: map[resolve.Ref]*resolve.ClassEntry{},
	}
	for i := range entries.Plans {
		t.plans[entries.Plans[i].Ref] = &entries.Plans[i]
	}
	for i := range entries.Classes {
		t.classes[entries.Classes[i].Ref] = &entries.Classes[i]
	}
	return t
}

// tell is the account, without what admission says and what is merged.
func (t *teller) tell() *Now {
	now := &Now{Verdict: Refused}
	if t.account.Refused == nil {
		choice := &t.account.Choice
		now.Verdict, now.Rule, now.Recorded = Decided, string(choice.Rule), choice.Recorded
		now.Plan = new(planOf(&choice.Class, &choice.Plan))
		now.Policy = policyOf(t.refused[choice.Plan.Ref])
		now.Warnings = choice.Notes
	}
	for _, belief := range t.account.Records {
		now.Records = append(now.Records, t.record(belief))
	}
	for _, tier := range t.account.Tiers {
		now.Tiers = append(now.Tiers, Tier{Rule: string(tier.Rule), State: string(tier.State), Claims: t.candidates(tier.Claims)})
	}
	now.Others = t.candidates(t.account.Others)
	return now
}

func (t *teller) record(belief resolve.Belief) Record {
	record := Record{
		Kind: v1beta1.ScopedKind(belief.Plan.Namespace, "ServiceType"), Namespace: belief.Plan.Namespace, Type: belief.Type, Plan: belief.Plan.Name,
		Believed: t.believed(belief), Why: belief.Why,
	}
	if plan := t.plans[belief.Plan]; plan != nil {
		record.Title = t.plan(plan).titled()
	}
	return record
}

func (*teller) believed(belief resolve.Belief) bool {
	return belief.Why == "" && belief.Plan.Name != ""
}

// plan is a plan of the slice; its class may be missing.
func (t *teller) plan(plan *resolve.PlanEntry) Plan {
	class := t.classes[resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}]
	if class == nil {
		class = &resolve.ClassEntry{Ref: resolve.Ref{Namespace: plan.Namespace, Name: plan.Class}}
	}
	return planOf(class, plan)
}

func planOf(class *resolve.ClassEntry, plan *resolve.PlanEntry) Plan {
	return Plan{
		Class: cmp.Or(class.ExternalName, class.Name), Plan: cmp.Or(plan.ExternalName, plan.Name),
		Scope: scopeName(class.Namespace), Name: plan.Name,
	}
}

func (t *teller) candidates(list []resolve.Candidate) []Candidate {
	told := make([]Candidate, len(list))
	for i, c := range list {
		told[i] = Candidate{
			Plan:  Plan{Class: c.ClassName, Plan: c.PlanName, Scope: c.Scope(), Name: c.Plan.Name},
			Title: c.Title, Fate: c.Fate, Policy: policyOf(t.refused[c.Plan]),
		}
		if plan := t.plans[c.Plan]; plan != nil {
			told[i].Annotated, told[i].Suggested, told[i].Weight = plan.Default, plan.Suggested, plan.Weight
		}
		for _, belief := range t.account.Records {
			told[i].Recorded = told[i].Recorded || t.believed(belief) && belief.Plan == c.Plan
		}
	}
	return told
}

func policyOf(refusal *policy.Refusal) *Policy {
	if refusal == nil {
		return nil
	}
	return &Policy{Kind: refusal.Kind, Names: refusal.Policies, NotAllowed: refusal.NotAllowed, Costs: refusal.Costs, Message: refusal.Message}
}

// scopeName is a scope as resolve names it.
func scopeName(namespace string) string {
	return resolve.Candidate{Class: resolve.Ref{Namespace: namespace}}.Scope()
}
