package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A broker's own catalog is taken over as the controller does.
func TestRenderTakesABrokersCatalog(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	azure := write(t, folder, "azure.json", string(osbtest.DemoCatalog(osbtest.Azure)))
	redis := strings.Replace(instance, "mysql", "redis", 1)
	got := run(t, redis, "-f", azure, "-f", "-")
	require.Zero(t, got.code, got.err)
	assert.Contains(t, got.err, "redis resolved to plan azure-redis/standard-c1 (suggested)")

	broker := write(t, folder, "broker.yaml", `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceBroker
metadata: {name: ours}
spec: {url: "https://broker.example.com", nameSuffix: ours, catalogRestrictions: {servicePlan: ["spec.externalName!=standard-c1"]}}
`)
	got = run(t, redis, "-f", azure, "-f", "-", "-f", broker, "--broker", "ours")
	assert.Equal(t, 1, got.code, "the restriction leaves out what is suggested")
	assert.NotContains(t, got.err, "standard-c1")
}
