package argocd_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/deploy/argocd"
)

var update = flag.Bool("update", false, "rewrite argocd-cm.yaml")

// TestKindsOfOneSortShareACheck holds the copies that Argo CD's layout asks for together.
func TestKindsOfOneSortShareACheck(t *testing.T) {
	t.Parallel()
	for first, others := range map[string][]string{
		"ServiceInstance": {"ServiceBinding", "ServiceBroker", "ClusterServiceBroker"}, "ServiceType": {"ClusterServiceType"},
	} {
		want, err := argocd.Checks.ReadFile("servicecatalog.k8s.io/" + first + "/health.lua")
		require.NoError(t, err)
		for _, other := range others {
			got, err := argocd.Checks.ReadFile("servicecatalog.k8s.io/" + other + "/health.lua")
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got), other)
		}
	}
}

// TestConfigMapIsGenerated holds argocd-cm.yaml to the checks; -update writes it.
func TestConfigMapIsGenerated(t *testing.T) {
	t.Parallel()
	want, err := argocd.ConfigMap()
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("argocd-cm.yaml", want, 0o600))
	}
	got, err := os.ReadFile("argocd-cm.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run the test with -update")
}
