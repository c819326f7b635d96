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
	w := newWorld(t)
	broker := w.demo()
	name := w.name("azure")
	file := filepath.Join(t.TempDir(), name+".json")
	require.NoError(t, os.WriteFile(file, w.catalogOf(broker), 0o600))
	manifest := strings.ReplaceAll(renderedOffers, "SUFFIX", w.suffix)
	got := w.runAs([]string{"HOME=" + t.TempDir(), "KUBECONFIG=/nowhere"}, manifest, "render", "-n", w.namespace, "-o", "json", "-f", file, "-f", "-")
	require.Zero(t, got.code, got.err)

	registered := &api.ClusterServiceBroker{}
	registered.Name, registered.Spec.URL = name, broker.URL
	require.NoError(t, w.client.Create(t.Context(), registered))
	t.Cleanup(func() {
		assert.NoError(t, client.IgnoreNotFound(w.client.Delete(context.WithoutCancel(t.Context()), registered)))
	})
	w.eventually(func() (bool, error) {
		err := w.client.Get(t.Context(), client.ObjectKeyFromObject(registered), registered)
		for _, condition := range registered.Status.Conditions {
			if condition.Type == api.ConditionReady && condition.Status == api.ConditionTrue {
				return err == nil, err
			}
		}
		return false, err
	})
	w.apply(renderedOffers)
	kinds := "serviceinstances,servicebindings"
	stdout, stderr, err := w.Kubectl(t.Context(), "", "-n", w.namespace, "get", "-o", "json", kinds)
	require.NoError(t, err, stderr)
	assert.Empty(t, cmp.Diff(listed(t, stdout), listed(t, got.out)), "-stored +rendered")
}

// catalogOf asks a broker for its catalog.
func (w *world) catalogOf(broker *osbtest.Broker) []byte {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, broker.URL+"/v2/catalog", http.NoBody)
	require.NoError(w, err)
	request.Header.Set("X-Broker-Api-Version", "2.17")
	request.Header.Set("X-Broker-Api-Request-Identity", "render-test")
	response, err := http.DefaultClient.Do(request)
	require.NoError(w, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(w, err)
	require.Equal(w, http.StatusOK, response.StatusCode, "%s", text)
	return text
}
