package catalog_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

// TestStandings: which plan has the star, by a catalog in package resolvetest's words;
// and which types give no plan to instances that name only them.
func TestStandings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		catalog string
		stand   map[string]resolve.Rule
		lack    map[string]resolve.Reason
	}{
		"Nothing":   {reason: "an empty catalog unresolved nothing", catalog: ""},
		"Default":   {reason: "the annotated one", catalog: "redis/cache: small* large", stand: map[string]resolve.Rule{"/cache-small": resolve.RuleClusterDefault}},
		"Recorded":  {reason: "the recorded one, though another is annotated", catalog: "redis/cache: small^ large*", stand: map[string]resolve.Rule{"/cache-small": resolve.RuleClusterDefault}},
		"Suggested": {reason: "the suggested one, while there is no default", catalog: "redis/cache: small? large", stand: map[string]resolve.Rule{"/cache-small": resolve.RuleClusterSuggested}},
		"DefaultOverSuggested": {
			reason: "a default ends the suggestion", catalog: "redis/cache: small? large*",
			stand: map[string]resolve.Rule{"/cache-large": resolve.RuleClusterDefault},
		},
		"None":           {reason: "neither default nor suggestion", catalog: "redis/cache: small large", lack: map[string]resolve.Reason{"/redis": resolve.NoDefault}},
		"TwoDefaults":    {reason: "neither of two stands", catalog: "redis/cache: small* large*", lack: map[string]resolve.Reason{"/redis": resolve.Ambiguous}},
		"TwoClasses":     {reason: "a type may have several classes", catalog: "redis/cache: small*; redis/other: small*", lack: map[string]resolve.Reason{"/redis": resolve.Ambiguous}},
		"TwoSuggestions": {reason: "neither of two stands", catalog: "redis/cache: small? large?", lack: map[string]resolve.Reason{"/redis": resolve.Ambiguous}},
		"GoneDefault":    {reason: "what is gone does not stand", catalog: "redis/cache: small*! large", lack: map[string]resolve.Reason{"/redis": resolve.NoDefault}},
		"OwnType": {
			reason:  "a plan's own type counts before its class's",
			catalog: "redis/cache: small* big<mysql>*", stand: map[string]resolve.Rule{"/cache-small": resolve.RuleClusterDefault, "/cache-big": resolve.RuleClusterDefault},
		},
		"NoType": {reason: "without a type there is nothing to stand for", catalog: "cache: small* large*"},
		"BothScopes": {
			reason:  "each scope has its own",
			catalog: "redis/cache: small*; dev|redis/cache: large*",
			stand:   map[string]resolve.Rule{"/cache-small": resolve.RuleClusterDefault, "dev/cache-large": resolve.RuleNamespaceDefault},
		},
		"NamespaceTwoDefaults": {
			reason:  "two in a namespace are refused there, whatever the cluster has",
			catalog: "redis/cache: small*; dev|redis/cache: a* b*", stand: map[string]resolve.Rule{"/cache-small": resolve.RuleClusterDefault},
			lack: map[string]resolve.Reason{"dev/redis": resolve.Ambiguous},
		},
		"NamespaceNone": {
			reason:  "a namespace without has the cluster's: it unresolved nothing, and none of its own stands",
			catalog: "redis/cache: small*; dev|redis/cache: a b", stand: map[string]resolve.Rule{"/cache-small": resolve.RuleClusterDefault},
		},
		"ClusterNone": {
			reason:  "what a namespace has does not help the cluster",
			catalog: "redis/cache: small; dev|redis/cache: a*", stand: map[string]resolve.Rule{"dev/cache-a": resolve.RuleNamespaceDefault},
			lack: map[string]resolve.Reason{"/redis": resolve.NoDefault},
		},
		"NamespaceSuggestedBelowClustersDefault": {
			reason:  "an instance there gets the cluster's default",
			catalog: "redis/cache: small*; dev|redis/cache: a?",
			stand:   map[string]resolve.Rule{"/cache-small": resolve.RuleClusterDefault},
		},
		"NamespaceSuggestedBelowClustersTwoDefaults": {
			reason:  "an instance there gets nothing",
			catalog: "redis/cache: small* large*; dev|redis/cache: a?",
			lack:    map[string]resolve.Reason{"/redis": resolve.Ambiguous, "dev/redis": resolve.Ambiguous},
		},
		"NamespaceSuggestedAboveClustersSuggested": {
			reason:  "each scope has its own",
			catalog: "redis/cache: small?; dev|redis/cache: a?",
			stand:   map[string]resolve.Rule{"/cache-small": resolve.RuleClusterSuggested, "dev/cache-a": resolve.RuleNamespaceSuggested},
		},
		"LostRecord": {
			reason:  "a record of a plan that is not there is not believed",
			catalog: "redis/cache: small* large; record redis lost", stand: map[string]resolve.Rule{"/cache-small": resolve.RuleClusterDefault},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := resolvetest.Catalog(t, tc.catalog)
			stand := map[string]resolve.Rule{}
			for ref, rule := range catalog.EffectivePlans(&entries) {
				stand[ref.Namespace+"/"+ref.Name] = rule
			}
			lack := map[string]resolve.Reason{}
			for _, l := range catalog.UnresolvedTypes(&entries) {
				lack[l.Type.Namespace+"/"+l.Type.Name] = l.Why.Reason
			}
			assert.Equal(t, orEmpty(tc.stand), stand, tc.reason)
			assert.Equal(t, orEmpty(tc.lack), lack, tc.reason)
		})
	}
}

func orEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

// TestLacksAreSorted: by namespace, the cluster first.
func TestLacksAreSorted(t *testing.T) {
	t.Parallel()
	entries := resolvetest.Catalog(t, "b|z/c: p; b|a/d: p; x/c: p; a|z/c: p; f/d: p")
	var types []resolve.Ref
	for _, lack := range catalog.UnresolvedTypes(&entries) {
		types = append(types, lack.Type)
	}
	assert.Equal(t, []resolve.Ref{{Name: "f"}, {Name: "x"}, {Namespace: "a", Name: "z"}, {Namespace: "b", Name: "a"}, {Namespace: "b", Name: "z"}}, types)
}

func TestIsSuggestion(t *testing.T) {
	t.Parallel()
	rules := map[resolve.Rule]bool{
		resolve.RuleNamespaceSuggested: true, resolve.RuleClusterSuggested: true, resolve.RuleClassSuggested: true,
		resolve.RuleNamespaceDefault: false, resolve.RuleClusterDefault: false, resolve.RuleNamed: false,
	}
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		assert.Equal(t, rules[rule], catalog.IsSuggestion(rule), rule)
	}
}
