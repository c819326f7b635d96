package charts_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// both are the versions of Helm that have to render the same.
var both = []string{"helm", "helm3"}

// What the library renders for what a user says, by both versions of Helm.
func TestLibraryRenders(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for name, test := range map[string]struct {
		reason string
		values string
		// release is the release's name; empty: blog.
		release string
		// instance and binding are their specs.
		instance, binding string
	}{
		"Nothing": {
			reason:   "the default of the type; parameters are there, so that one that goes takes no other with it",
			instance: `{"serviceType": "mysql", "parameters": {}}`,
			binding: `{"instanceRef": {"name": "blog-db"}, "secretName": "blog-db", "parameters": {},
				"secretTransforms": [{"renameKey": {"from": "db-name", "to": "database"}}]}`,
		},
		"ShortForm": {
			reason:   "the proposal's --set className --set planName",
			values:   `{"className": "custom-mysql", "planName": "ha-mysql", "parameters": {"zone": 1}}`,
			instance: `{"serviceType": "mysql", "clusterServiceClassExternalName": "custom-mysql", "clusterServicePlanExternalName": "ha-mysql", "parameters": {"zone": 1}}`,
		},
		"BlockBeatsShortForm": {
			reason:   "the block is about this service, the short form about whichever there is",
			values:   `{"className": "a", "planName": "b", "database": {"className": "c", "planName": "d", "scope": "namespace", "serviceType": "mysql-ha"}}`,
			instance: `{"serviceType": "mysql-ha", "serviceClassExternalName": "c", "servicePlanExternalName": "d", "parameters": {}}`,
		},
		"Selector": {
			reason:   "labels instead of a name, and a default taken away",
			values:   `{"database": {"planSelector": {"matchLabels": {"tier": "dev"}}, "withoutDefaults": ["sslEnforcement"], "parameters": {"a": {"b": 1}}}}`,
			instance: `{"serviceType": "mysql", "planSelector": {"matchLabels": {"tier": "dev"}}, "parameters": {"a": {"b": 1}, "sslEnforcement": null}}`,
		},
		"Binding": {
			reason: "the block's keys win over the chart's, its transforms come last",
			values: `{"database": {"binding": {"secretName": "creds", "parameters": {"user": "admin"}, "keys": {"database": "name", "host": "hostname"},
				"secretTransforms": [{"removeKey": {"key": "uri"}}]}}}`,
			instance: `{"serviceType": "mysql", "parameters": {}}`,
			binding: `{"instanceRef": {"name": "blog-db"}, "secretName": "creds", "parameters": {"user": "admin"}, "secretTransforms": [
				{"renameKey": {"from": "name", "to": "database"}}, {"renameKey": {"from": "hostname", "to": "host"}}, {"removeKey": {"key": "uri"}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, helm := range both {
				args := []string{"template", "blog", wordpress()}
				if test.values != "" {
					args = append(args, "-f", e.in(t).text(test.values))
				}
				rendered := objectsOf(t, e.in(t).must(helm, args...))
				assert.JSONEq(t, test.instance, specOf(t, rendered["ServiceInstance blog-db"]), "%s: %s", helm, test.reason)
				if test.binding != "" {
					assert.JSONEq(t, test.binding, specOf(t, rendered["ServiceBinding blog-db"]), "%s: %s", helm, test.reason)
				}
			}
		})
	}
}

func specOf(t *testing.T, o object) string {
	t.Helper()
	text, err := json.Marshal(o["spec"])
	require.NoError(t, err)
	return string(text)
}

// in is the same environment for a subtest.
func (e *testEnv) in(t *testing.T) *testEnv {
	t.Helper()
	return &testEnv{e.In(t)}
}

// What cannot be meant fails before anything is sent, in words that say what to write.
func TestLibraryRefuses(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for name, test := range map[string]struct {
		reason string
		values string
		says   string
	}{
		"PlanWithoutClass":  {reason: "a plan's name alone means nothing", values: `{"planName": "ha"}`, says: `planName is "ha", but there is no className`},
		"SelectorAndPlan":   {reason: "two choices", values: `{"className": "c", "planName": "p", "database": {"planSelector": {"matchLabels": {"a": "b"}}}}`, says: "exclude each other"},
		"EmptySelector":     {reason: "admission refuses it too", values: `{"database": {"planSelector": {"matchLabels": {}}}}`, says: "neither matchLabels nor matchExpressions"},
		"BothOfOne":         {reason: "a value, or none", values: `{"database": {"parameters": {"a": 1}, "withoutDefaults": ["a"]}}`, says: `"a" is in parameters and in withoutDefaults`},
		"SlipOfThePen":      {reason: "the example's schema sees it first", values: `{"database": {"clasName": "c"}}`, says: "clasName"},
		"SlipInTheBinding":  {reason: "and further down", values: `{"database": {"binding": {"secret": "c"}}}`, says: "secret"},
		"ParametersAsAList": {reason: "the schema again", values: `{"parameters": [1]}`, says: "object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, helm := range both {
				assert.Contains(t, e.in(t).refused(helm, "template", "blog", wordpress(), "-f", e.in(t).text(test.values)), test.says, "%s: %s", helm, test.reason)
			}
		})
	}
	for name, test := range map[string]struct{ reason, values, says string }{
		"UnknownKey":        {reason: "without a schema the library sees it", values: `{"db": {"clasName": "c"}}`, says: `there is no "clasName"; there are annotations, binding, className`},
		"UnknownBindingKey": {reason: "and further down", values: `{"db": {"binding": {"secret": "c"}}}`, says: `binding: there is no "secret"; there are keys, parameters, parametersFrom`},
		"ScopeWithoutClass": {reason: "nothing would read it", values: `{"db": {"scope": "namespace", "planSelector": {"matchLabels": {"a": "b"}}}}`, says: `scope is "namespace", but there is no className`},
		"UnknownScope":      {reason: "one of two", values: `{"db": {"scope": "global"}}`, says: `scope is "global"; there are cluster`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.in(t)
			for _, helm := range both {
				said := e.refused(helm, "template", "blog", e.chartOf(`(dict "root" . "name" "db" "type" "mysql" "values" .Values.db)`), "-f", e.text(test.values))
				assert.Contains(t, said, test.says, "%s: %s", helm, test.reason)
			}
		})
	}
	documented(t, e.refused("helm", "template", "blog", wordpress(), "--set", "planName=ha-mysql"), 1, "there is no className")
	documented(t, e.refused("helm", "template", "blog", wordpress(), "--set", "database.clasName=a"), 2, "clasName", "Error: values")
	for call, says := range map[string]string{`(dict "name" "db")`: "say what the chart is", `(dict "root" .)`: "say what the service is called"} {
		assert.Contains(t, e.refused("helm", "template", "blog", e.chartOf(call)), says)
	}
}

// Names that would be too long are cut, and stay apart.
func TestLibraryCutsLongNames(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	names := map[string]bool{}
	for _, name := range []string{strings.Repeat("n", 60) + "-a", strings.Repeat("n", 60) + "-b"} {
		for key := range objectsOf(t, e.must("helm", "template", "blog", e.chartOf(`(dict "root" . "name" "`+name+`" "type" "mysql")`))) {
			_, is, _ := strings.Cut(key, " ")
			assert.Len(t, is, 63)
			names[is] = true
		}
	}
	assert.Len(t, names, 2)
}

// The schema of the example has the library's override block as it stands. It reads the
// sources: the copy in chartFolder is there only once the shared stack has started.
func TestExampleHasTheLibrarysSchema(t *testing.T) {
	t.Parallel()
	var library any
	example := struct {
		Definitions struct {
			ServiceOverride any `json:"serviceOverride"`
		} `json:"definitions"`
	}{}
	charts := filepath.Join("..", "..", "deploy", "charts")
	readJSON(t, filepath.Join(charts, "servicecatalog-lib", "override.schema.json"), &library)
	readJSON(t, filepath.Join(charts, "examples", "wordpress", "values.schema.json"), &example)
	assert.Equal(t, library, example.Definitions.ServiceOverride)
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, into))
}

// A chart author's CI needs no cluster: svcat render says what admission would make of
// what the chart renders, with a broker's catalog beside it.
func TestChartIsJudgedWithoutACluster(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	catalog := filepath.Join("..", "..", "osb", "osbtest", "catalogs", "azure.json")
	said, err := e.runs("svcat", e.must("helm", "template", "blog", wordpress()), "render", "-f", catalog, "-f", "-")
	require.NoError(t, err, said)
	assert.Contains(t, said, "clusterServicePlanRef")
	said, err = e.runs("svcat", e.must("helm", "template", "blog", wordpress(), "--set", "parameters.location=7"), "render", "-f", catalog, "-f", "-")
	require.Error(t, err)
	documented(t, strings.ReplaceAll(said, e.Namespace+"/", ""), 2, `The ServiceInstance "blog-db" is invalid`, "is refused:")
}

// documented holds docs/charts.md to what was really said: so many lines of it, each with
// one of the words, stand there as they are.
func documented(t *testing.T, said string, lines int, words ...string) {
	t.Helper()
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "charts.md"))
	require.NoError(t, err)
	found := 0
	for line := range strings.Lines(said) {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
			assert.Contains(t, string(document), strings.TrimSpace(line))
			found++
		}
	}
	assert.Equal(t, lines, found, said)
}
