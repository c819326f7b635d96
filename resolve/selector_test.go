package resolve_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

func TestRuleSelector(t *testing.T) {
	t.Parallel()
	const sizes = "redis/cache{tier=dev}: s{cores=2}=1 m{cores=4}=2 l{cores=8,tier=prod}=3; mysql/db{tier=prod}: xl{cores=8}=9"
	testPlan(t, map[string]planCase{
		"MatchLabels": {
			reason:  "One match, though others are heavier.",
			catalog: sizes,
			request: "dev: selector=cores=4",
			want:    "selector cache-m",
		},
		"In": {
			reason:  "The heaviest of those that match.",
			catalog: sizes,
			request: "dev: selector=cores in (2,4)",
			want:    "selector cache-m",
		},
		"NotIn": {
			reason:  "All but.",
			catalog: sizes,
			request: "dev: selector=cores notin (4,8)",
			want:    "selector cache-s",
		},
		"Exists": {
			reason:  "Without class or type over all plans.",
			catalog: sizes,
			request: "dev: selector=cores",
			want:    "selector db-xl",
		},
		"DoesNotExist": {
			reason:  "A label that some do not have.",
			catalog: "redis/cache: a{old=1}=9 b",
			request: "dev: selector=!old",
			want:    "selector cache-b",
		},
		"AllMustMatch": {
			reason:  "Labels and expressions together.",
			catalog: sizes,
			request: "dev: selector=tier=prod,cores in (2,8),cores notin (4)",
			want:    "selector db-xl",
		},
		"ClassLabelsBelow": {
			reason:  "A plan has its class's labels where it has none of its own.",
			catalog: sizes,
			request: "dev: type=redis selector=tier=dev",
			want:    "selector cache-m",
		},
		"OwnLabelsAbove": {
			reason:  "Its own hides its class's.",
			catalog: sizes,
			request: "dev: type=redis selector=tier=prod",
			want:    "selector cache-l",
		},
		"TypeNarrows": {
			reason:  "The heavier plan of another type is out.",
			catalog: sizes,
			request: "dev: type=redis selector=cores=8",
			want:    "selector cache-l",
		},
		"TypeNarrowsStrictly": {
			reason:  "Over the whole catalog a plan without type is not of the type.",
			catalog: "cache: a{x=1}; redis/other: b{x=2}",
			request: "dev: type=redis selector=x=1",
			want:    "NoMatch spec.planSelector: other/b (cluster)",
		},
		"ClassNarrows": {
			reason:  "So does a class.",
			catalog: sizes,
			request: "dev: class=cache selector=cores=8",
			want:    "selector cache-l",
		},
		"ClassNarrowsItsScope": {
			reason:  "A namespaced class's plans only.",
			catalog: "redis/cache: a{x=1}=9; dev|redis/cache: a{x=1}",
			request: "dev: class=cache namespaced selector=x=1",
			want:    "selector dev|cache-a",
		},
		"TypeBesideClassDescribes": {
			reason:  "A plan without type of the named class agrees with any.",
			catalog: "cache: a{x=1}",
			request: "dev: class=cache type=redis selector=x=1",
			want:    "selector cache-a",
		},
		"TypeContradictsClass": {
			reason:  "And one of another type is refused, naming both.",
			catalog: sizes,
			request: "dev: class=cache type=mysql selector=cores=8",
			want:    "TypeMismatch spec.serviceType: cache/l (cluster), cache/m (cluster), cache/s (cluster)",
		},
		"ClassAbsent": {
			reason:  "A class that is not there narrows to nothing.",
			catalog: sizes,
			request: "dev: class=cash selector=cores=8",
			want:    "ClassNotFound spec.clusterServiceClassExternalName",
		},
		"BothScopes": {
			reason:  "The cluster's plans and the namespace's compete as equals; another namespace's do not.",
			catalog: "redis/cache: a{x=1}=1; dev|redis/own: b{x=1}=2; qa|redis/theirs: c{x=1}=3",
			request: "dev: selector=x=1",
			want:    "selector dev|own-b",
		},
		"NegativeWeights": {
			reason:  "No weight is 0, which is more than less.",
			catalog: "redis/cache: a{x=1}=-1 b{x=1}",
			request: "dev: selector=x=1",
			want:    "selector cache-b",
		},
		"GoneDropOut": {
			reason:  "The heaviest may be gone, itself or with its class.",
			catalog: "redis/cache: a{x=1} b{x=1}=9!; redis/old!: c{x=1}=9",
			request: "dev: selector=x=1",
			want:    "selector cache-a",
		},
		"DeniedDropOut": {
			reason:  "Or not for this namespace.",
			catalog: "redis/cache: a{x=1} b{x=1}=9~budget",
			request: "dev: selector=x=1",
			want:    "selector cache-a",
		},
		"AllDenied": {
			reason:  "Nothing is left; the candidates say why.",
			catalog: "redis/cache: b{x=1}=9~budget",
			request: "dev: selector=x=1",
			want:    "NoMatch spec.planSelector: cache/b (cluster)",
		},
		"NoneMatches": {
			reason:  "Refused with what there is.",
			catalog: "redis/cache: a{x=1}; mysql/db: b",
			request: "dev: selector=x=2",
			want:    "NoMatch spec.planSelector: cache/a (cluster), db/b (cluster)",
		},
		"Empty": {
			reason:  "A selector that would match everything is a mistake.",
			catalog: sizes,
			request: "dev: type=redis selector={}",
			want:    "InvalidSelector spec.planSelector",
		},
		"DefaultsDoNotMatter": {
			reason:  "A selector goes by weight alone.",
			catalog: "redis/cache: a{x=1}* b{x=1}=1 c^",
			request: "dev: type=redis selector=x=1",
			want:    "selector cache-b",
		},
		"Tie": {
			reason:  "Between equals the hash decides. This pick may never change: a newer replica would decide a retry differently.",
			catalog: "redis/cache: a{x=1} b{x=1} c{x=1} d{x=1}",
			request: "dev: seed=dev/gitlab selector=x=1",
			want:    "selector cache-c",
		},
		"TieOfAnother": {
			reason:  "Another instance gets another.",
			catalog: "redis/cache: a{x=1} b{x=1} c{x=1} d{x=1}",
			request: "dev: seed=dev/wordpress selector=x=1",
			want:    "selector cache-b",
		},
	})
}

// A selector that matches nothing is told the label that was probably meant.
func TestNearLabel(t *testing.T) {
	t.Parallel()
	const attribute = "attributes.servicecatalog.k8s.io/"
	const plans = "redis/cache{tier=dev}: s{" + attribute + "Cores=4,zone.example/Disk=1,other.example/disk=2}=1 m{old=1,size=d}=2 n{size=c} o{size=xl} p{size=b} q{size=a}"
	cases := map[string]struct{ reason, selector, want string }{
		"Attribute":  {"people see attributes without their prefix", "Cores=4", `; none has a label "Cores": did you mean "` + attribute + `Cores"?`},
		"Case":       {"case counts in a label", "TIER=dev", `; none has a label "TIER": did you mean "tier"?`},
		"First":      {"the same text each time", "disk=7", `; none has a label "disk": did you mean "other.example/disk"?`},
		"Expression": {"wherever it is asked for", "cores in (4,8)", `; none has a label "cores": did you mean "` + attribute + `Cores"?`},
		"Second":     {"what is there is not in doubt", "tier=dev,cores", `; none has a label "cores": did you mean "` + attribute + `Cores"?`},
		"Value":      {"the label is there, with other values", "tier=prod", `; of the label "tier" there is "dev"`},
		"ValueCase":  {"the nearest value comes first", "size=XL", `; of the label "size" there is "xl", "a", "b", …`},
		"Values":     {"a few of them", "size in (s,t)", `; of the label "size" there is "a", "b", "c", …`},
		"Together":   {"each is there, and no plan has both", "old=1,size=b", ""},
		"NotIn":      {"any other value would do", "tier notin (dev)", ""},
		"Far":        {"nothing is near", "memory=4", ""},
		"Absent":     {"what is not to be there is not missed", "!tier", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := resolve.Plan(resolvetest.Request(t, "dev: selector="+tc.selector), resolvetest.Catalog(t, plans))
			refused, is := errors.AsType[*resolve.Error](err)
			require.True(t, is, "%v", err)
			assert.Equal(t, "no plan that can be chosen has these labels"+tc.want, refused.Detail, tc.reason)
		})
	}
}

// A hint is not worth to look at more labels than a few plans of a sane catalog have: what a namespace's owner writes costs
// others no time.
func TestNearLabelIsBounded(t *testing.T) {
	t.Parallel()
	many := labels.Set{}
	for i := range 50_000 {
		many[fmt.Sprintf("label-%d", i)] = ""
	}
	refusal := func(ofClass, ofPlans labels.Set) string {
		cat := resolve.Catalog{Classes: []resolve.ClassEntry{{Ref: resolve.Ref{Name: "db"}, Labels: ofClass}}}
		for i := range 1000 {
			cat.Plans = append(cat.Plans, resolve.PlanEntry{Ref: resolve.Ref{Name: fmt.Sprintf("db-%d", i)}, Class: "db", Labels: ofPlans})
		}
		_, err := resolve.Plan(resolve.Request{Namespace: "dev", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"LABEL-7": "x"}}}, cat)
		refused, is := errors.AsType[*resolve.Error](err)
		require.True(t, is, "%v", err)
		return refused.Detail
	}
	assert.Contains(t, refusal(many, nil), `did you mean "label-7"?`, "a class is looked at once")
	assert.NotContains(t, refusal(many, labels.Set{"one": "more"}), "did you mean", "nothing is told that is known in part")
}

func TestSelectorFaults(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		selector metav1.LabelSelector
		want     string
	}{
		"Operator": {
			reason: "The operator's text is shown.",
			selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "a", Operator: "In", Values: []string{"b"}}, {Key: "cores", Operator: "Gt", Values: []string{"4"}},
			}},
			want: `cannot resolve spec.planSelector: "Gt" is not a valid label selector operator`,
		},
		"InWithoutValues": {
			reason: "In needs values.",
			selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "cores", Operator: metav1.LabelSelectorOpIn},
			}},
			want: "for 'in', 'notin' operators, values set can't be empty",
		},
		"FirstKeyOfSeveral": {
			reason:   "Of several faults always the same one, however a map is walked.",
			selector: metav1.LabelSelector{MatchLabels: map[string]string{"c!": "", "b!": "", "a": "", "d!": "", "e!": ""}},
			want:     `"b!"`,
		},
		"Huge": {
			reason:   "Admission sees labels before the schema bounds them: the message stays short.",
			selector: metav1.LabelSelector{MatchLabels: map[string]string{"a": strings.Repeat("ü", 1<<20)}},
			want:     "ü…",
		},
		"ManyRequirements": {
			reason:   "Each is held against every plan.",
			selector: metav1.LabelSelector{MatchExpressions: requirements(resolve.MaxRequirements+1, 1)},
			want:     "it has 65 labels and expressions; at most 64 are allowed",
		},
		"ManyLabelsAndExpressions": {
			reason:   "Labels count too.",
			selector: metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}, MatchExpressions: requirements(resolve.MaxRequirements, 1)},
			want:     "it has 65 labels and expressions; at most 64 are allowed",
		},
		"ManyValues": {
			reason:   "So is each value, of all expressions together.",
			selector: metav1.LabelSelector{MatchExpressions: append(requirements(1, resolve.MaxValues), requirements(1, 1)...)},
			want:     "its expressions have 257 values; at most 256 are allowed",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 {
				_, err := resolve.Plan(resolve.Request{Namespace: "dev", Selector: &tc.selector}, resolve.Catalog{})
				assert.Equal(t, "InvalidSelector spec.planSelector", refusal(t, err), tc.reason)
				require.ErrorContains(t, err, tc.want, tc.reason)
				require.Less(t, len(err.Error()), 600, tc.reason)
			}
		})
	}
}

// requirements returns n expressions of so many values each, which a plan with the label k=v0 matches.
func requirements(n, values int) []metav1.LabelSelectorRequirement {
	one := metav1.LabelSelectorRequirement{Key: "k", Operator: metav1.LabelSelectorOpIn}
	for i := range values {
		one.Values = append(one.Values, fmt.Sprintf("v%d", i))
	}
	return slices.Repeat([]metav1.LabelSelectorRequirement{one}, n)
}

// TestSelectorAtItsBounds: as many requirements and values as are allowed choose a plan.
func TestSelectorAtItsBounds(t *testing.T) {
	t.Parallel()
	plans := resolvetest.Catalog(t, "redis/cache: a{k=v0}")
	selector := &metav1.LabelSelector{MatchExpressions: requirements(resolve.MaxRequirements, resolve.MaxValues/resolve.MaxRequirements)}
	choice, err := resolve.Plan(resolve.Request{Namespace: "dev", Selector: selector}, plans)
	require.NoError(t, err)
	assert.Equal(t, resolve.RuleSelector, choice.Rule)
}

// picks returns how often each of n equal plans is picked by 10,000 instances, and which plan each instance got.
func picks(t *testing.T, n int) (map[string]int, []string) {
	t.Helper()
	var text strings.Builder
	text.WriteString("redis/cache{x=1}:")
	for i := range n {
		fmt.Fprintf(&text, " p%d", i)
	}
	cat, req := resolvetest.Catalog(t, text.String()), resolvetest.Request(t, "dev: selector=x=1")
	counts, got := map[string]int{}, make([]string, 0, 10_000)
	for i := range 10_000 {
		req.Seed = fmt.Sprintf("dev/db-%d", i)
		choice, err := resolve.Plan(req, cat)
		require.NoError(t, err)
		counts[choice.Plan.Name]++
		got = append(got, choice.Plan.Name)
	}
	return counts, got
}

func TestTiesAreFair(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 10} {
		counts, _ := picks(t, n)
		require.Len(t, counts, n, "Every plan is picked by some.")
		for plan, count := range counts {
			assert.InDelta(t, 10_000/n, count, 300, "Plan %s of %d has its share, but for chance.", plan, n)
		}
	}
}

func TestAddingAPlanMovesItsShareOnly(t *testing.T) {
	t.Parallel()
	_, before := picks(t, 4)
	_, after := picks(t, 5)
	moved := 0
	for i := range before {
		if before[i] == after[i] {
			continue
		}
		moved++
		require.Equal(t, "cache-p4", after[i], "Who moves, moves to the new plan.")
	}
	assert.InDelta(t, 10_000/5, moved, 300, "One fifth moves to the fifth plan.")
}

func TestTiesWithoutUID(t *testing.T) {
	t.Parallel()
	cat := resolvetest.Catalog(t, "redis/cache{x=1}: b a c")
	for i := range cat.Plans {
		cat.Plans[i].UID = ""
	}
	for seed := range uint64(10) {
		choice, err := resolve.Plan(resolvetest.Request(t, "dev: selector=x=1"), shuffled(cat, seed))
		assert.Equal(t, "selector cache-a", answer(t, choice, err), "Where even the hash finds equals, the name decides, not the order.")
	}
}
