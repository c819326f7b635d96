package resolve

import (
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
	account := Account{Refused: r.decide()}
	if account.Refused == nil {
		account.Choice = r.choice()
	}
	if r.strategy == nil {
		return account
	}
	e := &explainer{round: r, refused: account.Refused}
	account.Tiers = e.tiers()
	if !e.cameToPlans() {
		account.Others = account.Refused.Candidates
		return account
	}
	all := r.candidates()
	account.Others = e.file(all, account.Tiers)
	account.Records = e.beliefs(all)
	return account
}

// An explainer puts what a round came to into tiers.
type explainer struct {
	round *round
	// refused is nil where the round chose.
	refused *Error
}

// tiers are the request's, still without claims.
func (e *explainer) tiers() []Tier {
	rules := e.round.strategy.tiers()
	tiers := make([]Tier, len(rules))
	asked := e.cameToPlans()
	for i, rule := range rules {
		tiers[i] = Tier{Rule: rule, State: TierNotAsked}
		if !asked {
			continue
		}
		tiers[i].State = e.stateOf(rule)
		asked = tiers[i].State == TierNone
	}
	return tiers
}

// stateOf is the state of a tier that is asked.
func (e *explainer) stateOf(rule Rule) TierState {
	switch {
	case e.refused == nil && rule == e.round.made.rule:
		return TierDecides
	case e.ambiguous() && (e.refused.Rule == rule || rule == RuleNamed):
		return TierAmbiguous
	}
	return TierNone
}

func (e *explainer) ambiguous() bool { return e.refused != nil && e.refused.Reason == Ambiguous }

// cameToPlans says that the round came as far as the plans: a class that is named was found, and a selector is one.
func (e *explainer) cameToPlans() bool {
	s := &e.round.search
	return (s.req.Class.Value == "" || s.class != nil) && (e.refused == nil || e.refused.Reason != InvalidSelector)
}

// file puts the plans into the tiers that they claim, and returns those that claim none.
func (e *explainer) file(all []Candidate, tiers []Tier) []Candidate {
	contends := map[Ref]string{}
	if e.ambiguous() {
		for _, candidate := range e.refused.Candidates {
			contends[candidate.Plan] = candidate.Fate
		}
	}
	var others []Candidate
	for _, candidate := range all {
		p, claims := e.round.search.plans.get(candidate.Plan), false
		for i := range tiers {
			tier := &tiers[i]
			if !e.claims(p, tier) {
				continue
			}
			claims = true
			claim := candidate
			claim.Fate = e.claimFate(p, tier, contends)
			tier.Claims = append(tier.Claims, claim)
			if p == e.round.made.plan && tier.State == TierDecides {
				break
			}
		}
		if !claims {
			others = append(others, candidate)
		}
	}
	return others
}

// claims says that the plan asks to be chosen by the tier's rule. To be the only plan is nothing that a plan asks for:
// there is one, or none.
func (e *explainer) claims(p *PlanEntry, tier *Tier) bool {
	if tier.Rule == RuleOnlyPlan {
		return tier.State == TierDecides && p == e.round.made.plan
	}
	return e.round.strategy.claims(p, tier.Rule)
}

// claimFate is what became of a claim. Of the chosen plan it may differ from tier to tier: a broker's suggestion may also
// be annotated as a default that it is not.
func (e *explainer) claimFate(p *PlanEntry, tier *Tier, contends map[Ref]string) string {
	made := e.round.made
	switch {
	case p == made.plan && tier.State != TierDecides:
		return e.round.strategy.fate(p, made)
	case tier.State == TierAmbiguous && contends[p.Ref] != "":
		return contends[p.Ref]
	case tier.State == TierNotAsked && made.plan == nil && e.round.search.live(p):
		return "not asked"
	}
	return e.round.fate(p)
}

// beliefs are the records of the types of these plans and of the request's, where the request goes by defaults.
func (e *explainer) beliefs(of []Candidate) []Belief {
	s := &e.round.search
	if s.req.Plan.Value != "" || s.req.Selector != nil {
		return nil
	}
	types := map[string]bool{s.req.Type: true}
	for _, candidate := range of {
		types[candidate.Type] = true
	}
	delete(types, "")
	var out []Belief
	own, cluster := s.scopes()
	for _, scope := range slices.Compact([]string{own, cluster}) {
		for _, typ := range slices.Sorted(maps.Keys(types)) {
			if rec := s.records.get(Ref{Namespace: scope, Name: typ}); rec != nil {
				out = append(out, Belief{Record: *rec, Why: s.whyDisbelieved(rec)})
			}
		}
	}
	return out
}
