package ui

import (
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A shop offers mysql: small is the default, large another.
const shop = `
kind: ClusterServiceClass
metadata: {name: azure, uid: azure}
spec: {externalName: azure, externalID: azure, serviceType: mysql, description: MySQL, bindable: true, planUpdatable: true, defaultProvisionParameters: {location: eastus}}
---
kind: ClusterServicePlan
metadata: {name: small, uid: small, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}, labels: {attributes.servicecatalog.k8s.io/Cores: "2"}}
spec:
  externalName: small
  externalID: small
  clusterServiceClassRef: {name: azure}
  description: For a shop of one
  free: true
  planUpdatable: false
  defaultProvisionParameters: {tier: basic}
  instanceCreateParameterSchema: {type: object, required: [size], properties: {size: {type: integer, maximum: 64}, location: {type: string}}}
---
kind: ClusterServicePlan
metadata: {name: large, uid: large}
spec: {externalName: large, externalID: large, clusterServiceClassRef: {name: azure}, description: For many, externalMetadata: {costs: [{amount: {usd: 310.5}, unit: MONTHLY}]}}
---
kind: ServiceClass
metadata: {name: mine, namespace: shop, uid: mine}
spec: {externalName: mine, externalID: mine, description: Ours}
---
kind: ServicePlan
metadata: {name: own, namespace: shop, uid: own}
spec: {externalName: own, externalID: own, serviceClassRef: {name: mine}, description: Our own}
---
kind: ServiceInstance
metadata:
  name: db
  namespace: shop
  uid: db
  annotations: {servicecatalog.kubernetes.io/applied-defaults: '{"rule":"cluster-default","class":"azure","plan":"small","from":{"/location":"class","/password":"plan"},"removed":["/tier"]}'}
spec:
  serviceType: mysql
  clusterServiceClassRef: {name: azure}
  clusterServicePlanRef: {name: small}
  parameters: {size: 5, location: eastus, password: default, tier: null}
  parametersFrom: [{secretKeyRef: {name: more, key: values}}]
status: {conditions: [{type: Ready, status: "True", reason: ProvisionedSuccessfully, message: It is there}], externalProperties: {parameters: {size: 5, location: eastus, password: <redacted>, token: <redacted>}}}
---
kind: ServiceBinding
metadata: {name: access, namespace: shop, uid: access, annotations: {servicecatalog.kubernetes.io/applied-defaults: '{"rule":"instance","transforms":["class"]}'}}
spec: {instanceRef: {name: db}, secretName: credentials, clusterServicePlanRef: {name: small}, parameters: {role: reader}, secretTransforms: [{addKey: {key: hidden, value: aHVudGVyMg==}}]}
`

// TestPages: each page says what it is for, and none what it must not.
func TestPages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, path string
		says, not    []string
	}{
		"Types": {
			reason: "who is the default and why", path: "/",
			says: []string{"mysql", "azure/small (default of the cluster, by annotation)", "2 candidates", "azure/large (cluster)", "not the default", `href="/plans/cluster/small?type=mysql"`, `<option value="shop" selected>shop</option>`, "of context test"},
		},
		"Type": {
			reason: "the words of explain, and the plans", path: "/types/mysql",
			says: []string{"mysql in namespace shop → azure/small", "size: is required", "├─", "Cores=2", "310.5 usd / MONTHLY", "For many", "<code>svcat explain mysql --namespace=shop --context=test</code>"},
			not:  []string{"azure/own", `role="note"`},
		},
		"Plans": {
			reason: "those without a type, too", path: "/plans", says: []string{"azure/small", "mine/own", "ns (shop)", "<span class=\"chip good\">free</span>", "3 of 3 plans."},
		},
		"Free":       {reason: "by what they cost", path: "/plans?free=yes", says: []string{"azure/small", "1 of 3 plans.", `value="yes" selected`}, not: []string{"azure/large", "mine/own"}},
		"NotFree":    {reason: "by what they cost", path: "/plans?free=no", says: []string{"azure/large", "mine/own"}, not: []string{"azure/small</a>"}},
		"Bindable":   {reason: "by what can be bound", path: "/plans?bindable=no", says: []string{"mine/own", "1 of 3 plans."}, not: []string{"azure/large", "azure/small"}},
		"OfType":     {reason: "by type", path: "/plans?type=mysql&free=", says: []string{"azure/small", "2 of 3 plans.", `value="mysql" selected`}, not: []string{"mine/own"}},
		"OfNone":     {reason: "a type that is gone is wrong for none", path: "/plans?type=oracle", says: []string{"No plan fits all filters", `value="oracle" selected`, `href="/plans"`}, not: []string{"<table"}},
		"OwnPlans":   {reason: "by scope", path: "/plans?scope=namespace", says: []string{"mine/own", "1 of 3 plans."}, not: []string{"azure/large"}},
		"OfCluster":  {reason: "by scope", path: "/plans?scope=cluster", says: []string{"azure/small", "2 of 3 plans."}, not: []string{"mine/own"}},
		"AllFilters": {reason: "all must fit", path: "/plans?free=yes&bindable=yes&type=mysql&scope=cluster", says: []string{"azure/small", "1 of 3 plans.", `href="/plans?free=yes&amp;bindable=yes&amp;type=mysql&amp;scope=cluster">Refresh`}},
		"Age":        {reason: "when it was read, and the way to read it again", path: "/types/mysql", says: []string{`<time datetime="2026-01-02T03:04:05Z" data-age>03:04:05 UTC</time>`, `<a href="/types/mysql">Refresh</a>`}},
		"Plan": {
			reason: "a form", path: "/plans/cluster/small?type=mysql",
			says: []string{`value="type" checked`, `value="my-mysql"`, "default of the cluster", `name="p1"`, `inputmode="numeric"`, "at most 64", `&#34;eastus&#34;, by the class`, "required", `<span class="no">no</span>`},
		},
		"PlanByName": {reason: "by name, where no type was asked for", path: "/plans/cluster/small", says: []string{`value="plan" checked`}},
		"PlanOfNamespace": {
			reason: "no type, no schema: JSON alone", path: "/plans/namespace/own", says: []string{"mine/own", "Parameters as a JSON object"}, not: []string{`value="type"`},
		},
		"Instances": {reason: "state and plan", path: "/instances", says: []string{"db", "Ready", "azure/small", "access", "credentials"}},
		"Instance": {
			reason: "where each parameter came from", path: "/instances/db",
			says: []string{"default of the cluster", "from-class", "from-user", "takes the default away", "Secret more, key values", "<code>token</code>", "not shown", "It is there", "access", "What would differ", "so: "},
			not:  []string{"&lt;redacted&gt;", ">&#34;default&#34;<"},
		},
		"Binding": {
			reason: "its Secret is named", path: "/bindings/access", says: []string{"credentials", "addKey hidden", "from-class", "<code>svcat describe binding access --namespace=shop --context=test</code>"}, not: []string{"hunter2", "aHVudGVyMg"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, body := visit(t, newCluster(t, shop)).get(tc.path)
			require.Equal(t, http.StatusOK, code, body)
			for _, text := range tc.says {
				assert.Contains(t, strings.ToLower(body), strings.ToLower(text), tc.reason)
			}
			for _, text := range tc.not {
				assert.NotContains(t, body, text, tc.reason)
			}
		})
	}
}

// TestTry: what admission makes of the form, and the YAML of what was set.
func TestTry(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		form      url.Values
		code      int
		tried     int
		says, not []string
	}{
		"ByType": {
			reason: "origins and YAML", form: url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}}, code: http.StatusOK, tried: 1,
			says: []string{"svcat provision db2 --type=mysql --params-json=&#39;{&#34;size&#34;:5}&#39; --namespace=shop --context=test</pre>", "It would be admitted", "azure/small (default of the cluster)", "from-user", "from-plan", "from-class", "  serviceType: mysql\n", "    size: 5\n", "namespace: shop", "mysql resolved to plan azure/small (default)"},
			not:  []string{"ExternalName: small", "location: eastus", `name="mark"`},
		},
		"ByName": {
			reason: "the plan by its names", form: url.Values{"name": {"db2"}, "how": {"plan"}, "p/size": {"5"}}, code: http.StatusOK, tried: 1,
			says: []string{"svcat provision db2 --class=azure --plan=small --params-json=", "clusterServiceClassExternalName: azure", "clusterServicePlanExternalName: small", "azure/small (named)"}, not: []string{"serviceType:"},
		},
		"Denied": {
			reason: "admission's words", form: url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"65"}}, code: http.StatusOK, tried: 1,
			says: []string{"It would be refused", "The ServiceInstance &#34;db2&#34; is invalid", "must be at most 64", "size: 65", `aria-describedby="parameter-1-hint parameter-1-problem" aria-invalid="true"`, `<p class="problem" id="parameter-1-problem">must be at most 64`}, not: []string{"What it would get"},
		},
		"More": {
			reason: "JSON, a null and a Secret", form: url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}, "more": {`{"tier": null, "tags": ["a"]}`}, "secret": {"more"}, "key": {"values"}}, code: http.StatusOK, tried: 1,
			says: []string{"tier: null", "It holds a null", "takes the default away", "Secret more, key values", "secretKeyRef:", "--secret=&#39;more[values]&#39;"},
		},
		"Problem": {
			reason: "nothing is tried", form: url.Values{"name": {"db2"}, "p/size": {"five"}}, code: http.StatusUnprocessableEntity,
			says: []string{"This is no whole number", "1 field is not right: nothing was tried", `value="five"`, `aria-invalid="true"`},
		},
		"Twice": {
			reason: "one value for one parameter", form: url.Values{"name": {"db2"}, "p/size": {"5"}, "more": {`{"size": 6}`}}, code: http.StatusUnprocessableEntity, says: []string{"This is filled in above, too: size."},
		},
		"NoObject":   {reason: "parameters are an object", form: url.Values{"name": {"db2"}, "more": {`[1]`}}, code: http.StatusUnprocessableEntity, says: []string{"This is no JSON object"}},
		"NoName":     {reason: "an instance has a name", form: url.Values{"p/size": {"5"}}, code: http.StatusUnprocessableEntity, says: []string{"The instance needs a name."}},
		"MergeKey":   {reason: "a key that YAML reads as another", form: url.Values{"name": {"db2"}, "p/size": {"5"}, "more": {`{"a": {"<<": {"b": 1}}}`}}, code: http.StatusUnprocessableEntity, says: []string{"such as the key &lt;&lt;: it cannot be copied from here. Nothing was tried."}},
		"MergeValue": {reason: "nor is it lost", form: url.Values{"name": {"db2"}, "p/size": {"5"}, "more": {`{"<<": 5}`}}, code: http.StatusUnprocessableEntity, says: []string{"such as the key &lt;&lt;"}},
		"HalfSecret": {reason: "name and key", form: url.Values{"name": {"db2"}, "secret": {"more"}}, code: http.StatusUnprocessableEntity, says: []string{"named together with its key"}},
		"BadName":    {reason: "the API server's own words", form: url.Values{"name": {"No Name"}, "p/size": {"5"}}, code: http.StatusOK, tried: 1, says: []string{"No Name"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, shop)
			code, body := visit(t, c).post("/plans/cluster/small", tc.form)
			require.Equal(t, tc.code, code, tc.reason)
			assert.Len(t, c.tried, tc.tried)
			for _, text := range tc.says {
				assert.Contains(t, body, text, tc.reason)
			}
			for _, text := range tc.not {
				assert.NotContains(t, body, text, tc.reason)
			}
		})
	}
}

// TestRightsThatAreMissing: the verb and what it is on, and who can mend it. What may
// be seen is shown.
func TestRightsThatAreMissing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, path string
		denied       []string
		form         url.Values
		code         int
		says         []string
	}{
		"Nothing": {
			reason: "all that is missing at once", path: "/", denied: []string{"all"}, code: http.StatusForbidden,
			says: []string{
				"You may not list clusterserviceplans in the cluster.", "You may not list serviceplans in namespace shop.", "You may not list clusterservicetypes in the cluster.",
				"kubectl create clusterrolebinding servicecatalog-catalog-view-eve --clusterrole=servicecatalog-catalog-view --user=eve",
				"kubectl create rolebinding servicecatalog-view-eve --namespace=shop --clusterrole=servicecatalog-view --user=eve",
			},
		},
		"OwnOnly": {reason: "the namespace's plans", path: "/plans", denied: []string{"list clusterserviceplans", "list clusterserviceclasses"}, code: http.StatusOK, says: []string{"mine/own", "You may not list clusterserviceplans in the cluster."}},
		"Policies": {
			reason: "explain's own note", path: "/", denied: []string{"list provisioningpolicies"}, code: http.StatusOK, says: []string{"azure/small", "you may not list provisioningpolicies"},
		},
		"OnePlan":    {reason: "one plan", path: "/plans/cluster/small", denied: []string{"get clusterserviceplans"}, code: http.StatusForbidden, says: []string{"You may not get clusterserviceplans"}},
		"NoRecords":  {reason: "whether it is a default is not known", path: "/plans/cluster/small", denied: []string{"list clusterservicetypes"}, code: http.StatusOK, says: []string{"azure/small"}},
		"Instances":  {reason: "bindings are shown", path: "/instances", denied: []string{"list serviceinstances"}, code: http.StatusOK, says: []string{"You may not list serviceinstances in namespace shop.", "access", "Not shown."}},
		"NoneOfBoth": {reason: "none", path: "/instances", denied: []string{"list serviceinstances", "list servicebindings"}, code: http.StatusForbidden, says: []string{"You may not list serviceinstances", "You may not list servicebindings"}},
		"Instance":   {reason: "its parameters are its own", path: "/instances/db", denied: []string{"get clusterserviceplans", "list servicebindings"}, code: http.StatusOK, says: []string{"from-user", "You may not get clusterserviceplans", "You may not list servicebindings"}},
		"Create": {
			reason: "a dry run takes the right to create", path: "/plans/cluster/small", denied: []string{"create serviceinstances"}, form: url.Values{"name": {"db2"}, "p/size": {"5"}}, code: http.StatusOK,
			says: []string{"You may not create serviceinstances in namespace shop", "not even as a dry run", "--clusterrole=servicecatalog-edit", "size: 5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := visit(t, newCluster(t, shop, tc.denied...))
			code, body := v.get(tc.path)
			if tc.form != nil {
				code, body = v.post(tc.path, tc.form)
			}
			assert.Equal(t, tc.code, code, tc.reason)
			for _, text := range tc.says {
				assert.Contains(t, strings.Join(strings.Fields(tag.ReplaceAllString(html.UnescapeString(body), "")+body), " "), text, tc.reason)
			}
		})
	}
}

// tag is a tag of HTML.
var tag = regexp.MustCompile(`<[^>]*>`)

// TestTheClusterIsAway: what the connection says, on every page.
func TestTheClusterIsAway(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shop)
	c.broken = errors.New("connection refused")
	v := visit(t, c)
	for _, path := range []string{"/", "/types/mysql", "/plans", "/plans/cluster/small", "/instances", "/instances/db", "/bindings/access"} {
		code, body := v.get(path)
		assert.Equal(t, http.StatusBadGateway, code, path)
		assert.Contains(t, body, "connection refused", path)
	}
}
