package env

import (
	"strconv"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
)

// KubernetesBefore reports whether the API server is of a release before Kubernetes
// 1.minor: make matrix runs scenarios on several.
func (e *Env) KubernetesBefore(minor int) bool {
	e.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(e.RESTConfig())
	require.NoError(e, err)
	version, err := client.ServerVersion()
	require.NoError(e, err)
	served, err := strconv.Atoi(version.Minor)
	require.NoError(e, err, "minor version %q", version.Minor)
	return served < minor
}
