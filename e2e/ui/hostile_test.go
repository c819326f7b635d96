package ui_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

// evil says wherever a broker may say something what would run, load or lead away if it
// were not text. SUFFIX is of the environment, RUN what a script would do.
const evil = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: evil-SUFFIX}
spec:
  externalName: evil-SUFFIX
  externalID: evil-SUFFIX
  serviceType: evil-SUFFIX
  description: </script><script>RUN</script><img src=x onerror="RUN"><img src="https://evil.example/pixel.png">
  bindable: true
  tags: ["<script>RUN</script>"]
  externalMetadata:
    displayName: "\"><script>RUN</script>"
    longDescription: <iframe src="https://evil.example/"></iframe><style>@import url(https://evil.example/a.css)</style>
    documentationUrl: javascript:RUN
    supportUrl: https://evil.example/support
    imageUrl: https://evil.example/pixel.png
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata:
  name: evil-SUFFIX
  annotations:
    servicecatalog.kubernetes.io/is-default-plan: "true"
    attributes.servicecatalog.k8s.io/Note: <svg onload="RUN">
spec:
  externalName: evil-SUFFIX
  externalID: evil-SUFFIX
  clusterServiceClassRef: {name: evil-SUFFIX}
  description: "<meta http-equiv=refresh content='0; url=https://evil.example/'><b>bold</b>"
  defaultProvisionParameters: {"</pre><script>RUN</script>": "<img src=x onerror=RUN>"}
  externalMetadata:
    bullets: ["<a href='javascript:RUN'>free</a>", "<form action=https://evil.example><button>Try it: dry run</button></form>"]
    costs: [{amount: {"<script>RUN</script>": 1}, unit: "<img src=https://evil.example/cost.png>"}]
  instanceCreateParameterSchema:
    type: object
    description: <script>RUN</script>
    properties:
      '"><script>RUN</script>': {type: string, title: "</label><script>RUN</script>", description: "<img src=x onerror=RUN>"}
      area: {type: array, items: {type: string}, default: ["</textarea><script>RUN</script>"]}
      pick: {enum: ["</option></select><script>RUN</script>", "' onfocus=RUN autofocus='"]}
`

// TestAHostileCatalogIsText: on every page what a broker wrote is read, and nothing of it
// runs, is loaded or becomes a link. The page asks for nothing but its own address.
func TestAHostileCatalogIsText(t *testing.T) {
	t.Parallel()
	e, b := newEnv(t), newBrowser(t)
	e.Apply(strings.ReplaceAll(evil, "RUN", "alert(document.title=6)"))
	address := e.serve(e.Kubeconfig())
	name := e.Name("evil")
	b.open(address, "Types on offer")
	b.click(name, name)
	b.sees("<meta http-equiv=refresh")
	b.click("Configure…", name+"/"+name)
	for _, text := range []string{"</script><script>", "<iframe", "javascript:alert", "https://evil.example/support", "<svg onload", "<a href="} {
		assert.Contains(t, b.text("main"), text)
	}
	b.fill("area", "</textarea><script>alert(document.title=6)</script>")
	b.send("It would be admitted")
	assert.Contains(t, b.text("#result"), "<img src=x onerror=")
	assert.Contains(t, b.text("#yaml"), "</textarea><script>")
	e.Apply(b.text("#yaml"))
	b.click("All plans", "All plans")
	b.click("Instances", "Instances and bindings")
	b.click("my-"+name, "my-"+name)
	b.sees("<img src=x onerror=")

	assert.Equal(t, "my-"+name+" · Marketplace", ask(b, chromedp.Title()))
	assert.Empty(t, ask(b, chromedp.Evaluate[[]string](`[...document.links].map(l => l.href).filter(h => !h.startsWith(location.origin + "/"))`)))
	b.behaved(address)
}

// TestNobodyElseGetsIn: neither who has not opened the address, nor who opens it again.
func TestNobodyElseGetsIn(t *testing.T) {
	t.Parallel()
	e, b, other := newEnv(t), newBrowser(t), newBrowser(t)
	address := e.serve(e.Kubeconfig())
	b.open(address, "Types on offer")
	other.open(address, "Forbidden")
	root := address[:strings.Index(address, "/enter/")+1]
	other.open(root, "Forbidden")
	other.open(strings.Replace(root, "127.0.0.1", "localhost", 1), "Misdirected Request")
	b.open(address, "Types on offer")
	assert.Equal(t, root, ask(b, chromedp.Location()), "the token is not in the address bar")
	assert.Empty(t, ask(b, chromedp.Evaluate[string]("document.cookie")), "no script sees the cookie")
	b.behaved(address)
}
