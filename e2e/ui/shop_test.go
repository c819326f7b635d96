package ui_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// A shop offers mysql: small is the cluster's default, and large costs more.
const shop = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: azure-SUFFIX}
spec:
  externalName: azure-SUFFIX
  externalID: azure-SUFFIX
  serviceType: mysql-SUFFIX
  description: MySQL in the cloud, kept for you
  bindable: true
  planUpdatable: true
  defaultProvisionParameters: {location: eastus, network: {cidr: 10.0.0.0/8}}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata:
  name: small-SUFFIX
  annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}
  labels: {attributes.servicecatalog.k8s.io/Cores: "2", attributes.servicecatalog.k8s.io/Memory: 4Gi}
spec:
  externalName: small
  externalID: small-SUFFIX
  clusterServiceClassRef: {name: azure-SUFFIX}
  description: Two cores for a shop of one
  defaultProvisionParameters: {tier: basic}
  externalMetadata:
    displayName: Small and steady
    bullets: [Two cores, Backups for a week]
    costs: [{amount: {usd: 24.5, eur: 21}, unit: MONTHLY}]
  instanceCreateParameterSchema:
    type: object
    additionalProperties: false
    required: [size]
    properties:
      size: {type: integer, minimum: 1, maximum: 64, title: Disk in GiB}
      location: {type: string, description: Where it stands}
      tier: {type: string, enum: [basic, premium]}
      backups: {type: boolean, default: true}
      ratio: {type: number}
      hosts: {type: array, items: {type: string}}
      network: {type: object, properties: {cidr: {type: string}, public: {type: boolean}}}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata:
  name: large-SUFFIX
  labels: {attributes.servicecatalog.k8s.io/Cores: "16", attributes.servicecatalog.k8s.io/Memory: 64Gi}
spec:
  externalName: large
  externalID: large-SUFFIX
  clusterServiceClassRef: {name: azure-SUFFIX}
  description: Sixteen cores
  externalMetadata: {costs: [{amount: {usd: 310}, unit: MONTHLY}]}
`

// recorded waits until the keeper has recorded the default, which explain tells.
func (e *testEnv) recorded() {
	e.Helper()
	require.NoError(e, wait.Eventually(e.Context(), func() (bool, error) {
		found := &v1beta1.ClusterServiceType{}
		if err := e.Client().Get(e.Context(), client.ObjectKey{Name: e.Name("mysql")}, found); err != nil {
			return false, err
		}
		return found.Spec.DefaultPlanRef != nil && found.Status.Confirmed, nil
	}))
}

// TestFromATypeToYAML: a person who knows nothing but what he wants finds the type, sees
// which plan it gives and why, fills in the form, sees what admission makes of it, and
// copies YAML that gives exactly that.
func TestFromATypeToYAML(t *testing.T) {
	t.Parallel()
	e, b := newEnv(t), newBrowser(t)
	e.Apply(shop)
	e.recorded()
	address := e.serve(e.Kubeconfig())
	mysql, small := e.Name("mysql"), e.Name("azure")+"/small"

	b.open(address, "Types on offer")
	assert.Contains(t, b.text("[aria-labelledby='type-"+mysql+"']"), "→ "+small+" (default of the cluster, recorded in ClusterServiceType "+mysql+")")

	b.click(mysql, mysql)
	plans := b.rows("table")
	require.Len(t, plans, 2)
	assert.Contains(t, plans[0][0], e.Name("azure")+"/large")
	assert.Equal(t, []string{"Sixteen cores", "Cores=16, Memory=64Gi", "310 usd / MONTHLY", "yes", "yes", "cluster"}, plans[0][1:])
	assert.Contains(t, plans[1][0], small+" chosen")
	assert.Equal(t, "21 eur or 24.5 usd / MONTHLY", plans[1][3])
	assert.Equal(t, e.Svcat("explain", mysql), b.text("pre.tree"), "the words of svcat explain")

	b.click("Configure…", small)
	b.fill("size", "many")
	b.fill("Name of the instance", "shop-db")
	b.do(clickOn("//button[normalize-space()='Try it: dry run']"))
	b.sees("This is no whole number")
	b.fill("size", "20")
	b.fill("hosts", "a.example\nb.example")
	b.choose("tier", `"premium"`)
	b.send("It would be admitted")
	shown := b.rows("#result table.parameters")
	assert.Equal(t, [][]string{
		{"hosts", `["a.example","b.example"]`, "user"},
		{"location", `"eastus"`, "class"},
		{"network", `{"cidr":"10.0.0.0/8"}`, "class"},
		{"size", "20", "user"},
		{"tier", `"premium"`, "user"},
	}, shown)
	assert.Contains(t, b.text("#result .gives"), small+" (default of the cluster)")
	yaml := b.text("#yaml")
	assert.NotContains(t, yaml, "eastus", "only what was set")
	assert.YAMLEq(t, yaml, e.asYAML(b.text("#svcat")), "the command sends the same")
	assert.Contains(t, yaml, "serviceType: "+mysql)
	assert.Error(t, e.Client().Get(t.Context(), client.ObjectKey{Namespace: e.Namespace, Name: "shop-db"}, &v1beta1.ServiceInstance{}), "nothing was created")

	e.Apply(yaml)
	stored := &v1beta1.ServiceInstance{}
	require.NoError(t, e.Client().Get(t.Context(), client.ObjectKey{Namespace: e.Namespace, Name: "shop-db"}, stored))
	assert.Equal(t, e.Name("small"), stored.Spec.ClusterServicePlanRef.Name)
	values := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(stored.Spec.Parameters.Raw, &values))
	require.Len(t, values, len(shown))
	for _, row := range shown {
		assert.JSONEq(t, row[1], string(values[row[0]]), row[0])
	}

	e.Apply("{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, metadata: {name: shop-access}, spec: {instanceRef: {name: shop-db}}}")
	b.click("Instances", "Instances and bindings")
	b.click("shop-db", "shop-db")
	assert.Equal(t, shown, b.rows("table.parameters"), "what was shown before is what it got")
	b.sees("Created now it would be decided alike.")
	b.click("shop-access", "shop-access")
	b.sees("The Secret is not read here")
	b.behaved(address)
}

// asYAML is the manifest that a svcat command sends, which a page shows for a shell.
func (e *testEnv) asYAML(command string) string {
	e.Helper()
	line, is := strings.CutPrefix(command, "svcat ")
	require.True(e, is, command)
	cmd := exec.CommandContext(e.Context(), "sh", "-c", `"$SVCAT" `+line+" --dry-run=client -o yaml")
	cmd.Env = append(e.Environment(), "SVCAT="+e.Binary("svcat"))
	out, err := cmd.Output()
	require.NoError(e, err, line)
	return strings.ReplaceAll(string(out), "status: {}\n", "")
}

// TestADenialIsAdmissionsOwn: what the plan's schema refuses is told in admission's words.
func TestADenialIsAdmissionsOwn(t *testing.T) {
	t.Parallel()
	e, b := newEnv(t), newBrowser(t)
	e.Apply(shop)
	address := e.serve(e.Kubeconfig())
	b.open(address, "Types on offer")
	b.click("All plans", "All plans")
	b.click(e.Name("azure")+"/small", e.Name("azure")+"/small")
	b.fill("size", "65")
	b.send("It would be refused")
	denial := e.KubectlFails(b.text("#yaml"), "create", "-f", "-")
	assert.Contains(t, b.text("#result .notice"), "spec.parameters/size")
	assert.Contains(t, b.text("#parameter-1-problem"), "at most 64", "it stands at its field, too")
	assert.Contains(t, oneLine(denial), oneLine(b.text("#result .notice")), "kubectl is told the same")
	b.behaved(address)
}
