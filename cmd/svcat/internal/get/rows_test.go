package get

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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
			{name: "mysql-id"}:                   {key: key{name: "mysql-id"}, title: "mysql"},
			{namespace: "dev", name: "mysql-id"}: {key: key{namespace: "dev", name: "mysql-id"}, title: "mysql"},
			{name: "redis-id"}:                   {key: key{name: "redis-id"}, title: "redis"},
		}
		return &offerings{classes: classes, plans: []planRow{
			{key: key{name: "1"}, title: "small", class: "mysql-id", classTitle: "mysql", serviceType: "mysql", broker: "azure", scope: "cluster", effective: true},
			{key: key{namespace: "dev", name: "1"}, title: "small", class: "mysql-id", classTitle: "mysql", serviceType: "mysql", broker: "azure", scope: "ns (dev)"},
			{key: key{name: "2"}, title: "basic", class: "redis-id", classTitle: "redis", serviceType: "redis", broker: "gcp", scope: "cluster"},
		}}
	}
	cases := map[string]struct {
		reason string
		flags  flags
		want   []key
		fails  string
	}{
		"All":          {reason: "no flag, no filter", want: []key{{name: "1"}, {namespace: "dev", name: "1"}, {name: "2"}}},
		"Type":         {reason: "by effective type", flags: flags{serviceType: "redis"}, want: []key{{name: "2"}}},
		"Default":      {reason: "those that stand", flags: flags{effective: true}, want: []key{{name: "1"}}},
		"Class":        {reason: "in every scope that has such a class", flags: flags{class: "mysql"}, want: []key{{name: "1"}, {namespace: "dev", name: "1"}}},
		"KubeName":     {reason: "a Kubernetes name counts too", flags: flags{class: "redis-id"}, want: []key{{name: "2"}}},
		"KubeNameOnly": {reason: "or alone, if that is said", flags: flags{class: "mysql", kubeName: true}, fails: `no class "mysql" in the cluster`},
		"Broker":       {reason: "by broker", flags: flags{broker: "gcp"}, want: []key{{name: "2"}}},
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

// TestSelectedPlans: a plan that is not selected decides, too, what an instance gets.
func TestSelectedPlans(t *testing.T) {
	t.Parallel()
	suggested := func(name, serviceType, tier string) *v1beta1.ClusterServicePlan {
		p := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"tier": tier}, Annotations: map[string]string{v1beta1.AnnotationSuggestedPlan: "true"},
		}}
		p.Spec.ServiceType, p.Spec.ClusterServiceClassRef.Name = serviceType, "db"
		return p
	}
	reader := fakeCluster(t, interceptor.Funcs{}, &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "db"}},
		suggested("small", "mysql", "dev"), suggested("large", "mysql", "prod"), suggested("cache", "redis", "dev"), suggested("queue", "kafka", "prod"))
	selected, err := labels.Parse("tier=dev")
	require.NoError(t, err)
	cells := func(f flags) (types []string) {
		f.labels = selected
		s, err := loadOfferings(t.Context(), reader, cli.Scope{Cluster: true}, f.labels)
		require.NoError(t, err)
		kept, err := (&planList{f}).kept(s, cli.Scope{Cluster: true})
		require.NoError(t, err)
		for _, row := range kept {
			types = append(types, row.name+" of "+row.typeCell())
		}
		return types
	}
	assert.Equal(t, []string{"small of mysql", "cache of redis*"}, cells(flags{}), "two plans of mysql are suggested")
	assert.Equal(t, []string{"cache of redis*"}, cells(flags{effective: true}))
}
