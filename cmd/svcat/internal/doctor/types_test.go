package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

// TestJudgeTypes: what an operator has to choose, by a catalog in package
// resolvetest's words.
func TestJudgeTypes(t *testing.T) {
	t.Parallel()
	const choose, chooseInDev = "choose one: svcat set plan CLASS/PLAN --default --cluster", "choose one: svcat set plan CLASS/PLAN --default --scope namespace -n dev"
	cases := map[string]struct {
		reason, catalog string
		want            []finding
	}{
		"Fine": {reason: "a default, a suggestion, a plan without a type", catalog: "mysql/db: s^* l; redis/c: s? l; free: a* b*"},
		"None": {
			reason: "an instance that names only the type is refused", catalog: "redis/cache: small large",
			want: []finding{warningf("types", choose, "type redis has neither a default plan nor a suggested one: cache/large (cluster), cache/small (cluster)")},
		},
		"TwoDefaults": {
			reason: "annotated before a keeper ran", catalog: "dev|redis/cache: small* large*",
			want: []finding{warningf("types", chooseInDev, `type redis in namespace "dev" is ambiguous: several plans are annotated as its default, and none is recorded: cache/large (ns (dev)), cache/small (ns (dev))`)},
		},
		"TwoSuggestions": {
			reason: "brokers contradict each other", catalog: "redis/cache: small? large?",
			want: []finding{warningf("types", choose, "type redis has no default plan, and several are suggested: cache/large (cluster), cache/small (cluster)")},
		},
		"BesideRecord": {
			reason: "annotated before admission kept it from it", catalog: "redis/cache: small^ large* m* n",
			want: []finding{warningf("types", "keep it: svcat set plan cache/small --default --cluster", "type redis has cache/small as its default, but annotated as such are also: cache/large, cache/m")},
		},
		"GoneBesideRecord": {reason: "what is gone claims nothing", catalog: "redis/cache: small^ large*!"},
		"OtherScope":       {reason: "a namespace's default is none of the cluster's", catalog: "redis/cache: small^; dev|redis/cache: own*"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := resolvetest.Catalog(t, tc.catalog)
			assert.Equal(t, tc.want, append(judgeTypes(catalog.UnresolvedTypes(&entries)), judgeClaims(&entries)...), tc.reason)
		})
	}
}
