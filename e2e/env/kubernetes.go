package env

import (
	"strconv"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
)

// KubernetesBefore reports whether the API server is of a release before Kubernetes
// 1.minor: make matrix runs scenarios on several.
func (o *Observations) KubernetesBefore(minor int) bool {
	o.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(o.stack.RESTConfig())
	require.NoError(o, err)
	version, err := client.ServerVersion()
	require.NoError(o, err)
	served, err := strconv.Atoi(version.Minor)
	require.NoError(o, err, "minor version %q", version.Minor)
	return served < minor
}
