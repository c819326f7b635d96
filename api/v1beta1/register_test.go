package v1beta1

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// objects returns the objects of a file under testdata by "Kind/name".
func objects(t *testing.T, file string) map[string]map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	var list []map[string]any
	read(t, raw, &list)
	result := make(map[string]map[string]any, len(list))
	for _, object := range list {
		name := object["kind"].(string) + "/" + object["metadata"].(map[string]any)["name"].(string)
		require.NotContains(t, result, name, "two objects of one name")
		result[name] = object
	}
	return result
}

// read reads YAML as the API server does: an integer is no float.
func read(t *testing.T, text []byte, into any) {
	t.Helper()
	text, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	require.NoError(t, utiljson.Unmarshal(text, into))
}

func TestSchemeKnowsEveryKind(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	require.NoError(t, AddToScheme(scheme))
	for _, kind := range []string{
		"ClusterServiceBroker", "ClusterServiceClass", "ClusterServicePlan", "ClusterServiceType",
		"ServiceBroker", "ServiceClass", "ServicePlan", "ServiceType", "ServiceInstance", "ServiceBinding",
		"ProvisioningPolicy", "BindingPolicy",
	} {
		for _, name := range []string{kind, kind + "List"} {
			object, err := scheme.New(GroupVersion.WithKind(name))
			require.NoError(t, err, name)
			kinds, _, err := scheme.ObjectKinds(object)
			require.NoError(t, err, name)
			assert.Equal(t, []schema.GroupVersionKind{GroupVersion.WithKind(name)}, kinds)
		}
	}
	assert.Equal(t, "ServicePlan.servicecatalog.k8s.io", Kind("ServicePlan").String())
	assert.Equal(t, "serviceplans.servicecatalog.k8s.io", Resource("serviceplans").String())
}

// TestWireRoundTrip reads objects with every field of the wire into the Go
// types and writes them again, through a deep copy: nothing may be lost,
// renamed or rounded.
func TestWireRoundTrip(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	require.NoError(t, AddToScheme(scheme))
	for name, want := range objects(t, "wire.yaml") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := yaml.Marshal(want)
			require.NoError(t, err)
			object, err := scheme.New(GroupVersion.WithKind(want["kind"].(string)))
			require.NoError(t, err)
			require.NoError(t, yaml.UnmarshalStrict(raw, object))
			written, err := yaml.Marshal(object.DeepCopyObject())
			require.NoError(t, err)
			var got map[string]any
			read(t, written, &got)
			delete(got["metadata"].(map[string]any), "creationTimestamp")
			assert.Equal(t, want, got)
		})
	}
}

func TestFreeFormJSONKeepsItsBytes(t *testing.T) {
	t.Parallel()
	const parameters = `{"big":9007199254740993,"exact":1.10,"null":null,"empty":{},"list":[]}`
	var instance ServiceInstance
	require.NoError(t, yaml.Unmarshal([]byte(`{"spec":{"externalID":"","parameters":`+parameters+`}}`), &instance))
	assert.JSONEq(t, parameters, string(instance.Spec.Parameters.Raw))
	assert.Contains(t, string(instance.DeepCopy().Spec.Parameters.Raw), "9007199254740993")
}

func TestDeepCopySharesNothing(t *testing.T) {
	t.Parallel()
	plan := &ClusterServicePlan{}
	plan.Spec.DefaultProvisionParameters = &runtime.RawExtension{Raw: []byte(`{"a":1}`)}
	plan.Spec.DefaultSecretTransforms = []SecretTransform{{RemoveKey: &RemoveKeyTransform{Key: "a"}}}
	copied := plan.DeepCopy()
	copied.Spec.DefaultProvisionParameters.Raw[2] = 'b'
	copied.Spec.DefaultSecretTransforms[0].RemoveKey.Key = "b"
	assert.Equal(t, `{"a":1}`, string(plan.Spec.DefaultProvisionParameters.Raw))
	assert.Equal(t, "a", plan.Spec.DefaultSecretTransforms[0].RemoveKey.Key)
}

func TestDecided(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		refs   DecidedReference
		want   bool
	}{
		"Nothing":        {reason: "no ref at all", want: false},
		"ClassOnly":      {reason: "a class alone decides nothing", refs: DecidedReference{ClusterServiceClassRef: &ClusterObjectReference{Name: "c"}}},
		"EmptyRef":       {reason: "an empty ref names nothing", refs: DecidedReference{ClusterServicePlanRef: &ClusterObjectReference{}, ServicePlanRef: &LocalObjectReference{}}},
		"ClusterPlan":    {reason: "a cluster plan", refs: DecidedReference{ClusterServicePlanRef: &ClusterObjectReference{Name: "p"}}, want: true},
		"NamespacedPlan": {reason: "a namespaced plan", refs: DecidedReference{ServicePlanRef: &LocalObjectReference{Name: "p"}}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, tc.refs.Decided(), tc.reason)
		})
	}
}
