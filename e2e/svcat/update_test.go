package svcat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestUpdateAndTree: parameters and the plan of an instance are changed, and told by name; what
// belongs to what is shown; a type that is nearly right is named.
func TestUpdateAndTree(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Apply(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceClass, metadata: {name: own}, spec: {externalName: own, externalID: NAME(own), description: x, bindable: true, planUpdatable: true, serviceType: ownsql}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServicePlan, metadata: {name: small}, spec: {externalName: small, externalID: NAME(small), description: x, serviceClassRef: {name: own}}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServicePlan, metadata: {name: large}, spec: {externalName: large, externalID: NAME(large), description: x, serviceClassRef: {name: own}}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: db}, spec: {serviceClassExternalName: own, servicePlanExternalName: small, parameters: {big: 9007199254740993, location: s3cr3t}}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, metadata: {name: app}, spec: {instanceRef: {name: db}}}
`)
	update := func(args ...string) outcome {
		return e.run("", append([]string{"update", "instance", "db", "-n", e.Namespace}, args...)...)
	}
	got := update("--params-json", `{"size": 9007199254740995}`, "--plan", "large", "--dry-run=server")
	assert.Equal(t, "instance \"db\" was updated: parameter size set; plan small becomes large (server dry run)\n", got.out, got.err)
	got = update("--params-json", `{"size": 9007199254740995}`, "--unset", "location", "--plan", "large")
	assert.Equal(t, "instance \"db\" was updated: parameter size set; parameter location taken away; plan small becomes large\n", got.out, got.err)
	assert.NotContains(t, got.out+got.err, "s3cr3t")
	got = update("--plan", "own/large", "--params-json", `{"size": 9007199254740995}`, "-o", "json")
	assert.Contains(t, got.out, `"big": 9007199254740993`)
	assert.Contains(t, got.out, `"size": 9007199254740995`)
	assert.NotContains(t, got.out, "s3cr3t")
	got = update("--unset", "sise")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, `--unset: no parameter "sise"; did you mean size? parameters: big, size`)

	got = e.run("", "tree", "instance/db", "-n", e.Namespace)
	assert.Zero(t, got.code, got.err)
	assert.Contains(t, got.out, "├─ plan own/large\n")
	assert.Contains(t, got.out, "└─ binding app ")
	assert.Contains(t, got.out, "   └─ secret app\n")

	e.Eventually(func() (bool, error) {
		return e.run("", "describe", "type", "ownsql", "-n", e.Namespace).code == 0, nil
	})
	e.Eventually(func() (bool, error) {
		got = e.run("", "provision", "other", "-n", e.Namespace, "--type", "ownsqll")
		return strings.Contains(got.err, `"ownsqll": no plan is of that type; did you mean "ownsql"?`), nil
	})
	other := e.run("", "provision", "other", "-n", "default", "--type", "ownsqll")
	assert.NotContains(t, other.err, `"ownsql"`, "a type of another namespace is not told")
}
