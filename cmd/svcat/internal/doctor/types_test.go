package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

// TestJudgeTypes: what an operator has to choose, by a catalog in package
// resolvetest's words.
func TestJudgeTypes(t *testing.T) {
	t.Parallel()
	const choose, chooseInDev = "choose one: svcat set plan CLASS/PLAN --default --cluster", "choose one: svcat set plan CLASS/PLAN --default -n dev"
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

// TestTitlesAreLines: what brokers call their plans makes no line in a report.
func TestTitlesAreLines(t *testing.T) {
	t.Parallel()
	class := resolve.ClassEntry{Ref: resolve.Ref{Name: "c"}, ExternalName: "my\tsql", Type: "mysql"}
	plan := func(name, called string) resolve.PlanEntry {
		return resolve.PlanEntry{Ref: resolve.Ref{Name: name}, Class: "c", ExternalName: called, Default: true}
	}
	entries := &resolve.Catalog{Classes: []resolve.ClassEntry{class}, Plans: []resolve.PlanEntry{plan("a", "a\nok"), plan("b", "b\x1b[2J\u009b\u202e")}}
	ambiguous := judgeTypes(catalog.UnresolvedTypes(entries))
	require.Len(t, ambiguous, 1)
	assert.Contains(t, ambiguous[0].Message, "my sql/a ok (cluster), my sql/b\ufffd[2J\ufffd\ufffd (cluster)")

	entries.Records = []resolve.Record{{Type: "mysql", Plan: resolve.Ref{Name: "a"}}}
	claims := judgeClaims(entries)
	require.Len(t, claims, 1)
	assert.Contains(t, claims[0].Message, "has my sql/a ok as its default, but annotated as such are also: my sql/b\ufffd[2J\ufffd\ufffd")
	assert.Equal(t, "keep it: svcat set plan --kube-name a --default --cluster", claims[0].Do, "a name that cannot be seen cannot be pasted")

	entries.Classes[0].ExternalName, entries.Plans[0].ExternalName = "my sql", "a; rm -rf $HOME"
	claims = judgeClaims(entries)
	require.Len(t, claims, 1)
	assert.Equal(t, "keep it: svcat set plan 'my sql/a; rm -rf $HOME' --default --cluster", claims[0].Do, "it is one word of the shell's")
}
