package v1beta1

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// pluralOf are the resources by kind.
var pluralOf = map[string]string{
	"ClusterServiceBroker": "clusterservicebrokers", "ServiceBroker": "servicebrokers",
	"ClusterServiceClass": "clusterserviceclasses", "ServiceClass": "serviceclasses",
	"ClusterServicePlan": "clusterserviceplans", "ServicePlan": "serviceplans",
	"ClusterServiceType": "clusterservicetypes", "ServiceType": "servicetypes",
	"ServiceInstance": "serviceinstances", "ServiceBinding": "servicebindings",
	"ProvisioningPolicy": "provisioningpolicies", "BindingPolicy": "bindingpolicies",
}

// TestAdmitted: every body is admitted on CREATE and as a PUT over itself, and
// what is stored reads into the Go type.
func TestAdmitted(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	require.NoError(t, AddToScheme(scheme))
	for name, object := range objects(t, "admitted.yaml") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := object["kind"].(string)
			api := serve(t, pluralOf[kind])
			stored, errs := api.store(object, nil)
			require.Empty(t, errs)
			again, errs := api.store(stored, stored)
			require.Empty(t, errs)
			assert.Equal(t, stored, again)
			raw, err := yaml.Marshal(stored)
			require.NoError(t, err)
			typed, err := scheme.New(GroupVersion.WithKind(kind))
			require.NoError(t, err)
			require.NoError(t, yaml.UnmarshalStrict(raw, typed))
		})
	}
}

// TestWireIsAdmittedWhole: no field of the wire is pruned.
func TestWireIsAdmittedWhole(t *testing.T) {
	t.Parallel()
	for name, object := range objects(t, "wire.yaml") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, errs := serve(t, pluralOf[object["kind"].(string)]).store(object, nil)
			if name != "ServiceInstance/mydb" { // it holds both scopes to have every field
				assert.Empty(t, errs)
			}
			assert.Equal(t, object, stored)
		})
	}
}

func TestDefaultsOfTheSchema(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		plural string
		spec   map[string]any
		path   []string
		want   any
	}{
		"Free":     {reason: "a plan that omits free is selected by spec.free=false", plural: "clusterserviceplans", path: []string{"spec", "free"}, want: false},
		"FreeNull": {reason: "null is like absent", plural: "serviceplans", spec: map[string]any{"free": nil}, path: []string{"spec", "free"}, want: false},
		"FreeTrue": {reason: "what was said stays", plural: "serviceplans", spec: map[string]any{"free": true}, path: []string{"spec", "free"}, want: true},
		"Broker":   {reason: "a new broker is not current", plural: "clusterservicebrokers", path: []string{"status", "observedGeneration"}, want: int64(-1)},
		"Namespaced": {
			reason: "a new broker is not current", plural: "servicebrokers", path: []string{"status", "observedGeneration"}, want: int64(-1),
		},
		"Instance":    {reason: "a new instance is not current", plural: "serviceinstances", path: []string{"status", "observedGeneration"}, want: int64(-1)},
		"Binding":     {reason: "a new binding is not current", plural: "servicebindings", path: []string{"status", "observedGeneration"}, want: int64(-1)},
		"Type":        {reason: "a new type is not current", plural: "servicetypes", path: []string{"status", "observedGeneration"}, want: int64(-1)},
		"ClusterType": {reason: "a new type is not current", plural: "clusterservicetypes", path: []string{"status", "observedGeneration"}, want: int64(-1)},
		"Policy":      {reason: "a new policy is not current", plural: "provisioningpolicies", path: []string{"status", "observedGeneration"}, want: int64(-1)},
		"BindingPolicy": {
			reason: "a new policy is not current", plural: "bindingpolicies", path: []string{"status", "observedGeneration"}, want: int64(-1),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := tc.spec
			if spec == nil {
				spec = map[string]any{}
			}
			stored, _ := serve(t, tc.plural).store(map[string]any{"metadata": map[string]any{"name": "n"}, "spec": spec}, nil)
			got, found, err := unstructured.NestedFieldNoCopy(stored, tc.path...)
			require.NoError(t, err)
			require.True(t, found, tc.reason)
			assert.EqualValues(t, tc.want, got, tc.reason)
		})
	}
}

// TestUnknownFields: pruned where fields are typed, kept where JSON is free.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	object := map[string]any{
		"metadata": map[string]any{"name": "n"},
		"spec": map[string]any{
			"serviceType": "mysql", "unknown": true,
			"parameters": map[string]any{"any": map[string]any{"thing": []any{nil, int64(9007199254740993)}}, "none": nil},
		},
	}
	stored, errs := serve(t, "serviceinstances").store(object, nil)
	require.Empty(t, errs)
	spec := stored["spec"].(map[string]any)
	assert.NotContains(t, spec, "unknown")
	assert.Equal(t, object["spec"].(map[string]any)["parameters"], spec["parameters"])
}

// TestNullable: where the retired clients send null, the published schema says
// so too, for validators that do not drop nulls as the API server does.
func TestNullable(t *testing.T) {
	t.Parallel()
	conditions := []string{"status.conditions", "status.conditions[].lastTransitionTime"}
	added := func(list string) []string {
		return []string{list + "[].addKey.value", list + "[].addKey.stringValue", list + "[].addKey.jsonPathExpression"}
	}
	defaults := append(added("spec.defaultSecretTransforms"), conditions[1])
	want := map[string][]string{
		"clusterservicebrokers": conditions, "servicebrokers": conditions, "serviceinstances": conditions,
		"clusterservicetypes": conditions[1:], "servicetypes": conditions[1:],
		"provisioningpolicies": conditions[1:], "bindingpolicies": conditions[1:],
		"servicebindings":       append(added("spec.secretTransforms"), conditions...),
		"clusterserviceclasses": defaults, "serviceclasses": defaults, "clusterserviceplans": defaults, "serviceplans": defaults,
	}
	for plural := range plurals {
		assert.ElementsMatch(t, want[plural], nullable("", serve(t, plural).structural), plural)
	}
}

// nullable lists the fields of a schema that admit null.
func nullable(path string, schema *structuralschema.Structural) []string {
	if schema == nil {
		return nil
	}
	var found []string
	if schema.Nullable {
		found = append(found, path)
	}
	for name, property := range schema.Properties {
		found = append(found, nullable(strings.TrimPrefix(path+"."+name, "."), &property)...)
	}
	return append(found, nullable(path+"[]", schema.Items)...)
}

// TestSpecIsRequired: rules about what may not vanish need a spec to look at.
func TestSpecIsRequired(t *testing.T) {
	t.Parallel()
	for kind, plural := range pluralOf {
		_, errs := serve(t, plural).store(map[string]any{"metadata": map[string]any{"name": "n"}}, nil)
		if kind == "ServiceType" || kind == "ClusterServiceType" {
			assert.Empty(t, errs, kind)
			continue
		}
		require.Len(t, errs, 1, kind)
		assert.Equal(t, "spec", errs[0].Field, kind)
	}
}

// TestChecksums of the status: what cannot be a checksum would never be equal to
// one, and the broker would be sent the same again and again.
func TestChecksums(t *testing.T) {
	t.Parallel()
	const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, plural := range []string{"serviceinstances", "servicebindings"} {
		for _, properties := range []string{"inProgressProperties", "externalProperties"} {
			for value, lawful := range map[string]bool{sum: true, "": true, sum[1:]: false, strings.ToUpper(sum): false} {
				object := map[string]any{
					"metadata": map[string]any{"name": "n"}, "spec": map[string]any{},
					"status": map[string]any{properties: map[string]any{"parameterChecksum": value}},
				}
				_, errs := serve(t, plural).store(object, nil)
				if lawful {
					assert.Empty(t, errs)
					continue
				}
				require.Len(t, errs, 1, value)
				assert.Equal(t, "status."+properties+".parameterChecksum", errs[0].Field)
			}
		}
	}
}
