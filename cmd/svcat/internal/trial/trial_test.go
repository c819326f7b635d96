package trial

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const catalog = `
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServiceClass, metadata: {name: db}, spec: {externalName: mysql, externalID: c, description: d, clusterServiceBrokerName: b,
  bindable: true, defaultProvisionParameters: {location: eastus, backup: {days: 7, hour: 3}}}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServicePlan, metadata: {name: small}, spec: {externalName: small, externalID: p, description: d, clusterServiceBrokerName: b,
  clusterServiceClassRef: {name: db}, free: true, defaultProvisionParameters: {backup: {days: 14}}}}
`

func instance(spec string) string {
	return "{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: orders}, spec: " + spec + "}\n"
}

// TestRun: what is stored, the messages and where parameters come from. That it is what svcat render
// prints is tested in tools/site.
func TestRun(t *testing.T) {
	t.Parallel()
	got := Run(t.Context(), Input{catalog, instance("{clusterServiceClassExternalName: mysql, parameters: {location: westeurope}}"), "shop"})
	assert.Contains(t, got.Objects, "  namespace: shop\n")
	assert.Contains(t, got.Objects, "clusterServicePlanExternalName: small")
	assert.Equal(t, []Origin{{"ServiceInstance shop/orders", [][2]string{{"backup/days:", "plan"}, {"backup/hour:", "class"}, {"location:", "user"}}}}, got.Origins)
	for _, line := range got.Messages {
		assert.True(t, strings.HasPrefix(line, "Warning: "), line)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, manifests string
		want              []string
	}{
		"Denied": {"by admission", instance("{serviceType: cobol}"), []string{"manifests.yaml, document 1 (line 1): serviceinstance default/orders is refused:", "error: refused: 1 of 1 objects"}},
		"Broken": {"by the reader", "a: b", []string{"error: manifests.yaml, document 1 (line 1): it is no object with apiVersion and kind, nor a broker's catalog"}},
		"None":   {"nothing is asked", "", []string{"error: there is no ServiceInstance and no ServiceBinding in the files"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Run(t.Context(), Input{Catalog: catalog, Manifests: test.manifests})
			assert.Empty(t, got.Objects, test.reason)
			assert.Empty(t, got.Origins, test.reason)
			messages := strings.Join(got.Messages, "\n")
			for _, want := range test.want {
				assert.Contains(t, messages, want, test.reason)
			}
		})
	}
}
