package resolve_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

// A planCase is one request against one catalog. What is wanted is written as answer writes it.
type planCase struct {
	reason  string
	catalog string
	request string
	want    string
}

// testPlan holds every case against several orders of its catalog.
func testPlan(t *testing.T, cases map[string]planCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cat, req := resolvetest.Catalog(t, tc.catalog), resolvetest.Request(t, tc.request)
			for seed := range uint64(6) {
				choice, err := resolve.Plan(req, cat)
				require.Equal(t, tc.want, answer(t, choice, err), tc.reason)
				cat = shuffled(cat, seed)
			}
		})
	}
}

// answer writes a choice as "rule plan", with the plan's scope and "recorded" where they apply, and an error as
// "Reason field: candidates".
func answer(t *testing.T, choice resolve.Choice, err error) string {
	t.Helper()
	if err != nil {
		return refusal(t, err)
	}
	plan := choice.Plan.Name
	if choice.Plan.Namespace != "" {
		plan = choice.Plan.Namespace + "|" + plan
	}
	assert.Equal(t, resolve.Ref{Namespace: choice.Plan.Namespace, Name: choice.Plan.Class}, choice.Class.Ref,
		"A choice's class is its plan's.")
	if choice.Recorded {
		return string(choice.Rule) + " " + plan + " recorded"
	}
	return string(choice.Rule) + " " + plan
}

func refusal(t *testing.T, err error) string {
	t.Helper()
	var refused *resolve.Error
	require.ErrorAs(t, err, &refused)
	out := string(refused.Reason) + " " + refused.Field
	titles := make([]string, 0, len(refused.Candidates))
	for _, c := range refused.Candidates {
		titles = append(titles, c.Title)
	}
	if len(titles) > 0 {
		out += ": " + strings.Join(titles, ", ")
	}
	return out
}

func shuffled(cat resolve.Catalog, seed uint64) resolve.Catalog {
	rnd := rand.New(rand.NewPCG(seed, 1))
	out := resolve.Catalog{Classes: slices.Clone(cat.Classes), Plans: slices.Clone(cat.Plans), Records: slices.Clone(cat.Records)}
	rnd.Shuffle(len(out.Classes), func(i, j int) { out.Classes[i], out.Classes[j] = out.Classes[j], out.Classes[i] })
	rnd.Shuffle(len(out.Plans), func(i, j int) { out.Plans[i], out.Plans[j] = out.Plans[j], out.Plans[i] })
	rnd.Shuffle(len(out.Records), func(i, j int) { out.Records[i], out.Records[j] = out.Records[j], out.Records[i] })
	return out
}

func TestPlanChecksTheRequest(t *testing.T) {
	t.Parallel()
	testPlan(t, map[string]planCase{
		"Nothing": {
			reason:  "Rule 5: a request that says nothing is refused, even where there would be but one answer.",
			catalog: "redis/cache: small*",
			request: "dev:",
			want:    "NothingNamed spec",
		},
		"PlanWithoutClass": {
			reason:  "A plan's name means something within its class only.",
			catalog: "redis/cache: small",
			request: "dev: plan=small",
			want:    "InvalidReference spec.clusterServicePlanExternalName",
		},
		"PlanWithoutClassInNamespace": {
			reason:  "The field to change is the one that was written.",
			catalog: "redis/cache: small",
			request: "dev: plan.name=small namespaced",
			want:    "InvalidReference spec.servicePlanName",
		},
		"SelectorBesidePlan": {
			reason:  "A selector and a named plan could contradict each other.",
			catalog: "redis/cache: small",
			request: "dev: class=cache plan=small selector=a=b",
			want:    "InvalidReference spec.planSelector",
		},
		"NamespacedWithoutNamespace": {
			reason:  "A namespaced reference without a namespace must not mean the cluster's class.",
			catalog: "redis/cache: small",
			request: ": class=cache namespaced",
			want:    "InvalidReference spec.serviceClassExternalName",
		},
	})
}

func TestChoiceTellsAll(t *testing.T) {
	t.Parallel()
	cat := resolvetest.Catalog(t, "dev|redis/cache{a=b}: small*~budget")
	choice, err := resolve.Plan(resolvetest.Request(t, "dev: type=redis"), cat)
	require.NoError(t, err)
	assert.Equal(t, cat.Plans[0], choice.Plan, "The caller merges, patches and refuses denied plans from the whole entry.")
	assert.Equal(t, "budget", choice.Plan.Denied, "A denied default is chosen: the user is told of the policy, not given another plan.")
	assert.Equal(t, cat.Classes[0], choice.Class, "And from that of its class.")
	assert.Equal(t, "redis", choice.Type, "The type is the class's where the plan has none.")
	assert.Empty(t, choice.Notes, "All is as it should be.")
}

func TestManyEntries(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, class := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r"} {
		text.WriteString(class + "/class-" + class + ": one two^ three*\n")
	}
	cat := resolvetest.Catalog(t, text.String())
	for _, typ := range []string{"a", "k", "r"} {
		choice, err := resolve.Plan(resolvetest.Request(t, "dev: type="+typ), cat)
		assert.Equal(t, "cluster-default class-"+typ+"-two recorded", answer(t, choice, err),
			"A catalog too long to search entry by entry gives the same answers.")
	}
	choice, err := resolve.Plan(resolvetest.Request(t, "dev: type=z"), cat)
	assert.Equal(t, "NoDefault spec.serviceType", answer(t, choice, err), "Nor does it find what is not there.")
}

func TestErrorIsTyped(t *testing.T) {
	t.Parallel()
	_, err := resolve.Plan(resolve.Request{}, resolve.Catalog{})
	var refused *resolve.Error
	require.ErrorAs(t, err, &refused, "Callers branch on the reason.")
}
