package webhook

import (
	"fmt"
	"strings"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/resolve"
)

// shownCandidates is how many candidates a denial lists before it counts.
const shownCandidates = 10

// unresolved is the refusal of a request that resolve could not settle: what is
// wrong, each candidate with its scope and its fate, and the command that helps.
func unresolved(refused *resolve.Error, req resolve.Request) *denial {
	var text strings.Builder
	if refused.Value != "" {
		fmt.Fprintf(&text, "%.253q: ", refused.Value)
	}
	text.WriteString(refused.Detail)
	for i, candidate := range refused.Candidates {
		if i == shownCandidates {
			fmt.Fprintf(&text, "\n  - and %d more", len(refused.Candidates)-i)
			break
		}
		fmt.Fprintf(&text, "\n  - %s: %s", candidate.Title, candidate.Fate)
	}
	denied := invalid(string(refused.Reason), refused.Field, "%s", text.String())
	denied.remedies = wayOut(refused, req)
	return denied
}

// wayOut is what settles the request, by the reason of its refusal.
func wayOut(refused *resolve.Error, req resolve.Request) []string {
	switch refused.Reason {
	case resolve.Ambiguous:
		return settleAmbiguity(refused)
	case resolve.NoDefault:
		return settleDefault(refused, req)
	case resolve.NothingNamed:
		return []string{
			"set spec.serviceType; the types on offer: kubectl get clusterserviceplans -o custom-columns=TYPE:.spec.serviceType,PLAN:.spec.externalName",
			"or name a class and a plan: spec.clusterServiceClassExternalName, spec.clusterServicePlanExternalName",
		}
	case resolve.ClassNotFound:
		return []string{listing("class", req.Namespaced, req.Namespace)}
	case resolve.PlanNotFound, resolve.NoMatch, resolve.Unusable, resolve.ClassMismatch, resolve.TypeMismatch:
		return []string{listing("plan", req.Namespaced, req.Namespace) + " --show-labels"}
	case resolve.InvalidSelector:
		return []string{"kubectl explain serviceinstance.spec.planSelector"}
	case resolve.InvalidReference:
		return []string{"kubectl explain serviceinstance.spec"}
	}
	return nil
}

// settleAmbiguity chooses one of several.
func settleAmbiguity(refused *resolve.Error) []string {
	usable := usablePlans(refused.Candidates)
	if refused.Rule == "" {
		return []string{"name one by its Kubernetes name instead: " + strings.Join(kubernetesNames(refused.Candidates), " or ")}
	}
	if len(usable) == 0 {
		return nil
	}
	if isSuggestion(refused.Rule) {
		return []string{
			"an operator makes one the default, as in: " + annotate(usable[0].Plan, v1beta1.AnnotationDefaultPlan+"=true"),
			"or name one: " + nameIt(usable[0]),
		}
	}
	last := usable[len(usable)-1]
	return []string{
		"an operator keeps one default, as in: " + annotate(last.Plan, v1beta1.AnnotationDefaultPlan+"-"),
		"or name one: " + nameIt(usable[0]),
	}
}

// settleDefault makes one of the plans the default, or shows what there is.
func settleDefault(refused *resolve.Error, req resolve.Request) []string {
	usable := usablePlans(refused.Candidates)
	if len(usable) == 0 {
		return []string{"the types on offer: kubectl get clusterserviceplans -o custom-columns=TYPE:.spec.serviceType,PLAN:.spec.externalName"}
	}
	ways := []string{"name one: " + nameIt(usable[0])}
	if req.Class.Value == "" || usable[0].Type != "" || len(usable) > 1 {
		ways = append(ways, "or an operator makes one the default, as in: "+annotate(usable[0].Plan, v1beta1.AnnotationDefaultPlan+"=true"))
	}
	return ways
}

func isSuggestion(rule resolve.Rule) bool {
	return rule == resolve.RuleClassSuggested || rule == resolve.RuleNamespaceSuggested || rule == resolve.RuleClusterSuggested
}

func usablePlans(candidates []resolve.Candidate) []resolve.Candidate {
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
	for _, candidate := range candidates[:min(len(candidates), shownCandidates)] {
		if candidate.Plan.Name != "" {
			names = append(names, nameField(candidate.Plan, "Plan")+": "+candidate.Plan.Name)
			continue
		}
		names = append(names, nameField(candidate.Class, "Class")+": "+candidate.Class.Name)
	}
	return names
}

func nameIt(candidate resolve.Candidate) string {
	prefix := "spec.clusterService"
	if candidate.Plan.Namespace != "" {
		prefix = "spec.service"
	}
	return fmt.Sprintf("%sClassExternalName: %s, %sPlanExternalName: %s", prefix, candidate.ClassName, prefix, candidate.PlanName)
}

func nameField(ref resolve.Ref, kind string) string {
	if ref.Namespace == "" {
		return "spec.clusterService" + kind + "Name"
	}
	return "spec.service" + kind + "Name"
}

// annotate is the command that annotates a plan.
func annotate(plan resolve.Ref, annotation string) string {
	if plan.Namespace == "" {
		return fmt.Sprintf("kubectl annotate clusterserviceplan %s %s", plan.Name, annotation)
	}
	return fmt.Sprintf("kubectl annotate -n %s serviceplan %s %s", plan.Namespace, plan.Name, annotation)
}

// listing is the command that lists classes or plans of a scope.
func listing(kind string, namespaced bool, namespace string) string {
	plural := map[string]string{"class": "serviceclasses", "plan": "serviceplans"}[kind]
	if namespaced {
		return fmt.Sprintf("see what there is: kubectl get -n %s %s", namespace, plural)
	}
	return "see what there is: kubectl get cluster" + plural
}
