package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/deploy/schema"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	read := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &read.Object))
	return read
}

func TestOf(t *testing.T) {
	t.Parallel()
	kind, err := schema.Of("serviceplans")
	require.NoError(t, err)
	assert.Equal(t, "ServicePlan", kind.Kind)
	assert.Equal(t, schema.Group, kind.Group)
	assert.True(t, kind.Namespaced)
	_, err = schema.Of("deployments")
	assert.ErrorContains(t, err, `cannot read the definition of "deployments"`)
}

// What the API server holds against an object comes in its order, and rules are not
// looked at where the object is not of a shape for them.
func TestValidate(t *testing.T) {
	t.Parallel()
	const two = `{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: a, namespace: b}, spec: {planSelector: {matchLabels: {a: b}}, clusterServicePlanName: c, clusterServiceClassName: d}}`
	cases := map[string]struct {
		reason, object, old string
		fields              []string
	}{
		"Lawful":   {reason: "Nothing.", object: `{metadata: {name: a, namespace: b}, spec: {serviceType: mysql}}`},
		"Metadata": {reason: "Its metadata, and the shape.", object: `{metadata: {name: A, namespace: b}, spec: {serviceType: M}}`, fields: []string{"metadata.name", "spec.serviceType"}},
		"Blocked":  {reason: "A wrong type, and that rules were not checked.", object: `{metadata: {name: a, namespace: b}, spec: {serviceType: [m]}}`, fields: []string{"spec.serviceType", "<nil>"}},
		"Rule":     {reason: "A rule.", object: two, fields: []string{"spec.planSelector"}},
		"Change":   {reason: "A rule about what changes.", object: `{metadata: {name: a, namespace: b}, spec: {}}`, old: `{metadata: {name: a, namespace: b}, spec: {externalID: x}}`, fields: []string{"spec.externalID"}},
		"Kept":     {reason: "What an update leaves as it was is not held against it.", object: `{metadata: {name: a, namespace: b}, spec: {serviceType: M}}`, old: `{metadata: {name: a, namespace: b}, spec: {serviceType: M}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, err := schema.Of("serviceinstances")
			require.NoError(t, err)
			var old *unstructured.Unstructured
			if tc.old != "" {
				old = object(t, tc.old)
			}
			var fields []string
			for _, err := range kind.Validate(t.Context(), object(t, tc.object), old) {
				fields = append(fields, err.Field)
			}
			assert.Equal(t, tc.fields, fields, tc.reason)
		})
	}
}

// What a client sends is pruned, told, and filled in.
func TestCoerce(t *testing.T) {
	t.Parallel()
	kind, err := schema.Of("serviceplans")
	require.NoError(t, err)
	sent := object(t, `{metadata: {name: a, label: {}}, spec: {free: null, cost: 3, externalMetadata: {any: {thing: null}}}}`)
	unknown, err := kind.Coerce(sent)
	require.NoError(t, err)
	assert.Equal(t, []string{"metadata.label", "spec.cost"}, unknown)
	assert.Equal(t, map[string]any{"free": false, "externalMetadata": map[string]any{"any": map[string]any{"thing": nil}}}, sent.Object["spec"])
	_, err = kind.Coerce(object(t, `{metadata: {labels: [a]}}`))
	assert.ErrorContains(t, err, "labels")
}
