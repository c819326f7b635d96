package offline_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A world is a cluster of a test. Its methods fail the test.
type world struct {
	*testing.T
	*offline.Cluster
}

// A shop is a class with two plans; small is the default of its type.
const shop = `
{kind: ClusterServiceClass, metadata: {name: db}, spec: {externalName: mysql, externalID: db, serviceType: mysql, defaultProvisionParameters: {size: 1}}}
---
{kind: ClusterServicePlan, metadata: {name: small, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}, spec: {externalName: small, externalID: small, clusterServiceClassRef: {name: db}}}
---
{kind: ClusterServicePlan, metadata: {name: large}, spec: {externalName: large, externalID: large, clusterServiceClassRef: {name: db}}}
`

func newWorld(t *testing.T, catalog string, adjust ...func(*options.Options)) *world {
	t.Helper()
	options := options.New()
	for _, change := range adjust {
		change(options)
	}
	cluster, err := offline.New(options)
	require.NoError(t, err)
	w := &world{t, cluster}
	w.load(catalog)
	return w
}

// read reads documents of the group's version.
func read(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, document := range splitDocuments(text) {
		object := &unstructured.Unstructured{}
		raw, err := yaml.YAMLToJSON([]byte(document))
		require.NoError(t, err)
		raw = append([]byte(`{"apiVersion":"servicecatalog.k8s.io/v1beta1",`), raw[1:]...)
		require.NoError(t, object.UnmarshalJSON(raw), document)
		objects = append(objects, object)
	}
	return objects
}

func (w *world) load(text string) {
	w.Helper()
	require.NoError(w, w.Load(read(w.T, text)...))
}

// apply applies one object.
func (w *world) apply(text string) offline.Result {
	w.Helper()
	result, err := w.Apply(w.Context(), read(w.T, text)[0])
	require.NoError(w, err)
	return result
}

// admitted is apply of what must be admitted.
func (w *world) admitted(text string) *unstructured.Unstructured {
	w.Helper()
	result := w.apply(text)
	require.Nil(w, result.Denied, "%v", result.Denied)
	return result.Object
}

// field is a field of an object, nil if it has none.
func field(t *testing.T, object *unstructured.Unstructured, path ...string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	require.NoError(t, err)
	return value
}
