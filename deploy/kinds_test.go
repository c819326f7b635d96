package deploy_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/deploy"
)

// A kind is one of the API's, as its definition is shipped.
type kind struct {
	resource string
	scope    apiextensionsv1.ResourceScope
}

func kinds(t *testing.T) []kind {
	t.Helper()
	files, err := fs.Glob(deploy.Manifests, "crds/*.yaml")
	require.NoError(t, err)
	var found []kind
	for _, file := range files {
		content, err := fs.ReadFile(deploy.Manifests, file)
		require.NoError(t, err)
		definition := apiextensionsv1.CustomResourceDefinition{}
		require.NoError(t, yaml.UnmarshalStrict(content, &definition))
		found = append(found, kind{resource: definition.Spec.Names.Plural, scope: definition.Spec.Scope})
	}
	require.Len(t, found, 12)
	return found
}
