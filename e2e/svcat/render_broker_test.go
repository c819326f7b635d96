package svcat_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// renderedOffers are instances of what the demo's broker offers: by type, by class, by names,
// and what it does not offer.
const renderedOffers = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: by-type}
spec: {serviceType: mysql-SUFFIX}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: by-class}
spec: {clusterServiceClassExternalName: azure-redis-SUFFIX, parameters: {location: westus}}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: blobs}
spec: {serviceType: blobs-SUFFIX}
---
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceBinding
metadata: {name: to-type}
spec: {instanceRef: {name: by-type}}
`

// TestRenderKnowsABrokersCatalog: against a catalog as the broker answers it, render
// makes of the same objects what a cluster makes of them that has listed the broker.
func TestRenderKnowsABrokersCatalog(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	broker := e.demo()
	name := e.Name("azure")
	file := filepath.Join(t.TempDir(), name+".json")
	require.NoError(t, os.WriteFile(file, e.catalogOf(broker), 0o600))
	manifest := strings.ReplaceAll(renderedOffers, "SUFFIX", e.Suffix)
	got := e.runAs([]string{"HOME=" + t.TempDir(), "KUBECONFIG=/nowhere"}, manifest, "render", "-n", e.Namespace, "-o", "json", "-f", file, "-f", "-")
	require.Zero(t, got.code, got.err)

	registered := &api.ClusterServiceBroker{}
	registered.Name, registered.Spec.URL = name, broker.URL
	require.NoError(t, e.Client().Create(t.Context(), registered))
	t.Cleanup(func() {
		assert.NoError(t, client.IgnoreNotFound(e.Client().Delete(context.WithoutCancel(t.Context()), registered)))
	})
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(t.Context(), client.ObjectKeyFromObject(registered), registered)
		for _, condition := range registered.Status.Conditions {
			if condition.Type == api.ConditionReady && condition.Status == api.ConditionTrue {
				return err == nil, err
			}
		}
		return false, err
	})
	e.Apply(renderedOffers)
	kinds := "serviceinstances,servicebindings"
	stdout, stderr, err := e.Stack.Kubectl(t.Context(), "", "-n", e.Namespace, "get", "-o", "json", kinds)
	require.NoError(t, err, stderr)
	assert.Empty(t, cmp.Diff(listed(t, stdout), listed(t, got.out)), "-stored +rendered")
}

// catalogOf asks a broker for its catalog.
func (e *testEnv) catalogOf(broker *osbtest.Broker) []byte {
	e.Helper()
	request, err := http.NewRequestWithContext(e.Context(), http.MethodGet, broker.URL+"/v2/catalog", http.NoBody)
	require.NoError(e, err)
	request.Header.Set("X-Broker-Api-Version", "2.17")
	request.Header.Set("X-Broker-Api-Request-Identity", "render-test")
	response, err := http.DefaultClient.Do(request)
	require.NoError(e, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(e, err)
	require.Equal(e, http.StatusOK, response.StatusCode, "%s", text)
	return text
}
