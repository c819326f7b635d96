package bindings_test

import (
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// files are manifests in one file.
func files(manifests ...string) string { return strings.Join(manifests, "---\n") }

// isWhole asserts that the binding "creds" is what the worked example says.
func isWhole(e *env.Env, reason string) *api.ServiceBinding {
	e.Helper()
	got := e.StoredBinding("creds")
	require.NotNil(e, got.Spec.ClusterServicePlanRef, reason)
	require.NotNil(e, got.Spec.ClusterServiceClassRef, reason)
	assert.Equal(e, e.Name("p"), got.Spec.ClusterServicePlanRef.Name, reason)
	assert.Equal(e, e.Name("c"), got.Spec.ClusterServiceClassRef.Name, reason)
	assert.JSONEq(e, `{"tls":true,"user":"admin"}`, string(got.Spec.Parameters.Raw), reason)
	assert.JSONEq(e, `[{"renameKey":{"from":"db-name","to":"database"}}]`, e.JSON(got.Spec.SecretTransforms), reason)
	assert.Equal(e, "creds", got.Spec.SecretName, reason)
	assert.Equal(e, got.Spec.ExternalID, got.Annotations[api.AnnotationMintedExternalID], reason)
	assert.Equal(e, []string{api.FinalizerServiceCatalog}, got.Finalizers, reason)
	assert.Equal(e, api.AppliedDefaults{
		Rule: "instance", Class: e.Name("c"), Plan: e.Name("p"), From: map[string]string{"/tls": "plan"}, Transforms: []string{"plan"},
	}, e.AppliedOn(got.Annotations), reason)
	return got
}

// essence is a binding without what any write may change: the revision, the
// managers of its fields, labels, the generation, status, and kubectl's record of
// what it applied.
func essence(binding *api.ServiceBinding) *api.ServiceBinding {
	bare := binding.DeepCopy()
	bare.ResourceVersion, bare.ManagedFields, bare.Labels, bare.Generation = "", nil, nil, 0
	bare.Status = api.ServiceBindingStatus{}
	delete(bare.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	return bare
}

// wireBinding is binding "creds" in JSON, as the API server sends it.
func wireBinding(e *env.Env) *unstructured.Unstructured {
	e.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(api.GroupVersion.WithKind("ServiceBinding"))
	object.SetNamespace(e.Namespace)
	object.SetName("creds")
	e.Get(object)
	return object
}
