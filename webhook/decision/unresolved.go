package decision

import (
	"fmt"
	"strings"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/references"
	"github.com/defaultplan/defaultplan/webhook/review"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// ShownCandidates is how many candidates a denial lists before it counts.
const ShownCandidates = 10

// Unresolved is the denial of a request that resolve could not decide: what is
// wrong, each candidate with its scope and why it was not chosen, and the
// command that helps.
func Unresolved(refused *resolve.Error, req resolve.Request) *review.Denial {
	var text strings.Builder
	if refused.Value != "" {
		fmt.Fprintf(&text, "%.253q: ", refused.Value)
	}
	text.WriteString(refused.Detail)
	for i, candidate := range refused.Candidates {
		if i == ShownCandidates {
			fmt.Fprintf(&text, "\n  - and %d more", len(refused.Candidates)-i)
			break
		}
		fmt.Fprintf(&text, "\n  - %s: %s", candidate.Title, candidate.Fate)
	}
	denied := review.Invalid(string(refused.Reason), refused.Field, "%s", text.String())
	denied.Remedies = wayOut(refused, req)
	return denied
}

// wayOut is the remedy by the reason of the denial.
func wayOut(refused *resolve.Error, req resolve.Request) []string {
	switch refused.Reason {
	case resolve.Ambiguous:
		return settleAmbiguity(refused)
	case resolve.NoDefault:
		return settleDefault(refused, req)
	case resolve.NothingNamed:
		return append(suggest.Types().Lines("set spec.serviceType; the types on offer"),
			"or name a class and a plan: spec.clusterServiceClassExternalName, spec.clusterServicePlanExternalName")
	case resolve.ClassNotFound:
		return suggest.Classes(scopeOf(req)).Lines(suggest.WhatThereIs)
	case resolve.PlanNotFound, resolve.NoMatch, resolve.Unusable, resolve.ClassMismatch, resolve.TypeMismatch:
		return suggest.Plans(scopeOf(req)).Labelled().Lines(suggest.WhatThereIs)
	case resolve.InvalidSelector:
		return []string{"kubectl explain serviceinstance.spec.planSelector"}
	case resolve.InvalidReference:
		if refused.Field == "spec.serviceType" {
			return suggest.Types().Lines("the types on offer")
		}
		return []string{"kubectl explain serviceinstance.spec"}
	}
	return nil
}

// settleAmbiguity is the remedy that chooses one of several.
func settleAmbiguity(refused *resolve.Error) []string {
	usable := UsablePlans(refused.Candidates)
	if refused.Rule == "" {
		return []string{"name one by its Kubernetes name instead: " + strings.Join(kubernetesNames(refused.Candidates), " or ")}
	}
	if len(usable) == 0 {
		return nil
	}
	first, orName := suggest.PlanAmong(usable[0], usable), "or name one: "+nameIt(usable[0], usable)
	if isSuggestion(refused.Rule) {
		return append(first.MakeDefault().Lines("an operator makes one the default, as in"), orName)
	}
	keep := suggest.PlanAmong(usable[len(usable)-1], usable).TakeDefault()
	if svcat := first.MakeDefault().Svcat; svcat != "" {
		// svcat makes the first the only default; kubectl removes the others
		// one by one.
		keep.Svcat = svcat
	}
	return append(keep.Lines("an operator keeps one default, as in"), orName)
}

// settleDefault is the remedy that makes one of the plans the default, or lists
// them.
func settleDefault(refused *resolve.Error, req resolve.Request) []string {
	usable := UsablePlans(refused.Candidates)
	if len(usable) == 0 {
		return suggest.Types().Lines("the types on offer")
	}
	ways := []string{"name one: " + nameIt(usable[0], usable)}
	if req.Class.Value == "" || usable[0].Type != "" || len(usable) > 1 {
		first := suggest.PlanAmong(usable[0], usable)
		ways = append(ways, first.MakeDefault().Lines("or an operator makes one the default, as in")...)
	}
	return ways
}

func isSuggestion(rule resolve.Rule) bool {
	return rule == resolve.RuleClassSuggested || rule == resolve.RuleNamespaceSuggested || rule == resolve.RuleClusterSuggested
}

// UsablePlans are the candidates that could be chosen by name.
func UsablePlans(candidates []resolve.Candidate) []resolve.Candidate {
	var usable []resolve.Candidate
	for _, candidate := range candidates {
		if candidate.Usable && candidate.Plan.Name != "" {
			usable = append(usable, candidate)
		}
	}
	return usable
}

// kubernetesNames are the metadata names of candidates, which fit one only.
func kubernetesNames(candidates []resolve.Candidate) []string {
	names := make([]string, 0, len(candidates))
	for _, candidate := range candidates[:min(len(candidates), ShownCandidates)] {
		if candidate.Plan.Name != "" {
			names = append(names, named("ServicePlan", candidate.Plan))
			continue
		}
		names = append(names, named("ServiceClass", candidate.Class))
	}
	return names
}

// nameIt identifies a candidate among others: by its broker's names, or if
// these are not unique, by its Kubernetes names.
func nameIt(candidate resolve.Candidate, all []resolve.Candidate) string {
	if suggest.PlanAmong(candidate, all).Class == "" {
		return named("ServiceClass", candidate.Class) + ", " + named("ServicePlan", candidate.Plan)
	}
	namespace := candidate.Plan.Namespace
	return fmt.Sprintf("%s: %s, %s: %s", references.Field(namespace, "ServiceClass", "ExternalName"), candidate.ClassName,
		references.Field(namespace, "ServicePlan", "ExternalName"), candidate.PlanName)
}

// named is an object by its Kubernetes name, as a spec says it.
func named(kind string, ref resolve.Ref) string {
	return references.Field(ref.Namespace, kind, "Name") + ": " + ref.Name
}

// scopeOf is the namespace whose catalog the request names, empty for the
// cluster's.
func scopeOf(req resolve.Request) string {
	if req.Namespaced {
		return req.Namespace
	}
	return ""
}
