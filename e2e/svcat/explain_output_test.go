package svcat_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A chart's objects come sorted by kind: the binding before its instance.
const explainChart = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceBinding
metadata: {name: app}
spec: {instanceRef: {name: mydb}, parameters: {"say \"hi\" & <bye>": "#1; ` + "`x`" + `"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: passed-over}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: mydb}
spec: {serviceType: mysql-SUFFIX}
`

// The shapes of a line in each language.
var (
	dotNode     = regexp.MustCompile(`^  n(\d+) \[label="((?:[^"\\]|\\.)*)"(?:, [a-z]+=[a-z0-9]+)*\];$`)
	dotEdge     = regexp.MustCompile(`^  n(\d+) -> n(\d+);$`)
	mermaidNode = regexp.MustCompile("^  n(\\d+)\\[\"([^\"`<>]*)\"\\](?::::[a-z]+)?$")
	mermaidEdge = regexp.MustCompile(`^  n(\d+) --> n(\d+)$`)
)

// TestExplainDrawsGraphs: every line of dot and mermaid is a node or an edge, and
// they are the tree: as many nodes as it has lines, each but the first of each
// explanation with one above it.
func TestExplainDrawsGraphs(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainEveryRule()
	lines := strings.Count(strings.ReplaceAll(strings.TrimSpace(e.explainTree(explainChart, "-f", "-")), "\n\n", "\n"), "\n") + 1
	for output, shape := range map[string]struct {
		node, edge *regexp.Regexp
		frame      []string
	}{
		"dot": {dotNode, dotEdge, []string{"digraph explain {", "  rankdir=LR;", `  node [shape=box, fontname="sans-serif"];`, "}"}},
		"mermaid": {mermaidNode, mermaidEdge, []string{
			"flowchart LR", "  classDef chosen stroke:#070,stroke-width:3px", "  classDef refused stroke:#c00",
		}},
	} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			e := e.explainIn(t)
			text := e.run(e.explainNamed(explainChart), "-n", e.Namespace, "explain", "-f", "-", "-o", output).out
			nodes, above := map[string]bool{}, map[string]string{}
			for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
				if node := shape.node.FindStringSubmatch(line); node != nil {
					nodes[node[1]] = true
				} else if edge := shape.edge.FindStringSubmatch(line); edge != nil {
					require.True(t, nodes[edge[1]] && nodes[edge[2]], "an edge between what is there: %s", line)
					above[edge[2]] = edge[1]
				} else {
					assert.True(t, slices.Contains(shape.frame, line), "neither node nor edge: %s", line)
				}
			}
			assert.Len(t, nodes, lines)
			assert.Len(t, above, lines-2, "two explanations")
			assert.Subset(t, slices.Collect(maps.Keys(nodes)), slices.Collect(maps.Values(above)))
			e.golden("explain/chart-"+output, e.normal(text))
		})
	}
	e.golden("explain/chart", e.explainTree(explainChart, "-f", "-"))
}

// TestExplainReadsFiles: what cannot be read says where, and nothing to explain is an
// error.
func TestExplainReadsFiles(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	told := e.explained(explainChart, "-f", "-")
	require.Len(t, told, 2, "instances first: the binding is for one of them")
	assert.Equal(t, []string{"ServiceInstance", "ServiceBinding"}, []string{told[0].Subject.Kind, told[1].Subject.Kind})
	assert.Equal(t, "STDIN", told[0].Subject.File)

	for name, fails := range map[string]struct {
		code  int
		stdin string
		args  []string
		says  string
	}{
		"Nothing":     {1, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", []string{"-f", "-"}, "there is no ServiceInstance and no ServiceBinding"},
		"NoYAML":      {1, "a: [", []string{"-f", "-"}, "cannot read the files"},
		"NoFile":      {1, "", []string{"-f", "nowhere.yaml"}, "nowhere.yaml"},
		"Both":        {2, "", []string{"mysql", "-f", "-"}, "not both"},
		"Neither":     {2, "", nil, "allowed are TYPE, instance/NAME"},
		"UnknownKind": {2, "", []string{"pod/x"}, "allowed are TYPE, instance/NAME"},
		"Output":      {2, "", []string{"mysql", "-o", "yaml"}, "allowed are tree, json, dot, mermaid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := e.explainIn(t).run(fails.stdin, append([]string{"explain"}, fails.args...)...)
			assert.Equal(t, fails.code, got.code, got.err)
			assert.Contains(t, got.err, fails.says)
			assert.Empty(t, got.out)
		})
	}
}

// TestExplainGoesOnAfterAMalformedObject: it is explained in admission's words, the
// others are, too, and the exit code tells.
func TestExplainGoesOnAfterAMalformedObject(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	wrong := explainObject("ServiceInstance", "wrong", "", "serviceType: 5")
	got := e.run(wrong+explainObject("ServiceInstance", "right", "", "clusterServiceClassExternalName: nowhere"), "-n", e.Namespace, "explain", "-f", "-")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "error: cannot read 1 of 2 objects: a field is not of its type\n", got.err)
	assert.Contains(t, got.out, "right (class nowhere) → refused")
	_, denial, err := e.Stack.Kubectl(e.Context(), wrong, "-n", e.Namespace, "create", "-f", "-", "--dry-run=server", "--validate=false")
	require.Error(t, err)
	const says = `spec.serviceType: Invalid value: "integer": spec.serviceType in body must be of type string: "integer"`
	assert.Contains(t, got.out, says)
	assert.Contains(t, denial, says)
}

// TestExplainCompletes: types, and what is explained by its kind and name.
func TestExplainCompletes(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.explainOffers(explainOffer{class: "azure", spec: "serviceType: instant-SUFFIX, bindable: true", plans: []explainPlan{{name: "basic", is: "default"}}})
	e.explainRecorded("instant", "azure-basic", false)
	e.Apply(explainObject("ServiceInstance", "mydb", "", "serviceType: instant-SUFFIX") + explainObject("ServiceBinding", "app", "", "instanceRef: {name: mydb}"))
	for typed, want := range map[string][]string{
		"ins": {"instance/mydb", "instant-" + e.Suffix}, "instance/m": {"instance/mydb"}, "b": {"binding/app"}, "si/": {"si/mydb"},
	} {
		// Completion ends after some seconds without a list, so that a terminal is not held up.
		var words string
		e.Eventually(func() (bool, error) {
			words = e.Svcat("__complete", "explain", typed)
			return !strings.Contains(words, "ShellCompDirectiveError"), nil
		})
		for _, word := range want {
			assert.Regexp(t, "(?m)^"+word, words, typed)
		}
	}
}
