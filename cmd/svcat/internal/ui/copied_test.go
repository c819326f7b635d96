package ui

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/merge"
)

// vault is a plan with parameters that are secret, a text and a name that no page shows.
const vault = `
kind: ClusterServiceClass
metadata: {name: vault, uid: vault}
spec: {externalName: vault, externalID: vault, serviceType: vault, description: Vaults}
---
kind: ClusterServicePlan
metadata: {name: iron, uid: iron}
spec:
  externalName: iron
  externalID: iron
  clusterServiceClassRef: {name: vault}
  description: Of iron
  instanceCreateParameterSchema:
    properties:
      admin: {properties: {name: {type: string}, code: {type: integer, writeOnly: true}}}
      note: {type: string}
      pass: {type: string, format: password}
      "a\u200bb": {type: string}
`

// TestSecretsAreNotShownAgain: neither in the form nor in the table. The YAML has them:
// it says so.
func TestSecretsAreNotShownAgain(t *testing.T) {
	t.Parallel()
	v := visit(t, newCluster(t, vault))
	const page = "/plans/cluster/iron"
	code, body := v.post(page, url.Values{"name": {"v"}, "how": {"plan"}, "p/pass": {"hunter2"}, "p/admin/code": {"747474"}, "p/admin/name": {"root"}})
	require.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, "It would be admitted")
	assert.Contains(t, body, "your shell would keep it in its history", "a command would repeat it")
	before, yaml, found := strings.Cut(body, `id="yaml"`)
	require.True(t, found)
	yaml, after, _ := strings.Cut(yaml, "</pre>")
	for _, secret := range []string{"hunter2", "747474"} {
		assert.NotContains(t, before, secret)
		assert.Contains(t, yaml, secret)
		assert.NotContains(t, after, secret)
	}
	assert.Contains(t, before, "not shown")
	assert.Contains(t, after, "root", "what is none is kept in the form")
	assert.Contains(t, after, "What is secret belongs in a Secret")

	code, body = v.post(page, url.Values{"p/pass": {"hunter2"}, "p/admin/name": {"root"}})
	require.Equal(t, http.StatusUnprocessableEntity, code)
	assert.NotContains(t, body, "hunter2", "nor where something else is wrong")
	_, body = v.post(page, url.Values{"more": {`{"pass": "hunter2"}`}})
	assert.NotContains(t, body, "hunter2", "nor what was written as JSON")
}

// TestWithhold: the value of a secret parameter, above and below a row.
func TestWithhold(t *testing.T) {
	t.Parallel()
	object := map[string]any{"pass": "x", "name": "n"}
	list := parameters{Rows: []explain.Parameter{{Pointer: "/a", Value: object}, {Pointer: "/b/c", Value: 1}, {Pointer: "/bc", Value: 2}, {Pointer: "/d", Value: 3}}}
	list.withhold([]merge.Pointer{"/a/pass", "/b", "/d", "/d/e", "/a/none"})
	assert.Equal(t, map[string]any{"pass": withheld{}, "name": "n"}, list.Rows[0].Value)
	assert.JSONEq(t, `{"pass": "(not shown)", "name": "n"}`, compact(list.Rows[0].Value))
	assert.Equal(t, "x", object["pass"], "the object that is tried stays as it is")
	assert.Equal(t, withheld{}, list.Rows[1].Value)
	assert.Equal(t, 2, list.Rows[2].Value)
	assert.Equal(t, withheld{}, list.Rows[3].Value)
}

// TestFieldsAreNumbered: a parameter whose name no page shows is sent all the same, and
// newlines of a text stay.
func TestFieldsAreNumbered(t *testing.T) {
	t.Parallel()
	c := newCluster(t, vault)
	v := visit(t, c)
	_, body := v.post("/plans/cluster/iron", url.Values{"name": {"v"}, "how": {"type"}, "p/note": {"\r\none\r\ntwo"}})
	require.Len(t, c.tried, 1)
	assert.NotContains(t, body, `id="parameter-5" name="p5" value=`, "what has several lines keeps them when it is shown again")
	assert.Contains(t, body, ">\n\none\ntwo</textarea>", "browsers drop the first newline")
	parameters, ok := c.tried[0].Object["spec"].(map[string]any)["parameters"].(map[string]any)
	require.True(t, ok)
	assert.Equal(t, "\none\ntwo", parameters["note"])
	code, page := v.post("/plans/cluster/iron", url.Values{"name": {"v"}, "how": {"plan"}, "p/a\u200bb": {"5"}})
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, html.UnescapeString(page), "U+200B", "it is not left out in silence")
	assert.NotContains(t, page, "name=\"p/")

	hidden := visit(t, newCluster(t, strings.ReplaceAll(vault, "externalName: iron", "externalName: \"i\\u200bron\"")))
	code, page = hidden.post("/plans/cluster/iron", url.Values{"name": {"v"}, "how": {"plan"}})
	assert.Equal(t, http.StatusUnprocessableEntity, code, "nor is a plan's name what is shown of it")
	assert.Contains(t, html.UnescapeString(page), "U+200B")
}

// TestThePlanHasChanged: what was typed for one schema is not read by another.
func TestThePlanHasChanged(t *testing.T) {
	t.Parallel()
	old := visit(t, newCluster(t, shop))
	form := old.fill("/plans/cluster/small", url.Values{"name": {"db2"}, "p/size": {"5"}})
	for name, change := range map[string][2]string{
		"Schema": {"location: {type: string}", "cores: {type: integer}"},
		"Type":   {"serviceType: mysql", "serviceType: mariadb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, strings.ReplaceAll(shop, change[0], change[1]))
			v := visit(t, c)
			code, body := v.send(v.request(http.MethodPost, "/plans/cluster/small", form))
			assert.Equal(t, http.StatusConflict, code)
			assert.Contains(t, body, "The plan has changed since this form was shown")
			assert.Empty(t, c.tried)
		})
	}
}

// TestNobodyForgesACommand: what admission quotes of a broker is a denial, whatever it
// says, even in the authorizer's own words about something else.
func TestNobodyForgesACommand(t *testing.T) {
	t.Parallel()
	const mallory = `User "mallory" cannot create resource "clusterserviceplans" in API group "servicecatalog.k8s.io" at the cluster scope`
	for name, refusal := range map[string]error{
		"Webhook":      admission(`admission webhook "x" denied the request: class ` + mallory),
		"SameRequest":  admission(`admission webhook "x" denied the request: class User "mallory" cannot create resource "serviceinstances" in API group "servicecatalog.k8s.io" in the namespace "shop"`),
		"OtherRequest": forbidden(ofPlans, mallory),
		"OtherVerb":    forbidden(ofInstances, `User "mallory" cannot list resource "serviceinstances" in API group "servicecatalog.k8s.io" in the namespace "shop"`),
		"OtherPlace":   forbidden(ofInstances, `User "mallory" cannot create resource "serviceinstances" in API group "servicecatalog.k8s.io" in the namespace "other"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.True(t, apierrors.IsForbidden(refusal))
			c := newCluster(t, shop)
			c.refused = refusal
			code, body := visit(t, c).post("/plans/cluster/small", url.Values{"name": {"db2"}, "p/size": {"5"}})
			assert.Equal(t, http.StatusOK, code)
			assert.Contains(t, body, "It would be refused")
			assert.Contains(t, body, "mallory", "it is told as it was said")
			assert.NotContains(t, body, "kubectl create clusterrolebinding")
			assert.NotContains(t, body, "kubectl create rolebinding")
		})
	}
}

// TestAlike: JSON by what it says.
func TestAlike(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, yaml string
		want         bool
	}{
		"Same":    {"as it was meant", "a: [1, 1.5e3, {b: null}]\nc: x\n", true},
		"Number":  {"however it is written", "a: [1.0, 1500, {b: null}]\nc: x\n", true},
		"Other":   {"another number", "a: [2, 1500, {b: null}]\nc: x\n", false},
		"Missing": {"a key is lost", "a: [1, 1500, {}]\nc: x\n", false},
		"Short":   {"an entry is lost", "a: [1, 1500]\nc: x\n", false},
		"Kind":    {"a text is no number", "a: ['1', 1500, {b: null}]\nc: x\n", false},
		"NoYAML":  {"nothing can be read", "a: [", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meant, err := merge.Decode([]byte(`{"a": [1, 1.5e3, {"b": null}], "c": "x"}`))
			require.NoError(t, err)
			assert.Equal(t, tc.want, survives(meant, tc.yaml), tc.reason)
		})
	}
}
