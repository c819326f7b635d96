package v1beta1

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

// plurals are the resources that are shipped, with their short names.
var plurals = map[string]string{
	"clusterservicebrokers": "csb", "clusterserviceclasses": "csc", "clusterserviceplans": "csp", "clusterservicetypes": "cst",
	"servicebrokers": "sbr", "serviceclasses": "scl", "serviceplans": "spl", "servicetypes": "sty",
	"serviceinstances": "si", "servicebindings": "sb", "provisioningpolicies": "spp", "bindingpolicies": "sbp",
}

// builtin are the short names of the resources that the API server has itself.
var builtin = []string{
	"cj", "cm", "cs", "csr", "deploy", "ds", "ep", "ev", "hpa", "ing", "ip", "limits", "netpol", "no", "ns", "pc", "pdb", "po",
	"pv", "pvc", "quota", "rc", "rs", "sa", "sc", "sts", "svc", "vac", "crd", "crds",
}

func TestEveryDefinitionIsShipped(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("../../deploy/crds")
	require.NoError(t, err)
	var got []string
	for _, entry := range entries {
		name := strings.TrimPrefix(strings.TrimSuffix(entry.Name(), ".yaml"), GroupName+"_")
		if name != entry.Name() && strings.HasSuffix(entry.Name(), ".yaml") {
			got = append(got, name)
		}
	}
	want := make([]string, 0, len(plurals))
	for plural := range plurals {
		want = append(want, plural)
	}
	assert.ElementsMatch(t, want, got)
}

// TestDefinitionsAreLawful runs the API server's own validation of CRDs: it
// covers the structure, the columns, the selectable fields, the approval
// annotation and the cost of the rules.
func TestDefinitionsAreLawful(t *testing.T) {
	t.Parallel()
	for plural, short := range plurals {
		t.Run(plural, func(t *testing.T) {
			t.Parallel()
			crd := definition(t, plural)
			errs := crdvalidation.ValidateCustomResourceDefinition(context.Background(), internal(t, crd))
			assert.Empty(t, errs)
			assert.Equal(t, "true", crd.Labels["svcat"])
			assert.Contains(t, crd.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation], "unapproved")
			assert.Equal(t, []string{"svcat"}, crd.Spec.Names.Categories)
			assert.Equal(t, []string{short}, crd.Spec.Names.ShortNames)
			assert.NotContains(t, builtin, short)
			assert.NotNil(t, crd.Spec.Versions[0].Subresources.Status)
		})
	}
}

// TestEveryFieldIsExplained: kubectl explain has a text on every field.
// metadata is the API server's own.
func TestEveryFieldIsExplained(t *testing.T) {
	t.Parallel()
	for plural := range plurals {
		root := *definition(t, plural).Spec.Versions[0].Schema.OpenAPIV3Schema
		delete(root.Properties, "metadata")
		assert.Empty(t, unexplained(plural, root))
	}
}

// unexplained lists the fields of a schema that have no sentence of their own.
func unexplained(path string, schema apiextensionsv1.JSONSchemaProps) []string {
	var missing []string
	for name, property := range schema.Properties {
		if text := strings.TrimSpace(property.Description); len(text) < 10 || !strings.HasSuffix(text, ".") && !strings.Contains(text, "More info:") {
			missing = append(missing, path+"."+name)
		}
		missing = append(missing, unexplained(path+"."+name, property)...)
	}
	if schema.Items != nil {
		missing = append(missing, unexplained(path+"[]", *schema.Items.Schema)...)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		missing = append(missing, unexplained(path+"{}", *schema.AdditionalProperties.Schema)...)
	}
	return missing
}

// TestFreeFormFields: only what is free-form keeps unknown fields; what a
// relist owns is atomic, what a user writes stays granular.
func TestFreeFormFields(t *testing.T) {
	t.Parallel()
	atomic := map[string]bool{
		"defaultProvisionParameters": true, "defaultBindParameters": true, "externalMetadata": true,
		"instanceCreateParameterSchema": true, "instanceUpdateParameterSchema": true, "serviceBindingCreateParameterSchema": true,
		"parameters": false, "provisionParameters": false,
	}
	for plural := range plurals {
		spec := definition(t, plural).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		for name, property := range spec.Properties {
			want, free := atomic[name]
			assert.Equal(t, free, property.XPreserveUnknownFields != nil && *property.XPreserveUnknownFields, "%s %s", plural, name)
			if free {
				assert.Equal(t, want, property.XMapType != nil && *property.XMapType == "atomic", "%s %s", plural, name)
			}
			if property.Type == "array" {
				assert.NotNil(t, property.XListType, "%s %s has no list type", plural, name)
				assert.NotNil(t, property.MaxItems, "%s %s has no limit", plural, name)
			}
			if property.Type == "string" && property.Format != "byte" && property.Enum == nil {
				assert.NotNil(t, property.MaxLength, "%s %s has no limit", plural, name)
			}
		}
	}
}

// TestSelectableFields: what the webhook and svcat select by.
func TestSelectableFields(t *testing.T) {
	t.Parallel()
	class := []string{FieldExternalID, FieldExternalName, FieldServiceType, FieldClusterServiceBrokerName}
	plan := append([]string{FieldFree}, class...)
	refs := []string{
		FieldExternalID, FieldStatusExternalID, FieldServiceType, FieldClusterServiceClassRefName, FieldClusterServicePlanRefName,
		FieldServiceClassRefName, FieldServicePlanRefName,
	}
	want := map[string][]string{
		"clusterserviceclasses": class,
		"serviceclasses":        append([]string{FieldServiceBrokerName}, class...),
		"clusterserviceplans":   append([]string{FieldClusterServiceClassRefName}, plan...),
		"serviceplans":          append([]string{FieldServiceClassRefName, FieldServiceBrokerName}, plan...),
		"serviceinstances":      append([]string{FieldStatusServiceType}, refs...),
		"servicebindings":       append([]string{FieldInstanceRefName}, refs...),
	}
	for plural := range plurals {
		var got []string
		for _, selectable := range definition(t, plural).Spec.Versions[0].SelectableFields {
			got = append(got, strings.TrimPrefix(selectable.JSONPath, "."))
		}
		assert.ElementsMatch(t, want[plural], got, plural)
		assert.LessOrEqual(t, len(got), 8, plural)
	}
}

// TestColumns: what kubectl get shows without -o wide, by condition type and
// never by the place of a condition in its list.
func TestColumns(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"clusterservicebrokers": "URL Ready Status Age", "servicebrokers": "URL Ready Status Age",
		"clusterserviceclasses": "External-Name Type Broker Age", "serviceclasses": "External-Name Type Broker Age",
		"clusterserviceplans": "External-Name Type Default Class Broker Age", "serviceplans": "External-Name Type Default Class Broker Age",
		"clusterservicetypes": "Type Default Suggested Plans Resolvable Age", "servicetypes": "Type Default Suggested Plans Resolvable Age",
		"serviceinstances": "Type Class Plan Ready Status Age", "servicebindings": "Service-Instance Secret-Name Ready Status Age",
		"provisioningpolicies": "Action Plans Namespaces Age", "bindingpolicies": "Action Plans Instances Namespaces Age",
	}
	for plural := range plurals {
		var got []string
		for _, column := range definition(t, plural).Spec.Versions[0].AdditionalPrinterColumns {
			assert.NotContains(t, column.JSONPath, "[0]", plural)
			assert.NotEmpty(t, column.Description, plural)
			if column.Priority == 0 {
				got = append(got, column.Name)
			}
		}
		assert.Equal(t, want[plural], strings.Join(got, " "), plural)
	}
}
