package resolve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

var accountCases = map[string]struct {
	reason  string
	catalog string
	request string
	want    string
}{
	"NamespaceDefault": {
		reason:  "The tiers behind the one that decides are not asked; what claims them is told.",
		catalog: "redis/cache: a* b? c; dev|redis/own: d^ e? f* g",
		request: "dev: type=redis",
		want: `
			namespace-default decides: own/d (ns (dev)): chosen, own/f (ns (dev)): annotated as the default, but another is recorded
			cluster-default not asked: cache/a (cluster): outranked by namespace-default
			namespace-suggested not asked: own/e (ns (dev)): only suggested
			cluster-suggested not asked: cache/b (cluster): only suggested
			others: cache/c (cluster): not the default, own/g (ns (dev)): not the default
			record dev|redis own-d`,
	},
	"ClusterDefaultByAnnotation": {
		reason:  "The namespace's tier has a default that is gone, and its record is not believed.",
		catalog: "redis/cache: a* b; dev|redis/own: d!*; record dev|redis own-d; record redis lost",
		request: "dev: type=redis",
		want: `
			namespace-default none: own/d (ns (dev)): gone: being deleted
			cluster-default decides: cache/a (cluster): chosen
			namespace-suggested not asked:
			cluster-suggested not asked:
			others: cache/b (cluster): not the default
			record dev|redis own-d: is being deleted
			record redis lost: does not exist`,
	},
	"ClusterSuggested": {
		reason:  "The last tier.",
		catalog: "redis/cache: a? b",
		request: "dev: type=redis",
		want: `
			namespace-default none:
			cluster-default none:
			namespace-suggested none:
			cluster-suggested decides: cache/a (cluster): chosen
			others: cache/b (cluster): not suggested`,
	},
	"OnlyPlanIsTheDefaultToo": {
		reason:  "What is chosen is not told of again behind the tier that chose it, and no other tier's record is.",
		catalog: "redis/cache: a^*",
		request: "dev: class=cache",
		want: `
			only-plan decides: cache/a (cluster): chosen
			class-default not asked:
			class-suggested not asked:
			others:
			record redis cache-a`,
	},
	"DefaultAndSuggested": {
		reason:  "A default that is suggested too claims the default's tier only.",
		catalog: "redis/cache: a*? b?; dev|redis/own: c*",
		request: "dev: type=redis",
		want: `
			namespace-default decides: own/c (ns (dev)): chosen
			cluster-default not asked: cache/a (cluster): outranked by namespace-default
			namespace-suggested not asked:
			cluster-suggested not asked: cache/b (cluster): only suggested
			others:`,
	},
	"NoNamespace": {
		reason:  "A request of the cluster's has two tiers.",
		catalog: "redis/cache: a? b; dev|redis/own: d*; record dev|redis own-d",
		request: ": type=redis",
		want: `
			cluster-default none:
			cluster-suggested decides: cache/a (cluster): chosen
			others: cache/b (cluster): not suggested`,
	},
	"Ambiguous": {
		reason:  "The tier that several claim ends it.",
		catalog: "redis/cache: a* b* c? d!*",
		request: "dev: type=redis",
		want: `
			namespace-default none:
			cluster-default ambiguous: cache/a (cluster): default, cache/b (cluster): default, cache/d (cluster): gone: being deleted
			namespace-suggested not asked:
			cluster-suggested not asked: cache/c (cluster): not asked
			others:
			refused Ambiguous`,
	},
	"NoDefault": {
		reason:  "Every tier was asked in vain.",
		catalog: "redis/cache: a b; mysql/db: c*",
		request: "dev: type=redis",
		want: `
			namespace-default none:
			cluster-default none:
			namespace-suggested none:
			cluster-suggested none:
			others: cache/a (cluster): not the default, cache/b (cluster): not the default
			refused NoDefault`,
	},
	"OnlyPlan": {
		reason:  "Of a class, the plans of another type are no rivals.",
		catalog: "many: a<redis> b<mysql>",
		request: "dev: class=many type=redis",
		want: `
			only-plan decides: many/a (cluster): chosen
			class-default not asked:
			class-suggested not asked:
			others: many/b (cluster): of type mysql`,
	},
	"ClassDefault": {
		reason:  "Of several plans none is the only one.",
		catalog: "redis/cache: a* b? c",
		request: "dev: class=cache",
		want: `
			only-plan none:
			class-default decides: cache/a (cluster): chosen
			class-suggested not asked: cache/b (cluster): only suggested
			others: cache/c (cluster): not the default`,
	},
	"ClassSuggestedIsAnnotatedInVain": {
		reason:  "The chosen plan lost the tier before, and each tier says its own.",
		catalog: "redis/cache: a?* b; redis/other: c^",
		request: "dev: class=cache",
		want: `
			only-plan none:
			class-default none: cache/a (cluster): annotated as the default, but another is recorded
			class-suggested decides: cache/a (cluster): chosen
			others: cache/b (cluster): not suggested
			record redis other-c`,
	},
	"Selector": {
		reason:  "What the selector matches claims, whatever became of it.",
		catalog: "redis/cache{x=1}: a=5 c=3 d=9{x=2} e=9~budget f=9!",
		request: "dev: type=redis selector=x=1",
		want: `
			selector decides: cache/a (cluster): chosen, cache/c (cluster): outranked by weight 5, cache/e (cluster): denied by policy budget, cache/f (cluster): gone: being deleted
			others: cache/d (cluster): not matched`,
	},
	"Named": {
		reason:  "The name claims, and a record has no say.",
		catalog: "redis/cache: a^ b",
		request: "dev: class=cache plan=b",
		want: `
			named decides: cache/b (cluster): chosen
			others: cache/a (cluster): not named`,
	},
	"NamedTwice": {
		reason:  "A name that fits several plans is ambiguous.",
		catalog: "redis/cache: a a@other b",
		request: "dev: class=cache plan=a",
		want: `
			named ambiguous: cache/a (cluster, name cache-a): named so, cache/a (cluster, name other): named so
			others: cache/b (cluster): not named
			refused Ambiguous`,
	},
	"PlanNotFound": {
		reason:  "The class's plans are told.",
		catalog: "redis/cache: a",
		request: "dev: class=cache plan=x",
		want: `
			named none:
			others: cache/a (cluster): not named
			refused PlanNotFound`,
	},
	"ClassAmbiguous": {
		reason:  "No tier is asked before the class is found.",
		catalog: "redis/cache: a; redis/cache@copy: b",
		request: "dev: class=cache",
		want: `
			only-plan not asked:
			class-default not asked:
			class-suggested not asked:
			others: cache (cluster, name cache): named so, cache (cluster, name copy): named so
			refused Ambiguous`,
	},
	"EmptySelector": {
		reason:  "Nor before the selector is one.",
		catalog: "redis/cache: a",
		request: "dev: type=redis selector={}",
		want: `
			selector not asked:
			others:
			refused InvalidSelector`,
	},
	"NothingNamed": {
		reason:  "There are no tiers to ask.",
		catalog: "redis/cache: a",
		request: "dev:",
		want: `
			others:
			refused NothingNamed`,
	},
	"PlanWithoutClass": {
		reason:  "Nor for what contradicts itself.",
		catalog: "redis/cache: a",
		request: "dev: plan=a",
		want: `
			others:
			refused InvalidReference`,
	},
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, tc := range accountCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account := resolve.Explain(resolvetest.Request(t, tc.request), resolvetest.Catalog(t, tc.catalog))
			assert.Equal(t, strings.ReplaceAll(strings.TrimSpace(tc.want), "\t", ""), told(&account), tc.reason)
		})
	}
}

// TestExplainIsPlan holds every account against Plan: the same answer, and each candidate told of, once.
func TestExplainIsPlan(t *testing.T) {
	t.Parallel()
	for name, tc := range accountCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, cat := resolvetest.Request(t, tc.request), resolvetest.Catalog(t, tc.catalog)
			account := resolve.Explain(req, cat)
			choice, err := resolve.Plan(req, cat)
			if err != nil {
				require.Equal(t, err, account.Refused)
				return
			}
			require.Nil(t, account.Refused)
			assert.Equal(t, choice.Plan, account.Choice.Plan)
			assert.Equal(t, choice.Rule, account.Choice.Rule)
			assert.Equal(t, choice.Notes, account.Choice.Notes)
			var titles []string
			for _, tier := range account.Tiers {
				titles = append(titles, titlesOf(tier.Claims)...)
			}
			titles = append(titles, titlesOf(account.Others)...)
			slices.Sort(titles)
			assert.ElementsMatch(t, titlesOf(choice.Candidates()), slices.Compact(titles))
		})
	}
}

func titlesOf(candidates []resolve.Candidate) []string {
	titles := make([]string, len(candidates))
	for i, c := range candidates {
		titles[i] = c.Title
	}
	return titles
}

// told is an account in lines.
func told(account *resolve.Account) string {
	var lines []string
	for _, tier := range account.Tiers {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s: %s", tier.Rule, tier.State, strings.Join(fates(tier.Claims), ", "))))
	}
	lines = append(lines, strings.TrimSpace("others: "+strings.Join(fates(account.Others), ", ")))
	for _, belief := range account.Records {
		line := "record " + strings.TrimPrefix(belief.Plan.Namespace+"|"+belief.Type, "|") + " " + belief.Plan.Name
		if belief.Why != "" {
			line += ": " + belief.Why
		}
		lines = append(lines, line)
	}
	if account.Refused != nil {
		lines = append(lines, "refused "+string(account.Refused.Reason))
	}
	return strings.Join(lines, "\n")
}
