package admission_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestKubectlExplainsEveryField: a few fields as a person asks for them, and every
// field of every kind in the document that kubectl reads.
func TestKubectlExplainsEveryField(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	for path, want := range map[string]string{
		"serviceinstance.spec.serviceType":                   "Asks for the default plan of a type",
		"serviceinstance.spec.planSelector":                  "heaviest plan",
		"serviceinstance.spec.planSelector.matchExpressions": "operator",
		"clusterserviceplan.spec.weight":                     "the heaviest wins",
		"csp.spec.defaultProvisionParameters":                "default",
		"clusterservicetype.spec.defaultPlanRef":             "ClusterServicePlan",
		"servicebinding.spec.secretTransforms":               "transforms",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			said := strings.Join(strings.Fields(e.In(t).Kubectl("", "explain", path)), " ")
			assert.Contains(t, strings.ToLower(said), strings.ToLower(want))
		})
	}
	var silent []string
	for kind, schema := range schemas(e) {
		schema.walk(kind, func(path, description string) {
			if strings.TrimSpace(description) == "" {
				silent = append(silent, path)
			}
		})
	}
	slices.Sort(silent)
	assert.Empty(t, silent, "fields without a text")
}

// A fieldSchema is what the walk over the API's document needs of it.
type fieldSchema struct {
	Description string                 `json:"description"`
	Properties  map[string]fieldSchema `json:"properties"`
	Items       *fieldSchema           `json:"items"`
	// AllOf is how the document refers to a type of Kubernetes' own, which
	// explains itself.
	AllOf []struct {
		Ref string `json:"$ref"`
	} `json:"allOf"`
}

// walk visits every field below a path.
func (s fieldSchema) walk(path string, visit func(path, description string)) {
	for name, field := range s.Properties {
		at := path + "." + name
		visit(at, field.Description)
		field.walk(at, visit)
	}
	if s.Items != nil {
		s.Items.walk(path+"[]", visit)
	}
}

// schemas are those of our kinds, by kind, in the API server's OpenAPI v3
// document.
func schemas(e *env.Env) map[string]fieldSchema {
	e.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(e.RESTConfig())
	require.NoError(e, err)
	var document struct {
		Components struct {
			Schemas map[string]fieldSchema `json:"schemas"`
		} `json:"components"`
	}
	// The document is made a moment after the definitions are.
	found := map[string]fieldSchema{}
	e.Eventually(func() (bool, error) {
		raw, err := client.RESTClient().Get().AbsPath("/openapi/v3/apis/servicecatalog.k8s.io/v1beta1").DoRaw(e.Context())
		if err != nil {
			return false, err
		}
		if err := json.Unmarshal(raw, &document); err != nil {
			return false, err
		}
		for name, schema := range document.Components.Schemas {
			if kind, ours := strings.CutPrefix(name, "io.k8s.servicecatalog.v1beta1."); ours && !strings.HasSuffix(kind, "List") {
				found[kind] = schema
			}
		}
		return len(found) == len(kinds), nil
	})
	return found
}

// kinds are ours, by resource.
var kinds = map[string]string{
	"clusterservicebrokers": "ClusterServiceBroker", "servicebrokers": "ServiceBroker",
	"clusterserviceclasses": "ClusterServiceClass", "serviceclasses": "ServiceClass",
	"clusterserviceplans": "ClusterServicePlan", "serviceplans": "ServicePlan",
	"clusterservicetypes": "ClusterServiceType", "servicetypes": "ServiceType",
	"serviceinstances": "ServiceInstance", "servicebindings": "ServiceBinding",
	"provisioningpolicies": "ProvisioningPolicy", "bindingpolicies": "BindingPolicy",
}

// TestNamesClashWithNothing: what a person can type for our kinds means nothing
// else in this cluster, not even among the kinds built in.
func TestNamesClashWithNothing(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	client, err := discovery.NewDiscoveryClientForConfig(e.RESTConfig())
	require.NoError(t, err)
	_, lists, err := client.ServerGroupsAndResources()
	require.NoError(t, err)
	meaning := map[string][]string{}
	var ours []string
	for _, list := range lists {
		for _, resource := range list.APIResources {
			if strings.Contains(resource.Name, "/") {
				continue
			}
			// One resource may be served in several versions or groups of one kind.
			for _, word := range append([]string{resource.Name, resource.SingularName}, resource.ShortNames...) {
				meaning[word] = append(meaning[word], resource.Kind)
			}
			if kinds[resource.Name] == resource.Kind {
				ours = append(ours, resource.Name)
				assert.Equal(t, []string{"svcat"}, resource.Categories, "%s: not in all, where users do not expect it", resource.Name)
				assert.NotEmpty(t, resource.ShortNames, resource.Name)
			}
		}
	}
	assert.Len(t, ours, len(kinds))
	for word, meant := range meaning {
		slices.Sort(meant)
		if meant = slices.Compact(meant); len(meant) > 1 {
			for _, kind := range kinds {
				assert.NotContains(t, meant, kind, "%q means all of these", word)
			}
		}
	}
}
