package resolve_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

func TestChoiceCandidates(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		catalog string
		request string
		want    []string
	}{
		"Named": {
			reason:  "All plans of the class, and none of another.",
			catalog: "redis/cache: a* b c! d<mysql>; redis/other: e",
			request: "dev: class=cache plan=b type=redis",
			want: []string{
				"cache/a (cluster): not named", "cache/b (cluster): chosen", "cache/c (cluster): gone: being deleted",
				"cache/d (cluster): of type mysql",
			},
		},
		"OnlyPlan": {
			reason:  "A candidate that was not rejected has a reason, too.",
			catalog: "many: a<redis> b<mysql> c<redis>!",
			request: "dev: class=many type=redis",
			want:    []string{"many/a (cluster): chosen", "many/b (cluster): of type mysql", "many/c (cluster): gone: being deleted"},
		},
		"ClassDefault": {
			reason:  "A suggested one is not a default.",
			catalog: "redis/cache: a* b? c",
			request: "dev: class=cache",
			want:    []string{"cache/a (cluster): chosen", "cache/b (cluster): only suggested", "cache/c (cluster): not the default"},
		},
		"ClassSuggested": {
			reason:  "Annotated, but another is recorded elsewhere.",
			catalog: "redis/cache: a* b? c; redis/other: d^",
			request: "dev: class=cache",
			want: []string{
				"cache/a (cluster): annotated as the default, but another is recorded", "cache/b (cluster): chosen",
				"cache/c (cluster): not suggested",
			},
		},
		"Selector": {
			reason:  "Each way to lose against a selector.",
			catalog: "redis/cache{x=1}: a=5 b=5 c=3 d=9{x=2} e=9~budget f=9!; mysql/db: g",
			request: "dev: seed=dev/db-1 type=redis selector=x=1",
			want: []string{
				"cache/a (cluster): chosen", "cache/b (cluster): the loser of a tie", "cache/c (cluster): outranked by weight 5",
				"cache/d (cluster): not matched", "cache/e (cluster): denied by policy budget", "cache/f (cluster): gone: being deleted",
			},
		},
		"NamespaceDefault": {
			reason:  "Both scopes, lower tiers outranked.",
			catalog: "redis/cache: a* b? c; dev|redis/own: d^ e? f*; qa|redis/theirs: g*; redis/old!: h",
			request: "dev: type=redis",
			want: []string{
				"cache/a (cluster): outranked by namespace-default", "cache/b (cluster): only suggested", "cache/c (cluster): not the default",
				"old/h (cluster): gone: of a class that is being deleted",
				"own/d (ns (dev)): chosen", "own/e (ns (dev)): only suggested",
				"own/f (ns (dev)): annotated as the default, but another is recorded",
			},
		},
		"NamespaceSuggested": {
			reason:  "A suggestion of the cluster's is outranked by one of the namespace's.",
			catalog: "redis/cache: b? c; dev|redis/own: e?",
			request: "dev: type=redis",
			want: []string{
				"cache/b (cluster): outranked by namespace-suggested", "cache/c (cluster): not suggested", "own/e (ns (dev)): chosen",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cat := resolvetest.Catalog(t, tc.catalog)
			for seed := range uint64(4) {
				choice, err := resolve.Plan(resolvetest.Request(t, tc.request), cat)
				require.NoError(t, err)
				require.Empty(t, cmp.Diff(tc.want, fates(choice.Candidates())), tc.reason)
				cat = shuffled(cat, seed)
			}
		})
	}
}

func fates(candidates []resolve.Candidate) []string {
	out := make([]string, 0, len(candidates))
	for _, c := range candidates {
		out = append(out, c.Title+": "+c.Fate)
	}
	return out
}

func TestCandidateFields(t *testing.T) {
	t.Parallel()
	cat := resolvetest.Catalog(t, "redis/cache@uuid-1: a?@uuid-2 b?~budget; record redis c")
	cat.Plans = append(cat.Plans, resolve.PlanEntry{Ref: resolve.Ref{Name: "bare"}, Class: "none", Type: "redis", Default: true})
	choice, err := resolve.Plan(resolvetest.Request(t, "dev: class=cache plan=a"), cat)
	require.NoError(t, err)
	class := resolve.Ref{Name: "uuid-1"}
	want := []resolve.Candidate{
		{
			Title: "cache/a (cluster)", Plan: resolve.Ref{Name: "uuid-2"}, Class: class, PlanName: "a", ClassName: "cache",
			Type: "redis", Usable: true, Fate: "chosen",
		},
		{
			Title: "cache/b (cluster)", Plan: resolve.Ref{Name: "uuid-1-b"}, Class: class, PlanName: "b", ClassName: "cache",
			Type: "redis", Fate: "not named",
		},
	}
	assert.Empty(t, cmp.Diff(want, choice.Candidates()), "A denied candidate is not usable; commands need the Kubernetes names.")
	assert.Equal(t, "cluster", choice.Candidates()[0].Scope(), "As svcat shows it.")
	assert.Equal(t, "ns (dev)", resolve.Candidate{Class: resolve.Ref{Namespace: "dev"}}.Scope(), "As svcat shows it.")

	_, err = resolve.Plan(resolve.Request{Namespace: "dev", Type: "redis"}, resolve.Catalog{Plans: cat.Plans[2:]})
	var refused *resolve.Error
	require.ErrorAs(t, err, &refused)
	want = []resolve.Candidate{{
		Title: "none/bare (cluster)", Plan: resolve.Ref{Name: "bare"}, Class: resolve.Ref{Name: "none"}, PlanName: "bare", ClassName: "none",
		Type: "redis", Fate: "gone: of a class that does not exist",
	}}
	assert.Empty(t, cmp.Diff(want, refused.Candidates), "A plan without its class is never chosen: it would miss the class's defaults.")
}

func TestZeroChoiceHasNoCandidates(t *testing.T) {
	t.Parallel()
	assert.Empty(t, resolve.Choice{}.Candidates(), "There is no catalog to explain.")
}

func TestNotes(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		catalog string
		request string
		want    []string
	}{
		"AllWell": {
			reason:  "A recorded and annotated default is how it should be.",
			catalog: "redis/cache: a*^ b?",
			request: "dev: type=redis",
		},
		"TwoAnnotatedDefaults": {
			reason:  "The record decides between them; the operator should know.",
			catalog: "redis/cache: a*^ b*; mysql/db: c* d^",
			request: "dev: type=redis",
			want: []string{
				`plan cache/b (cluster, name cache-b) is annotated as the default of type "redis", but another is recorded`,
			},
		},
		"StrayInBothScopes": {
			reason:  "Sorted, each with its scope.",
			catalog: "redis/cache: a*^ b*; dev|redis/cache: a* b^ gone*!",
			request: "dev: type=redis",
			want: []string{
				`plan cache/a (ns (dev), name cache-a) is annotated as the default of type "redis", but another is recorded`,
				`plan cache/b (cluster, name cache-b) is annotated as the default of type "redis", but another is recorded`,
			},
		},
		"RecordOfAGonePlan": {
			reason:  "Why annotations decide although there is a record.",
			catalog: "redis/cache: a* b^!",
			request: "dev: type=redis",
			want:    []string{`the default of type "redis" that is recorded in the cluster, plan "cache-b", is being deleted: annotations decide`},
		},
		"RecordOfNoPlan": {
			reason:  "In a namespace, its plan deleted; the suggestion decides.",
			catalog: "redis/cache: a?; record dev|redis lost",
			request: "dev: type=redis",
			want:    []string{`the default of type "redis" that is recorded in namespace "dev", plan "lost", does not exist: annotations decide`},
		},
		"RecordOfAPlanOfAnotherType": {
			reason:  "Its plan changed its type.",
			catalog: "redis/cache: a*; mysql/db: b; record redis db-b",
			request: "dev: type=redis",
			want:    []string{`the default of type "redis" that is recorded in the cluster, plan "db-b", is of another type: annotations decide`},
		},
		"ClassAskedFor": {
			reason:  "Within a class only its own scope's record and its own plans are of interest.",
			catalog: "redis/cache: a* b?; redis/other: c^ d*; record dev|redis lost",
			request: "dev: class=cache",
			want: []string{
				`plan cache/a (cluster, name cache-a) is annotated as the default of type "redis", but another is recorded`,
			},
		},
		"NotForNamedPlans": {
			reason:  "Who names a plan has nothing to do with defaults.",
			catalog: "redis/cache: a*^ b*",
			request: "dev: class=cache plan=b",
		},
		"NoType": {
			reason:  "A default without a type has no record that could disagree.",
			catalog: "cache: a* b; record | lost",
			request: "dev: class=cache",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cat := resolvetest.Catalog(t, tc.catalog)
			for seed := range uint64(4) {
				choice, err := resolve.Plan(resolvetest.Request(t, tc.request), cat)
				require.NoError(t, err)
				require.Equal(t, tc.want, choice.Notes, tc.reason)
				cat = shuffled(cat, seed)
			}
		})
	}
}
