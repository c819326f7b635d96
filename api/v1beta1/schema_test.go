package v1beta1

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/defaultplan/defaultplan/deploy/schema"
)

// A served schema does to an object what the API server does with a CRD:
// prune, default, validate by schema, list types and rules.
type served struct {
	*schema.Kind

	structural *structuralschema.Structural
}

// definition reads the CRD of a kind as it is shipped.
func definition(t *testing.T, plural string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd, err := schema.Definition(plural)
	require.NoError(t, err)
	return crd
}

// internal converts a CRD as the API server does before it validates it.
func internal(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	t.Helper()
	converted, err := schema.Internal(crd)
	require.NoError(t, err)
	return converted
}

func serve(t *testing.T, plural string) served {
	t.Helper()
	kind, err := schema.Of(plural)
	require.NoError(t, err)
	return served{Kind: kind, structural: kind.Structural}
}

// store returns the object as it would be stored over an old one (nil: none),
// and what the API server would refuse. What an update leaves as it was is not
// held against it, but for rules about the change itself.
func (s served) store(object, old map[string]any) (map[string]any, field.ErrorList) {
	stored := runtime.DeepCopyJSON(object)
	s.Prune(stored)
	s.Default(stored)
	if errs := s.Shape(stored, old); len(errs) > 0 {
		return stored, errs
	}
	return stored, s.Rules(context.Background(), stored, old)
}
