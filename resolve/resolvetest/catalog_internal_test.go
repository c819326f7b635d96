package resolvetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/resolve"
)

func TestCatalog(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		text   string
		want   resolve.Catalog
	}{
		"Empty": {
			reason: "Nothing but space describes the empty catalog.",
			text:   "\n  \n",
		},
		"Flags": {
			reason: "The doc comment's first example means what it says.",
			text:   "redis/cache: small* large? dev!",
			want: resolve.Catalog{
				Classes: []resolve.ClassEntry{{Ref: resolve.Ref{Name: "cache"}, ExternalName: "cache", ExternalID: "id-cache", Type: "redis"}},
				Plans: []resolve.PlanEntry{
					plan("", "cache-small", func(p *resolve.PlanEntry) { p.ExternalName, p.ExternalID, p.Default = "small", "id-small", true }),
					plan("", "cache-large", func(p *resolve.PlanEntry) { p.ExternalName, p.ExternalID, p.Suggested = "large", "id-large", true }),
					plan("", "cache-dev", func(p *resolve.PlanEntry) { p.ExternalName, p.ExternalID, p.Gone = "dev", "id-dev", "being deleted" }),
				},
			},
		},
		"Values": {
			reason: "Marks with values, in a namespace, with a slash in a label.",
			text:   "dev|mysql/cache{example.org/region=eu,b=}@k!: m=20{cores=4}~budget<redis>@other^",
			want: resolve.Catalog{
				Classes: []resolve.ClassEntry{{
					Ref: resolve.Ref{Namespace: "dev", Name: "k"}, ExternalName: "cache", ExternalID: "id-cache", Type: "mysql",
					Labels: map[string]string{"example.org/region": "eu", "b": ""}, Gone: "being deleted",
				}},
				Plans: []resolve.PlanEntry{plan("dev", "other", func(p *resolve.PlanEntry) {
					p.Class, p.ExternalName, p.ExternalID = "k", "m", "id-m"
					p.Weight, p.Labels, p.Denied, p.Type = 20, map[string]string{"cores": "4"}, "budget", "redis"
				})},
				Records: []resolve.Record{{Type: "redis", Plan: resolve.Ref{Namespace: "dev", Name: "other"}}},
			},
		},
		"LabelsOfATypelessClass": {
			reason: "A slash within the braces does not make a type.",
			text:   "cache{a/b=c}:",
			want: resolve.Catalog{Classes: []resolve.ClassEntry{{
				Ref: resolve.Ref{Name: "cache"}, ExternalName: "cache", ExternalID: "id-cache", Labels: map[string]string{"a/b": "c"},
			}}},
		},
		"Record": {
			reason: "A record stands by itself too, after a semicolon as well as on its own line.",
			text:   "cache:; record dev|redis lost",
			want: resolve.Catalog{
				Classes: []resolve.ClassEntry{{Ref: resolve.Ref{Name: "cache"}, ExternalName: "cache", ExternalID: "id-cache"}},
				Records: []resolve.Record{{Type: "redis", Plan: resolve.Ref{Namespace: "dev", Name: "lost"}}},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, cmp.Diff(tc.want, Catalog(t, tc.text)), tc.reason)
		})
	}
}

func plan(namespace, name string, change func(*resolve.PlanEntry)) resolve.PlanEntry {
	p := resolve.PlanEntry{Ref: resolve.Ref{Namespace: namespace, Name: name}, UID: "uid-" + namespace + "/" + name, Class: "cache"}
	change(&p)
	return p
}

func TestCatalogRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"NoColon":       {reason: "A class ends in a colon.", text: "cache small", want: `"class:"`},
		"NoName":        {reason: "A mark needs a name.", text: "cache: *", want: "no name"},
		"NoClassName":   {reason: "So does a class's.", text: "redis/!: a", want: "no name"},
		"FlagWithValue": {reason: "A flag takes no value, so this is a typing error.", text: "cache: a*b", want: `"*b" is not a mark`},
		"NoValue":       {reason: "A weight is a number.", text: "cache: a=", want: `"=" is not a mark`},
		"BadWeight":     {reason: "A weight is a number.", text: "cache: a=x", want: "invalid syntax"},
		"BadLabel":      {reason: "A label has a value.", text: "cache: a{b}", want: "key=value"},
		"RecordNoType":  {reason: "Only a type has a record.", text: "cache: a^", want: "no type"},
		"ShortRecord":   {reason: "A record names a plan.", text: "record redis", want: "record type plan"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(tc.text)
			require.ErrorContains(t, err, tc.want, tc.reason)
			assert.True(t, fails(func(tb testing.TB) { Catalog(tb, tc.text) }), tc.reason)
		})
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		text   string
		want   resolve.Request
	}{
		"Type": {
			reason: "The shortest request.",
			text:   "dev: type=redis",
			want:   resolve.Request{Namespace: "dev", Seed: "dev/mydb", Type: "redis"},
		},
		"Names": {
			reason: "External names unless they say otherwise.",
			text:   "dev: class=cache plan=small seed=s",
			want: resolve.Request{
				Namespace: "dev", Seed: "s",
				Class: resolve.Named{By: resolve.ByExternalName, Value: "cache"}, Plan: resolve.Named{By: resolve.ByExternalName, Value: "small"},
			},
		},
		"IDs": {
			reason: "By external ID, in the namespace.",
			text:   "dev: class.id=c plan.id=p namespaced",
			want: resolve.Request{
				Namespace: "dev", Seed: "dev/mydb", Namespaced: true,
				Class: resolve.Named{By: resolve.ByExternalID, Value: "c"}, Plan: resolve.Named{By: resolve.ByExternalID, Value: "p"},
			},
		},
		"KubernetesNames": {
			reason: "By Kubernetes name.",
			text:   "dev: class.name=c plan.name=p",
			want: resolve.Request{
				Namespace: "dev", Seed: "dev/mydb",
				Class: resolve.Named{By: resolve.ByName, Value: "c"}, Plan: resolve.Named{By: resolve.ByName, Value: "p"},
			},
		},
		"Selector": {
			reason: "The selector takes the rest of the line.",
			text:   "dev: type=redis selector=cores in (2,4)",
			want: resolve.Request{
				Namespace: "dev", Seed: "dev/mydb", Type: "redis",
				Selector: &metav1.LabelSelector{
					MatchLabels: map[string]string{},
					MatchExpressions: []metav1.LabelSelectorRequirement{
						{Key: "cores", Operator: metav1.LabelSelectorOpIn, Values: []string{"2", "4"}},
					},
				},
			},
		},
		"EmptySelector": {
			reason: "An empty selector is not none.",
			text:   "dev: selector={}",
			want:   resolve.Request{Namespace: "dev", Seed: "dev/mydb", Selector: &metav1.LabelSelector{}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, cmp.Diff(tc.want, Request(t, tc.text)), tc.reason)
		})
	}
}

func TestRequestRefuses(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{"UnknownWord": "dev: typ=redis", "BadSelector": "dev: selector=a=b=c"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.True(t, fails(func(tb testing.TB) { Request(tb, text) }), "A typing error must not pass for a request.")
		})
	}
}

// recorder is a test that only notes that it was failed.
type recorder struct {
	testing.TB

	failed bool
}

func (*recorder) Helper() {}

func (r *recorder) Fatalf(string, ...any) { r.failed = true }

func fails(run func(testing.TB)) bool {
	r := &recorder{}
	run(r)
	return r.failed
}
