package ui

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile are texts that a broker may send, of which nothing may run, load or lead
// anywhere.
var hostile = map[string]string{
	"Script":      `<script>alert(1)</script>`,
	"EndOfScript": `</script><script src=//evil.example/x.js></script>`,
	"Image":       `<img src=x onerror=alert(1)>`,
	"Attribute":   `" autofocus onfocus="alert(1)`,
	"Apostrophe":  `' onmouseover='alert(1)`,
	"Link":        `javascript:alert(1)`,
	"Address":     `https://evil.example/a?b=c&d`,
	"EndOfArea":   `</textarea></pre></select><svg onload=alert(1)>`,
	"Style":       `</style><style>@import url(//evil.example)</style>`,
	"Template":    `{{.Namespace}}{{define "main"}}`,
	"Entity":      `&lt;script&gt;&#x3c;img&#62;`,
	"Comment":     `--><!--<base href=//evil.example>`,
	"Meta":        `<meta http-equiv=refresh content="0; url=//evil.example">`,
}

// hostileShop says the text wherever a broker may say something.
func hostileShop(text string) string {
	return strings.ReplaceAll(`
kind: ClusterServiceClass
metadata: {name: azure, uid: azure}
spec:
  {externalName: TEXT, externalID: azure, serviceType: mysql, description: TEXT, bindable: true, tags: [TEXT],
  externalMetadata: {displayName: TEXT, longDescription: TEXT, providerDisplayName: TEXT, documentationUrl: TEXT, supportUrl: TEXT, imageUrl: "https://evil.example/pixel.png"}}
---
kind: ClusterServicePlan
metadata: {name: small, uid: small, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true", attributes.servicecatalog.k8s.io/Note: TEXT}}
spec:
  externalName: TEXT
  externalID: small
  clusterServiceClassRef: {name: azure}
  description: TEXT
  externalMetadata: {displayName: TEXT, bullets: [TEXT], costs: [{amount: {TEXT: 1}, unit: TEXT}]}
  defaultProvisionParameters: {TEXT: TEXT}
  instanceCreateParameterSchema:
    {type: object, title: TEXT, description: TEXT, properties: {TEXT: {type: string, title: TEXT, description: TEXT, default: TEXT}, choice: {enum: [TEXT, {TEXT: TEXT}]},
    group: {type: object, title: TEXT, properties: {TEXT: {type: integer}}}}}
---
kind: ServiceInstance
metadata: {name: db, namespace: shop, uid: db, annotations: {servicecatalog.kubernetes.io/applied-defaults: '{"rule":"cluster-default"}'}}
spec: {serviceType: mysql, clusterServiceClassRef: {name: azure}, clusterServicePlanRef: {name: small}, parameters: {TEXT: TEXT}}
status: {dashboardURL: TEXT, conditions: [{type: Ready, status: "False", reason: Broken, message: TEXT}]}
---
kind: ServiceBinding
metadata: {name: access, namespace: shop, uid: access}
spec: {instanceRef: {name: db}, clusterServicePlanRef: {name: small}, parameters: {TEXT: TEXT}, secretTransforms: [{renameKey: {from: TEXT, to: TEXT}}]}
status: {conditions: [{type: Ready, status: "False", reason: Broken, message: TEXT}]}
`, "TEXT", compact(text))
}

var (
	element   = regexp.MustCompile(`<([a-zA-Z!/][^\s>]*)([^>]*)>`)
	attribute = regexp.MustCompile(`([a-zA-Z-]+)(?:="([^"]*)")?`)
)

// TestHostileTextsAreText: on every page, and after a dry run, there is no element and no
// attribute but those of our templates, and every address is one of ours.
func TestHostileTextsAreText(t *testing.T) {
	t.Parallel()
	ours := written(t)
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := visit(t, newCluster(t, hostileShop(text)))
			look := func(path string, code int, body string) {
				require.Equal(t, http.StatusOK, code, "%s: %s", path, body)
				assert.NotContains(t, body, "pixel.png", "no picture is even named")
				assert.Contains(t, html.UnescapeString(body), text, "it is shown as it is")
				ours.hold(t, body)
			}
			for _, path := range []string{"/types/mysql", "/plans", "/plans/cluster/small", "/instances/db", "/bindings/access"} {
				code, body := v.get(path)
				look(path, code, body)
			}
			code, body := v.post("/plans/cluster/small", url.Values{
				"name": {"db2"}, "how": {"type"}, "p/group/" + pointed(text): {"1"}, "p/" + pointed(text): {text}, "more": {`{"note": ` + compact(text) + `}`},
			})
			look("try", code, body)
			_, body = v.post("/plans/cluster/small", url.Values{"how": {"plan"}, "name": {text}, "more": {text}, "secret": {text}})
			ours.hold(t, body)
			_, body = v.get("/types/" + url.PathEscape(text))
			ours.hold(t, body)
		})
	}
}

// A vocabulary is the elements that templates write, each with its attributes.
type vocabulary map[string]map[string]bool

// action is what a template does rather than writes.
var action = regexp.MustCompile(`\{\{[^}]*\}\}`)

// written is the vocabulary of our templates.
func written(t *testing.T) vocabulary {
	t.Helper()
	known := vocabulary{}
	entries, err := templateFiles.ReadDir("templates")
	require.NoError(t, err)
	for _, entry := range entries {
		text, err := templateFiles.ReadFile("templates/" + entry.Name())
		require.NoError(t, err)
		for _, found := range element.FindAllStringSubmatch(action.ReplaceAllString(string(text), ""), -1) {
			if known[found[1]] == nil {
				known[found[1]] = map[string]bool{}
			}
			for _, pair := range attribute.FindAllStringSubmatch(found[2], -1) {
				known[found[1]][pair[1]] = true
			}
		}
	}
	return known
}

// hold asserts that a page says nothing else, and leads nowhere else.
func (v vocabulary) hold(t *testing.T, body string) {
	t.Helper()
	elements := element.FindAllStringSubmatch(body, -1)
	assert.Greater(t, len(elements), 20)
	for _, found := range elements {
		attributes, known := v[found[1]]
		assert.True(t, known, found[0])
		for _, pair := range attribute.FindAllStringSubmatch(found[2], -1) {
			assert.True(t, attributes[pair[1]], found[0])
			assert.False(t, strings.HasPrefix(pair[1], "on"), found[0])
			if pair[1] == "href" || pair[1] == "src" || pair[1] == "action" {
				assert.True(t, pair[2] == "#main" || strings.HasPrefix(pair[2], "/") && !strings.HasPrefix(pair[2], "//"), found[0])
			}
		}
	}
}

func pointed(text string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(text)
}

// TestNothingHidesOnAPage: letters that turn text around or that cannot be seen are shown
// as such.
func TestNothingHidesOnAPage(t *testing.T) {
	t.Parallel()
	const turned = "\u202e"
	_, body := visit(t, newCluster(t, hostileShop("small"+turned+"egral\u200bx\u0007"))).get("/plans/cluster/small")
	assert.NotContains(t, body, turned)
	assert.Contains(t, body, "small\ufffdegral\ufffdx\ufffd")
}

// TestNoTemplateTrusts: nothing in this package tells a template that a text is safe.
func TestNoTemplateTrusts(t *testing.T) {
	t.Parallel()
	entries, err := templateFiles.ReadDir("templates")
	require.NoError(t, err)
	require.Len(t, entries, len(pages())+2)
	for _, entry := range entries {
		text, err := templateFiles.ReadFile("templates/" + entry.Name())
		require.NoError(t, err)
		for _, word := range []string{"<style", "style=", "javascript:", "http://", "https://", "<img", "<iframe", "<script>", "onclick", "target="} {
			assert.NotContains(t, string(text), word, entry.Name())
		}
	}
}
