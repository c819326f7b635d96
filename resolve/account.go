package resolve

import (
	"errors"
	"maps"
	"slices"
)

// A TierState is what became of one tier.
type TierState string

// The states of a tier. At most one tier of an account decides or is ambiguous.
const (
	// TierDecides: its one claim is the choice.
	TierDecides TierState = "decides"
	// TierAmbiguous: several claim it, and the request is refused.
	TierAmbiguous TierState = "ambiguous"
	// TierNone: nothing claims it that can be chosen, and the next is asked.
	TierNone TierState = "none"
	// TierNotAsked: an earlier tier settled the request, or nothing did that comes before any tier.
	TierNotAsked TierState = "not asked"
)

// A Tier is one step of a request's way to its plan: a rule, and the plans that claim to be chosen by it.
type Tier struct {
	Rule  Rule
	State TierState
	// Claims are sorted, each with what became of it, those that are gone or not believed among them.
	Claims []Candidate
}

// A Belief is a record that a request's choice could go by, and whether it does.
type Belief struct {
	Record
	// Why says of the plan why the record is not believed, as in "is being deleted"; empty where it is, and where
	// nothing is recorded.
	Why string
}

// An Account is a choice told step by step. It is Plan's own: the same rounds, rules and fates.
type Account struct {
	// Choice is the zero Choice where Refused is not nil.
	Choice  Choice
	Refused *Error
	// Tiers are the request's, in the order in which they are asked; none where the request contradicts itself.
	Tiers []Tier
	// Others are sorted: what the request could have meant, and claims no tier.
	Others []Candidate
	// Records are those of the types of all these plans, the namespace's before the cluster's; none where the request
	// goes by no default.
	Records []Belief
}

// Explain tells how Plan answers. It is linear in the catalog, but for sorting what it tells.
func Explain(req Request, cat Catalog) Account {
	r := newRound(req, cat)
	err := r.req.contradiction()
	told := err == nil
	if told {
		err = r.decide()
	}
	account := Account{}
	if !errors.As(err, &account.Refused) {
		account.Choice = r.choice()
	}
	if told {
		account.Tiers = r.tiers(account.Refused)
	}
	if len(account.Tiers) > 0 {
		r.file(&account)
	}
	return account
}

// tiersOf are the tiers that the request's rule goes through.
func (r *round) tiersOf() []Rule {
	switch {
	case r.req.Plan.Value != "":
		return []Rule{RuleNamed}
	case r.req.Selector != nil:
		return []Rule{RuleSelector}
	case r.req.Class.Value != "":
		return []Rule{RuleOnlyPlan, RuleClassDefault, RuleClassSuggested}
	case r.req.Type != "" && r.req.Namespace == "":
		return []Rule{RuleClusterDefault, RuleClusterSuggested}
	case r.req.Type != "":
		return []Rule{RuleNamespaceDefault, RuleClusterDefault, RuleNamespaceSuggested, RuleClusterSuggested}
	}
	return nil
}

// tiers are the request's, still without claims.
func (r *round) tiers(refused *Error) []Tier {
	rules := r.tiersOf()
	tiers := make([]Tier, len(rules))
	asked := r.lookedAtPlans()
	for i, rule := range rules {
		tiers[i] = Tier{Rule: rule, State: TierNotAsked}
		if !asked {
			continue
		}
		tiers[i].State = r.stateOf(rule, refused)
		asked = tiers[i].State == TierNone
	}
	return tiers
}

// stateOf is the state of a tier that is asked.
func (r *round) stateOf(rule Rule, refused *Error) TierState {
	switch {
	case refused == nil && rule == r.rule:
		return TierDecides
	case refused != nil && refused.Reason == Ambiguous && (refused.Rule == rule || rule == RuleNamed):
		return TierAmbiguous
	}
	return TierNone
}

// lookedAtPlans says that the round came as far as the plans: a class that is named was found, and a selector is one.
func (r *round) lookedAtPlans() bool {
	return (r.req.Class.Value == "" || r.class != nil) && (r.req.Selector == nil || r.selector != nil)
}

// file puts every plan that the request could have meant into the tiers that it claims, or among the others.
func (r *round) file(account *Account) {
	if !r.lookedAtPlans() {
		account.Others = account.Refused.Candidates
		return
	}
	contends := map[Ref]string{}
	if account.Refused != nil && account.Refused.Reason == Ambiguous {
		for _, candidate := range account.Refused.Candidates {
			contends[candidate.Plan] = candidate.Fate
		}
	}
	all := r.list(r.considered, r.fate)
	for _, candidate := range all {
		p, claims := r.plans.get(candidate.Plan), false
		for i := range account.Tiers {
			tier := &account.Tiers[i]
			if !r.claims(p, tier) {
				continue
			}
			claims = true
			claim := candidate
			claim.Fate = r.claimFate(p, tier, contends)
			tier.Claims = append(tier.Claims, claim)
			if p == r.chosen && tier.State == TierDecides {
				break
			}
		}
		if !claims {
			account.Others = append(account.Others, candidate)
		}
	}
	account.Records = r.beliefs(all)
}

// claims says that the plan asks to be chosen by the tier's rule, whether or not it can be.
func (r *round) claims(p *PlanEntry, tier *Tier) bool {
	if tier.Rule != RuleNamed && (!r.agrees(p) || !tier.Rule.covers(p)) {
		return false
	}
	switch tier.Rule {
	case RuleNamed:
		return r.planFits(p)
	case RuleSelector:
		return r.matches(p)
	case RuleOnlyPlan:
		return tier.State == TierDecides && p == r.chosen
	case RuleClassDefault, RuleNamespaceDefault, RuleClusterDefault:
		return p.Default || r.isDefault(p)
	case RuleClassSuggested, RuleNamespaceSuggested, RuleClusterSuggested:
	}
	return p.Suggested && (!r.live(p) || !r.isDefault(p))
}

// claimFate is what became of a claim. Of the chosen plan it may differ from tier to tier: a broker's suggestion may also
// be annotated as a default that it is not.
func (r *round) claimFate(p *PlanEntry, tier *Tier, contends map[Ref]string) string {
	switch {
	case p == r.chosen && tier.State != TierDecides:
		return r.defaultFate(p)
	case tier.State == TierAmbiguous && contends[p.Ref] != "":
		return contends[p.Ref]
	case tier.State == TierNotAsked && r.chosen == nil && r.live(p):
		return "not asked"
	}
	return r.fate(p)
}

// beliefs are the records of the types of these plans and of the request's, in the scopes that it sees.
func (r *round) beliefs(of []Candidate) []Belief {
	types := map[string]bool{r.req.Type: true}
	for _, candidate := range of {
		types[candidate.Type] = true
	}
	delete(types, "")
	scopes := []string{r.req.Namespace, ""}
	if r.req.Namespace == "" {
		scopes = scopes[1:]
	}
	var out []Belief
	if r.req.Plan.Value != "" || r.req.Selector != nil {
		return out
	}
	for _, scope := range scopes {
		if r.class != nil && r.class.Namespace != scope {
			continue
		}
		for _, typ := range slices.Sorted(maps.Keys(types)) {
			if rec := r.records.get(Ref{Namespace: scope, Name: typ}); rec != nil {
				out = append(out, Belief{Record: *rec, Why: r.whyDisbelieved(rec)})
			}
		}
	}
	return out
}
