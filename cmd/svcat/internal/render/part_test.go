package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The objects of these tests in one line each.
const (
	catalogJSON  = `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServiceType","metadata":{"name":"any"}}`
	instanceJSON = `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"mydb"},"spec":{"serviceType":"mysql"}}`
	refusedJSON  = `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"nodb"},"spec":{"serviceType":"cobol"}}`
)

// However the objects of a file stand behind one another, none is left out.
func TestRenderReadsEveryObject(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, objects, at string }{
		"JSONLines":      {reason: "One a line.", objects: instanceJSON + "\n" + refusedJSON + "\n", at: "document 4 (line 16)"},
		"JSONTogether":   {reason: "With nothing between them.", objects: instanceJSON + refusedJSON, at: "document 4 (line 15)"},
		"JSONIndented":   {reason: "Over several lines, with tabs.", objects: strings.ReplaceAll(instanceJSON, ",", ",\n\t") + "\n\n" + refusedJSON, at: "document 4 (line 20)"},
		"JSONMarks":      {reason: "With YAML's marks.", objects: "\n" + instanceJSON + "\n---\n" + refusedJSON + "\n# the end\n", at: "document 4 (line 18)"},
		"JSONSurrogates": {reason: "As Python writes it.", objects: strings.Replace(instanceJSON, `"mysql"`, `"mysql","parameters":{"a":"\ud83d\ude00"}`, 1) + refusedJSON, at: "document 4 (line 15)"},
		"YAMLAfterJSON":  {reason: "Another language behind.", objects: instanceJSON + refused, at: "document 4 (line 16)"},
		"Dots":           {reason: "Ends of documents.", objects: instance + "...\n" + refused + "...\n", at: "document 4 (line 20)"},
		"Flow":           {reason: "No JSON, though it begins so.", objects: strings.NewReplacer(`":`, ": ", `"`, "").Replace(instanceJSON) + "\n---\n" + refusedJSON, at: "document 4 (line 17)"},
		"List":           {reason: "Items that say nothing of their kind.", objects: "\nkind: ServiceInstanceList\napiVersion: servicecatalog.k8s.io/v1beta1\nitems:\n- {metadata: {name: mydb}, spec: {serviceType: mysql}}\n- {metadata: {name: nodb}, spec: {serviceType: cobol}}\n", at: "document 3 (line 14)"},
		"Lists":          {reason: "A list in a list.", objects: `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[` + instanceJSON + `]},` + refusedJSON + "]}", at: "document 3 (line 15)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, stream(catalog, "\n"+tc.objects), "-f", "-")
			assert.Equal(t, 1, got.code, tc.reason)
			require.Len(t, rendered(t, got.out), 1, "%s: %s", tc.reason, got.err)
			assert.Contains(t, got.err, "standard input, "+tc.at+": serviceinstance default/nodb is refused")
			assert.Contains(t, got.err, "refused: 1 of 2 objects")
		})
	}
}

// The text of a document is left as it is, though it is read at another place.
func TestRenderKeepsTexts(t *testing.T) {
	t.Parallel()
	const texts = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: mydb}
spec:
  serviceType: mysql
  parameters:
    literal: |
      one
        two

      --- three
    kept: |2+

       four

    folded: >-
      five
      six
    quoted: "seven
      eight\n nine"
    anchor: &a {big: 9007199254740993}
    alias: *a
`
	got := run(t, stream(catalog, texts), "-f", "-")
	require.Zero(t, got.code, got.err)
	spec, ok := rendered(t, got.out)[0].Object["spec"].(map[string]any)
	require.True(t, ok)
	assert.Subset(t, spec["parameters"], map[string]any{
		"literal": "one\n  two\n\n--- three\n", "kept": "\n four\n\n", "folded": "five six", "quoted": "seven eight\n nine",
	})
	assert.Equal(t, 2, strings.Count(got.out, "9007199254740993"))
}
