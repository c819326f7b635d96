package simulate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation"
)

// shop is a file of svcat snapshot: a class with two plans, of which one is the default of the
// type, and an instance.
const shop = `
{"kind":"CatalogSnapshot","version":"defaultplan/v1","taken":"2026-11-28T10:00:00Z","parameters":false,"webhook":{"unresolved":"reject","schemaCheck":"enforce","featureGates":{}},"lists":[],"unknown":["the values of parameters: they are not in the snapshot"]}
{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"dev","resourceVersion":"1"}}
{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServiceBroker","metadata":{"name":"azure","uid":"b","resourceVersion":"1"},"spec":{"url":"https://b.example.com"}}
{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServiceClass","metadata":{"name":"db","uid":"c","resourceVersion":"1","ownerReferences":[{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServiceBroker","name":"azure","uid":"b","controller":true}]},"spec":{"clusterServiceBrokerName":"azure","externalName":"azure-mysql","externalID":"db","description":"d","serviceType":"mysql","planUpdatable":true,"bindable":true}}
{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServicePlan","metadata":{"name":"small","uid":"s","resourceVersion":"1","ownerReferences":[{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServiceBroker","name":"azure","uid":"b","controller":true}],"annotations":{"servicecatalog.kubernetes.io/is-default-plan":"true"}},"spec":{"clusterServiceBrokerName":"azure","externalName":"small","externalID":"small","description":"d","clusterServiceClassRef":{"name":"db"}}}
{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServicePlan","metadata":{"name":"large","uid":"l","resourceVersion":"1","ownerReferences":[{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServiceBroker","name":"azure","uid":"b","controller":true}]},"spec":{"clusterServiceBrokerName":"azure","externalName":"large","externalID":"large","description":"d","clusterServiceClassRef":{"name":"db"}}}
{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ClusterServiceType","metadata":{"name":"mysql","uid":"t","resourceVersion":"1"},"spec":{"defaultPlanRef":{"name":"small"}}}
{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"db","namespace":"dev","uid":"i","resourceVersion":"1"},"spec":{"externalID":"e","serviceType":"mysql","parameters":{"password":"<redacted>"},"clusterServiceClassExternalName":"azure-mysql","clusterServicePlanExternalName":"small","clusterServiceClassRef":{"name":"db"},"clusterServicePlanRef":{"name":"small"}}}
`

// write writes a snapshot and other files, and returns their folder.
func write(t *testing.T, others map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range others {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "shop.snapshot"), []byte(strings.TrimPrefix(shop, "\n")), 0o600))
	return folder
}

// TestWithoutACluster: each kind of change has its answer and its exit code.
func TestWithoutACluster(t *testing.T) {
	t.Parallel()
	folder := write(t, map[string]string{
		"deny.yaml":   `{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ProvisioningPolicy, metadata: {name: none}, spec: {action: Deny, message: ask the operator, subjects: [{serviceType: mysql}]}}`,
		"wrong.yaml":  `{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ProvisioningPolicy, metadata: {name: none}, spec: {action: Deny, maxInstances: 1, subjects: [{serviceType: mysql}]}}`,
		"azure.json":  `{"services":[{"id":"db","name":"azure-mysql","description":"d","bindable":true,"plan_updateable":true,"plans":[{"id":"large","name":"large","description":"d"}]}]}`,
		"broken.json": `{"services":7}`,
	})
	file := func(name string) string { return filepath.Join(folder, name) }
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		want   []string
	}{
		"Same":        {"it is the default already", []string{"--default=azure-mysql/small"}, 0, []string{"Nothing changes.\n"}},
		"Default":     {"the type means another plan", []string{"--default=azure-mysql/large"}, 1, []string{"azure-mysql/small", "azure-mysql/large", "cluster-default", "whether schemas of plans take parameters: none is asked"}},
		"InNamespace": {"-n asks for the default of a namespace", []string{"--default=azure-mysql/large", "-n", "dev"}, 2, []string{`class "azure-mysql" is not in namespace "dev"`}},
		"Policy":      {"nothing may be ordered", []string{"-f", file("deny.yaml")}, 1, []string{"refused: ", `ProvisioningPolicy "none"`}},
		"Catalog":     {"the plan of an instance goes", []string{"--catalog=azure=" + file("azure.json")}, 1, []string{"PlanGone"}},
		"Delete":      {"an instance that nothing holds goes", []string{"--delete=instance/db", "-n", "dev"}, 1, []string{"Deleted"}},
		"Refused":     {"a change that admission refuses", []string{"-f", file("wrong.yaml")}, 2, []string{"the change of ProvisioningPolicy none", "maxInstances"}},
		"Absent":      {"what is not there cannot be deleted", []string{"--delete=plan/tiny"}, 2, []string{`there is none of that name`}},
		"NoPlan":      {"nor be the default", []string{"--default=azure-mysql/tiny"}, 2, []string{"tiny"}},
		"NoBroker":    {"nor be read again", []string{"--catalog=aws=" + file("azure.json")}, 2, []string{"aws"}},
		"Broken":      {"a catalog that is none", []string{"--catalog=azure=" + file("broken.json")}, 2, []string{"catalog"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, _, err := run(t, "", append([]string{"--snapshot", file("shop.snapshot")}, tc.args...)...)
			text := out
			if err != nil {
				text += cli.Message(err)
			}
			assert.Equal(t, tc.code, cli.ExitCode(err), "%s: %s", tc.reason, text)
			for _, words := range tc.want {
				assert.Contains(t, text, words, tc.reason)
			}
			if out != "" {
				assert.Contains(t, out, "\nNot known\n  the values of parameters: they are not in the snapshot\n")
			}
		})
	}
}

// TestChangesAreMadeInTheirOrder: a manifest that a later change deletes has no effect.
func TestChangesAreMadeInTheirOrder(t *testing.T) {
	t.Parallel()
	folder := write(t, map[string]string{"deny.yaml": `{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ProvisioningPolicy, metadata: {name: none}, spec: {action: Deny, subjects: [{serviceType: mysql}]}}`})
	snapshot := "--snapshot=" + filepath.Join(folder, "shop.snapshot")
	out, _, err := run(t, "", snapshot, "-f", filepath.Join(folder, "deny.yaml"), "--delete=policy/none", "-o", "json")
	require.NoError(t, err)
	report := &simulation.Report{}
	require.NoError(t, json.Unmarshal([]byte(out), report))
	assert.False(t, report.Changes())
	_, _, err = run(t, "", snapshot, "--delete=policy/none", "-f", filepath.Join(folder, "deny.yaml"))
	assert.Equal(t, 2, cli.ExitCode(err), "what is not there yet cannot be deleted")
}

// TestOptionsOfTheSnapshot: the command line goes before what the file says.
func TestOptionsOfTheSnapshot(t *testing.T) {
	t.Parallel()
	folder := write(t, nil)
	order := `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","metadata":{"name":"new"},"spec":{"serviceType":"redis"}}`
	snapshot := "--snapshot=" + filepath.Join(folder, "shop.snapshot")
	_, _, err := run(t, order, snapshot, "-n", "dev", "-f", "-")
	assert.Equal(t, 2, cli.ExitCode(err), "the webhook rejects what nothing resolves")
	out, _, err := run(t, order, snapshot, "-n", "dev", "-f", "-", "--unresolved=wait")
	assert.Equal(t, 1, cli.ExitCode(err), "and another has it wait: %s", out)
}

// TestOneObjectTwice: of one -f, manifests of one object are refused with both places.
func TestOneObjectTwice(t *testing.T) {
	t.Parallel()
	deny := func(message string) string {
		return `{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ProvisioningPolicy, metadata: {name: none}, spec: {action: Deny, message: ` + message + `, subjects: [{serviceType: mysql}]}}` + "\n"
	}
	folder := write(t, map[string]string{"a.yaml": deny("one"), "b.yaml": deny("two"), "both.yaml": deny("one") + "---\n" + deny("two")})
	file := func(name string) string { return filepath.Join(folder, name) }
	place := file("both.yaml") + ", document "
	_, _, err := run(t, "", "-f", file("both.yaml"), "--snapshot="+file("shop.snapshot"))
	assert.Equal(t, 2, cli.ExitCode(err))
	require.EqualError(t, err, place+`2 (line 2): ProvisioningPolicy "none" is given twice, and first at `+place+`1 (line 1); leave one of them out`)
	out, _, err := run(t, "", "-f", file("a.yaml"), "-f", file("b.yaml"), "--snapshot="+file("shop.snapshot"))
	assert.Equal(t, 1, cli.ExitCode(err), "each -f is a change, made in order")
	assert.Contains(t, out, "two")
	_, _, err = run(t, "", "-f", file("a.yaml"), "--delete=policy/none", "-f", file("b.yaml"), "--snapshot="+file("shop.snapshot"))
	assert.Equal(t, 1, cli.ExitCode(err), "it is made again after its deletion")
}
