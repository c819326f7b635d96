package get

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestShort(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, given, want string }{
		"Short":   {reason: "what fits is left alone", given: "A small one.", want: "A small one."},
		"Exact":   {reason: "80 letters fit", given: strings.Repeat("ü", 80), want: strings.Repeat("ü", 80)},
		"Words":   {reason: "it is cut between words, without what ends a clause", given: strings.Repeat("word, ", 20), want: strings.Repeat("word, ", 12) + "word…"},
		"OneWord": {reason: "a word that is too long is cut", given: strings.Repeat("ü", 81), want: strings.Repeat("ü", 79) + "…"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, short(tc.given), tc.reason)
		})
	}
}

func TestSortPlans(t *testing.T) {
	t.Parallel()
	plan := func(serviceType, class, title, scope string) planRow {
		return planRow{serviceType: serviceType, classTitle: class, title: title, scope: scope}
	}
	want := planRows{
		plan("mysql", "a", "z", "cluster"), plan("mysql", "b", "a", "cluster"), plan("mysql", "b", "a", "ns (dev)"), plan("mysql", "b", "b", "cluster"),
		plan("redis", "a", "a", "cluster"), plan("", "a", "a", "cluster"),
	}
	given := planRows{want[5], want[3], want[4], want[1], want[0], want[2]}
	assert.Equal(t, want, given.sort(), "by type, class, name and scope; what has no type comes last")
}

func TestKeptPlans(t *testing.T) {
	t.Parallel()
	fresh := func() *offerings {
		classes := map[key]classRow{
			{"", "mysql-id"}:    {key: key{"", "mysql-id"}, title: "mysql"},
			{"dev", "mysql-id"}: {key: key{"dev", "mysql-id"}, title: "mysql"},
			{"", "redis-id"}:    {key: key{"", "redis-id"}, title: "redis"},
		}
		return &offerings{classes: classes, plans: []planRow{
			{key: key{"", "1"}, title: "small", class: "mysql-id", classTitle: "mysql", serviceType: "mysql", broker: "azure", scope: "cluster", effective: true},
			{key: key{"dev", "1"}, title: "small", class: "mysql-id", classTitle: "mysql", serviceType: "mysql", broker: "azure", scope: "ns (dev)"},
			{key: key{"", "2"}, title: "basic", class: "redis-id", classTitle: "redis", serviceType: "redis", broker: "gcp", scope: "cluster"},
		}}
	}
	cases := map[string]struct {
		reason string
		flags  flags
		want   []key
		fails  string
	}{
		"All":          {reason: "no flag, no filter", want: []key{{"", "1"}, {"dev", "1"}, {"", "2"}}},
		"Type":         {reason: "by effective type", flags: flags{serviceType: "redis"}, want: []key{{"", "2"}}},
		"Default":      {reason: "those that stand", flags: flags{effective: true}, want: []key{{"", "1"}}},
		"Class":        {reason: "in every scope that has such a class", flags: flags{class: "mysql"}, want: []key{{"", "1"}, {"dev", "1"}}},
		"KubeName":     {reason: "a Kubernetes name counts too", flags: flags{class: "redis-id"}, want: []key{{"", "2"}}},
		"KubeNameOnly": {reason: "or alone, if that is said", flags: flags{class: "mysql", kubeName: true}, fails: `no class "mysql" in the cluster`},
		"Broker":       {reason: "by broker", flags: flags{broker: "gcp"}, want: []key{{"", "2"}}},
		"Both":         {reason: "filters add up", flags: flags{broker: "gcp", serviceType: "mysql"}},
		"NoSuchClass":  {reason: "a slip is told from an empty class", flags: flags{class: "mysq"}, fails: `no class "mysq" in the cluster; did you mean mysql? classes: mysql, redis`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, err := (&planList{tc.flags}).kept(fresh(), cli.Scope{Cluster: true})
			if tc.fails != "" {
				require.ErrorContains(t, err, tc.fails, tc.reason)
				return
			}
			require.NoError(t, err)
			assert.ElementsMatch(t, tc.want, table[planRow]{of: kept}.keys(), tc.reason)
		})
	}
}

func TestTypeRow(t *testing.T) {
	t.Parallel()
	status := func(resolvable bool, conditions ...v1beta1.Condition) v1beta1.ServiceTypeStatus {
		return v1beta1.ServiceTypeStatus{Resolvable: resolvable, Conditions: conditions}
	}
	cases := map[string]struct {
		reason string
		status v1beta1.ServiceTypeStatus
		cell   string
		why    string
	}{
		"Default":    {reason: "a default stands", status: status(true, v1beta1.DefaultPlan(true, "", "")), cell: "mysql*"},
		"Suggestion": {reason: "a suggestion stands where nothing else does", status: status(true, v1beta1.DefaultPlan(false, "", ""), v1beta1.SuggestedPlan(true, "", "")), cell: "mysql*"},
		"Ambiguous":  {reason: "two claims are none", status: status(false, v1beta1.DefaultPlan(false, "", ""), v1beta1.Ambiguous(true, "", "two of them")), cell: "mysql", why: "two of them"},
		"Overruled":  {reason: "one suggestion below two defaults does not stand", status: status(false, v1beta1.SuggestedPlan(true, "", ""), v1beta1.Ambiguous(true, "", "two")), cell: "mysql", why: "two"},
		"None":       {reason: "nothing stands", status: status(false, v1beta1.NoDefault(true, "", "choose one")), cell: "mysql", why: "choose one"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view, ok := catalog.TypeOf(&v1beta1.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: "mysql"}, Status: tc.status})
			require.True(t, ok)
			row := typeRowOf(view)
			assert.Equal(t, tc.cell, row.typeCell(), tc.reason)
			assert.Equal(t, tc.why, row.why, tc.reason)
		})
	}
}

// What is printed while pages come in is the list that kubectl prints.
func TestStream(t *testing.T) {
	t.Parallel()
	one := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": "K", "name": name, "text": "<&>"}}
	}
	cases := map[string]struct {
		reason, format string
		names          []string
		want           string
	}{
		"JSONEmpty": {reason: "no items", format: "json", want: "{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n"},
		"YAMLEmpty": {reason: "no items", format: "yaml", want: "apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"},
		"YAML": {
			reason: "items one below the other", format: "yaml", names: []string{"a", "b"},
			want: "apiVersion: v1\nitems:\n- kind: K\n  name: a\n  text: <&>\n- kind: K\n  name: b\n  text: <&>\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
		},
		"JSON": {
			reason: "items between commas", format: "json", names: []string{"a", "b"},
			want: "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n" +
				"        {\n            \"kind\": \"K\",\n            \"name\": \"a\",\n            \"text\": \"\\u003c\\u0026\\u003e\"\n        },\n" +
				"        {\n            \"kind\": \"K\",\n            \"name\": \"b\",\n            \"text\": \"\\u003c\\u0026\\u003e\"\n        }\n" +
				"    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			into := newStream(&out, tc.format)
			for _, name := range tc.names {
				require.NoError(t, into.add(one(name)))
			}
			require.NoError(t, into.end())
			assert.Equal(t, tc.want, out.String(), tc.reason)
		})
	}
}
