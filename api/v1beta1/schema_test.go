package v1beta1

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/yaml"
)

// The budgets of the API server for one rule and for all rules of a request.
const (
	ruleBudget    = 1_000_000
	requestBudget = 10_000_000
)

// A served schema does to an object what the API server does with a CRD:
// prune, default, validate by schema, list types and rules.
type served struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// definition reads the CRD of a kind as it is shipped.
func definition(t *testing.T, plural string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "deploy", "crds", GroupName+"_"+plural+".yaml"))
	require.NoError(t, err)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict(raw, crd))
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	return crd
}

// internal converts a CRD as the API server does before it validates it.
func internal(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	t.Helper()
	converted := &apiextensions.CustomResourceDefinition{}
	require.NoError(t, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, converted, nil))
	converted.Status.StoredVersions = []string{GroupVersion.Version}
	return converted
}

func serve(t *testing.T, plural string) served {
	t.Helper()
	crd := internal(t, definition(t, plural))
	props, err := apiextensions.GetSchemaForVersion(crd, GroupVersion.Version)
	require.NoError(t, err)
	structural, err := structuralschema.NewStructural(props.OpenAPIV3Schema)
	require.NoError(t, err)
	schema, _, err := validation.NewSchemaValidator(props.OpenAPIV3Schema)
	require.NoError(t, err)
	return served{structural: structural, schema: schema, rules: cel.NewValidator(structural, true, ruleBudget)}
}

// store returns the object as it would be stored over an old one (nil: none),
// and what the API server would refuse. What an update leaves as it was is not
// held against it, but for rules about the change itself.
func (s served) store(object, old map[string]any) (map[string]any, field.ErrorList) {
	stored := runtime.DeepCopyJSON(object)
	pruning.Prune(stored, s.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(stored, s.structural)
	defaulting.Default(stored, s.structural)
	var errs field.ErrorList
	var before any
	var ratchet []cel.Option
	if old == nil {
		errs = validation.ValidateCustomResource(nil, stored, s.schema)
	} else {
		before = old
		correlated := common.NewCorrelatedObject(stored, old, &model.Structural{Structural: s.structural})
		errs = validation.ValidateCustomResourceUpdate(nil, stored, old, s.schema, validation.WithRatcheting(correlated))
		ratchet = append(ratchet, cel.WithRatcheting(correlated))
	}
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, stored)...)
	if len(errs) > 0 || s.rules == nil {
		return stored, errs
	}
	broken, _ := s.rules.Validate(context.Background(), nil, s.structural, stored, before, requestBudget, ratchet...)
	return stored, broken
}
