package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// What is known by heart is what our CRDs say.
func TestMapper(t *testing.T) {
	t.Parallel()
	scheme, err := Scheme()
	require.NoError(t, err)
	mapper, err := mapperFor(&rest.Config{Host: "http://127.0.0.1:1"}, scheme)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "deploy", "crds", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		crd := apiextensionsv1.CustomResourceDefinition{}
		require.NoError(t, yaml.Unmarshal(text, &crd))
		found, err := mapper.RESTMapping(v1beta1.Kind(crd.Spec.Names.Kind), v1beta1.GroupVersion.Version)
		require.NoError(t, err, file)
		assert.Equal(t, crd.Spec.Names.Plural, found.Resource.Resource)
		want := map[apiextensionsv1.ResourceScope]string{apiextensionsv1.ClusterScoped: "root", apiextensionsv1.NamespaceScoped: "namespace"}[crd.Spec.Scope]
		assert.Equal(t, want, string(found.Scope.Name()), file)
	}
}
