package ui

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twoShops are shop, and namespace dev with a plan, an instance and a binding of its own.
const twoShops = shop + `
---
kind: ServiceClass
metadata: {name: theirs, namespace: dev, uid: theirs}
spec: {externalName: theirs, externalID: theirs, description: Theirs, serviceType: queue}
---
kind: ServicePlan
metadata: {name: trial, namespace: dev, uid: trial, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}
spec: {externalName: trial, externalID: trial, serviceClassRef: {name: theirs}, description: To try, free: true}
---
kind: ServiceInstance
metadata: {name: cache, namespace: dev, uid: cache}
spec: {serviceType: queue, serviceClassRef: {name: theirs}, servicePlanRef: {name: trial}}
---
kind: ServiceBinding
metadata: {name: key, namespace: dev, uid: key}
spec: {instanceRef: {name: cache}}
`

// address is the target of a link or form.
var address = regexp.MustCompile(`(?:href|action)="(/[^"]*)"`)

// chooserForm is the form that leads to another namespace.
var chooserForm = regexp.MustCompile(`(?s)<form [^>]* class="where".*?</form>`)

// TestOtherNamespace: every page is about the namespace in its address, and so are its links,
// forms and commands.
func TestOtherNamespace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, path string
		says, not    []string
	}{
		"Types":     {reason: "the types there", path: "/?namespace=dev", says: []string{"queue", "theirs/trial (default of namespace dev", `href="/plans/namespace/trial?namespace=dev&amp;type=queue"`}},
		"Type":      {reason: "the choice there", path: "/types/queue?namespace=dev", says: []string{"queue in namespace dev", "svcat explain queue --namespace=dev --context=test"}},
		"Plans":     {reason: "its plans and the cluster's", path: "/plans?namespace=dev&scope=namespace", says: []string{"theirs/trial", "1 of 3 plans."}, not: []string{"mine/own"}},
		"Filters":   {reason: "a filter stays there, and the choice of another keeps the filters", path: "/plans?free=yes&namespace=dev", says: []string{`<input type="hidden" name="namespace" value="dev">`, `<input type="hidden" name="free" value="yes">`, "2 of 3 plans."}},
		"Plan":      {reason: "its own plans", path: "/plans/namespace/trial?namespace=dev", says: []string{"theirs/trial", `action="/plans/namespace/trial?namespace=dev"`}},
		"Cluster":   {reason: "those of the cluster, too", path: "/plans/cluster/small?namespace=dev", says: []string{`action="/plans/cluster/small?namespace=dev"`, `href="/types/mysql?namespace=dev"`}},
		"Instances": {reason: "its instances", path: "/instances?namespace=dev", says: []string{"cache", "key"}, not: []string{"db</a>"}},
		"Instance":  {reason: "one of them", path: "/instances/cache?namespace=dev", says: []string{"theirs/trial", `href="/bindings/key?namespace=dev"`, `action="/instances"`}},
		"Binding":   {reason: "one of them", path: "/bindings/key?namespace=dev", says: []string{"svcat describe binding key --namespace=dev --context=test"}},
		"Missing":   {reason: "and what is not there", path: "/instances/db?namespace=dev", says: []string{"There is no such thing"}},
		"Unknown":   {reason: "one that does not exist is said so", path: "/plans?namespace=none", says: []string{"Namespace none is not among those that you may list.", "azure/small"}, not: []string{"mine/own"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, body := visit(t, newCluster(t, twoShops)).get(tc.path)
			assert.Equal(t, tc.path == "/instances/db?namespace=dev", code == http.StatusNotFound, body)
			for _, text := range tc.says {
				assert.Contains(t, body, text, tc.reason)
			}
			for _, text := range tc.not {
				assert.NotContains(t, body, text, tc.reason)
			}
			asked, err := url.Parse(tc.path)
			require.NoError(t, err)
			there := asked.Query().Get(ofOtherNamespace)
			assert.Contains(t, body, `<option value="`+there+`" selected>`, "it is chosen")
			for _, found := range address.FindAllStringSubmatch(chooserForm.ReplaceAllString(body, ""), -1) {
				leads, err := url.Parse(html.UnescapeString(found[1]))
				require.NoError(t, err)
				if strings.HasPrefix(leads.Path, assetsPath) {
					continue
				}
				assert.Equal(t, there, leads.Query().Get(ofOtherNamespace), found[0])
			}
		})
	}
}

// TestChooser: a choice of the namespaces that the user may list, or a field to type one in.
func TestChooser(t *testing.T) {
	t.Parallel()
	const choice = `<select id="namespace" name="namespace"><option value="dev">dev</option><option value="shop" selected>shop</option></select>`
	const field = `<input id="namespace" name="namespace" value="shop" required`
	for name, tc := range map[string]struct {
		reason, path string
		denied       []string
		further      int
		says, not    string
		leads        string
	}{
		"May":       {reason: "those that there are", path: "/", says: choice, not: field, leads: "/"},
		"MayNot":    {reason: "who may not list them types one", path: "/plans", denied: []string{"list namespaces"}, says: field, not: "<select id=\"namespace\"", leads: "/plans"},
		"TooMany":   {reason: "more than fit into a choice", path: "/", further: mostNamespaces - 1, says: field, not: "<select id=\"namespace\"", leads: "/"},
		"Most":      {reason: "as many as fit", path: "/", further: mostNamespaces - 2, says: "<option value=\"shop\" selected>", not: field, leads: "/"},
		"OfATypes":  {reason: "a type may be none there", path: "/types/mysql", says: choice, leads: "/"},
		"OfAPlan":   {reason: "a plan may be none there", path: "/plans/cluster/small", says: choice, leads: "/plans"},
		"OfAnother": {reason: "an instance is none there", path: "/instances/db", says: choice, leads: "/instances"},
		"Lacking":   {reason: "where nothing may be read, there may be another", path: "/instances", denied: []string{"list serviceinstances", "list servicebindings"}, says: choice, leads: "/instances"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, shop, tc.denied...)
			for i := range tc.further {
				c.namespaces = append(c.namespaces, fmt.Sprintf("more-%d", i))
			}
			_, body := visit(t, c).get(tc.path)
			assert.Contains(t, body, tc.says, tc.reason)
			if tc.not != "" {
				assert.NotContains(t, body, tc.not, tc.reason)
			}
			assert.Contains(t, body, `<form method="get" action="`+tc.leads+`" class="where" aria-label="Namespace" autocomplete="off">`, tc.reason)
			assert.Contains(t, body, `<button type="submit" class="small">Go</button>`, "it works without a script")
		})
	}
}

// TestNoNamespace: what no namespace can be called is refused, and not repeated.
func TestNoNamespace(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"Shop", "a/b", "../x", "-a", strings.Repeat("a", 64), `"><script>`, "a b", "kube-system/secrets"} {
		c := newCluster(t, shop)
		code, body := visit(t, c).get("/plans?namespace=" + url.QueryEscape(value))
		assert.Equal(t, http.StatusBadRequest, code, value)
		assert.Contains(t, body, "is not one name of a namespace", value)
		assert.Contains(t, body, "Leave it out for namespace shop.", value)
		_, said, _ := strings.Cut(body, `role="alert">`)
		said, _, _ = strings.Cut(said, "</div>")
		assert.NotContains(t, said, html.EscapeString(value), "it is not repeated")
	}
	for _, query := range []string{"namespace=dev;x=1", "namespace=%zz", "namespace=dev&namespace=shop"} {
		code, body := visit(t, newCluster(t, shop)).get("/plans?" + query)
		assert.Equal(t, http.StatusBadRequest, code, query)
		assert.Contains(t, body, "The address is malformed, or its parameter", query)
	}
	code, body := visit(t, newCluster(t, shop)).get("/plans?free=perhaps")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.NotContains(t, body, `value="perhaps"`, "another namespace is chosen without what is no filter")
	code, body = visit(t, newCluster(t, shop, "list clusterserviceplans", "list serviceplans")).get("/plans?free=yes")
	assert.Equal(t, http.StatusForbidden, code)
	assert.Contains(t, body, `name="free" value="yes"`, "a filter is kept where another namespace may be read")
	for _, path := range []string{"/?namespace=", "/?namespace=shop", "/?namespace=+shop+"} {
		code, body := visit(t, newCluster(t, shop)).get(path)
		assert.Equal(t, http.StatusOK, code, path)
		assert.Contains(t, body, `href="/plans"`, "the links of svcat ui's own namespace do not name it")
	}
}

// TestTryElsewhere: the dry run and what is copied are for the chosen namespace; but what the page
// may create is only in the namespace that svcat ui was started for.
func TestTryElsewhere(t *testing.T) {
	t.Parallel()
	c := newCluster(t, twoShops)
	c.creates = true
	v := visit(t, c)
	elsewhere := smallPlan + "?namespace=dev"
	code, body := v.post(elsewhere, url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}})
	require.Equal(t, http.StatusOK, code, body)
	require.Len(t, c.tried, 1)
	assert.Equal(t, "dev", c.tried[0].GetNamespace())
	assert.Contains(t, body, "  namespace: dev")
	assert.Contains(t, body, "--namespace=dev --context=test")
	assert.NotContains(t, body, `name="mark"`)
	assert.Contains(t, body, "There is no button to create it, because svcat ui was started for namespace shop")

	order := v.ordered(url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}})
	code, body = v.send(v.request(http.MethodPost, createSmall+"?namespace=dev", order))
	assert.Contains(t, body, "The dry run was in namespace shop, and this page is about another one")
	assert.Equal(t, http.StatusConflict, code, "an order of a page about one namespace does nothing on that of another")
	assert.Empty(t, c.created)
}

// TestFlagIsQuoted: a kubeconfig may have a context with any namespace.
func TestFlagIsQuoted(t *testing.T) {
	t.Parallel()
	assert.Equal(t, " --namespace=shop", place{"shop", "shop"}.flag())
	assert.Equal(t, " --namespace='shop;ls'", place{"shop;ls", "shop;ls"}.flag())
}

// TestNamespacesAreLate: a page does without a list of namespaces that does not come.
func TestNamespacesAreLate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shop)
	c.late = true
	code, body := visit(t, c).get("/plans")
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, "azure/small")
	assert.Contains(t, body, `<input id="namespace" name="namespace" value="shop" required`)
}
