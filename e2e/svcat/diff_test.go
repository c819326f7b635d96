package svcat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// compared is the manifest that is compared.
const compared = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: shop-db, namespace: NAMESPACE}
spec: {clusterServiceClassExternalName: CLASS, clusterServicePlanExternalName: basic50, parameters: {location: westus}}
`

// TestDiff: what svcat diff says of a manifest is what comes of it, and nothing comes of svcat
// diff.
func TestDiff(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	manifest := strings.NewReplacer("NAMESPACE", s.Namespace, "CLASS", s.Name("azure-mysql")).Replace(compared)
	edited := func(oldnew ...string) string { return strings.NewReplacer(oldnew...).Replace(manifest) }
	diff := func(code int, manifest string, flags ...string) outcome {
		t.Helper()
		got := s.run(manifest, append([]string{"diff", "-f", "-"}, flags...)...)
		require.Equal(t, code, got.code, "%s\n%s", got.out, got.err)
		return got
	}
	const secret = "\n---\n{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {password: hunter2}}\n"
	got := diff(1, manifest+secret)
	assert.True(t, strings.HasPrefix(got.out, "# ServiceInstance "+s.Namespace+"/shop-db is new\n"+
		"# at the broker: provision, of plan basic50\n# cost: unknown\ndiff /dev/null "), got.out)
	assert.Contains(t, got.out, "\n+    location: westus\n")
	assert.Contains(t, got.out, "\n+    resourceGroup: default\n", "with the defaults")
	assert.NotContains(t, got.out, "externalID", "an ID is made up each time")
	assert.Contains(t, got.err, "left out: 1 Secret\n")
	assert.NotContains(t, got.out+got.err, "hunter2")
	assert.True(t, s.isGone(&api.ServiceInstance{}, "shop-db"), "nothing is stored")
	assert.Equal(t, got.out, diff(1, manifest, "--server-side").out)

	s.Kubectl(manifest, "apply", "-f", "-")
	s.Svcat("touch", "instance", "shop-db", "--wait")
	assert.Empty(t, diff(0, manifest).out)
	assert.Empty(t, diff(0, manifest, "-n", s.Namespace).err, "nor a word")

	labelled := diff(1, edited("{name: shop-db,", "{name: shop-db, labels: {team: shop},"))
	assert.Contains(t, labelled.out, "# at the broker: nothing\n# cost: unchanged, unknown\n")
	moved := diff(1, edited("westus", "eastus"))
	assert.Contains(t, moved.out, "# at the broker: PATCH of parameters /location\n# cost: unchanged, unknown\n")
	assert.Contains(t, moved.out, "\n-    location: westus\n")
	assert.Contains(t, moved.out, "\n+    location: eastus\n")
	dropped := diff(1, edited("parameters: {location: westus}", "parameters: {}"))
	assert.Contains(t, dropped.out, "# at the broker: PATCH of parameters /location\n", "as kubectl apply takes away what it applied")

	premium := edited("basic50", "premium-p1", "westus", "eastus")
	const promised = "# at the broker: PATCH of plan basic50 → premium-p1, parameters /location\n# cost: unknown → 465 usd / MONTHLY\n"
	assert.Contains(t, diff(1, premium).out, promised)
	assert.Contains(t, diff(1, premium, "--server-side", "--force-conflicts").out, promised)
	refused := diff(2, edited("clusterServicePlanExternalName: basic50", "serviceType: nosuch", "shop-db", "other-db")+"\n---\n"+premium)
	assert.Contains(t, refused.err, `standard input, document 1 (line 1): The ServiceInstance "other-db" is invalid: `)
	assert.Contains(t, refused.out, promised, "the others are compared")
	assert.Contains(t, diff(2, edited("parameters:", "params:")).err, `unknown field "spec.params"`)
	assert.Contains(t, diff(2, manifest, "-n", "default").err, `is in namespace "`+s.Namespace+`", and --namespace is "default"`)
	assert.Contains(t, diff(2, manifest, "--as", "stranger-"+s.Suffix).err, "an administrator grants it: kubectl create rolebinding servicecatalog-view")

	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Update)), "no broker is asked")
	s.Kubectl(premium, "apply", "-f", "-")
	s.Eventually(func() (bool, error) {
		return s.instance("shop-db").Status.ExternalProperties.ClusterServicePlanExternalName == "premium-p1", nil
	})
	updates := s.broker.Calls(osbtest.Of(osbtest.Update))
	require.Len(t, updates, 1)
	assert.Equal(t, s.id("f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa"), updates[0].Body["plan_id"])
	assert.Contains(t, updates[0].Body["parameters"], "location")
	assert.Empty(t, diff(0, premium).out)
}
