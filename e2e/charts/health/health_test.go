package health_test

import (
	"io/fs"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/deploy/argocd"
	"github.com/defaultplan/defaultplan/e2e/charts/health"
)

// A suite is a health_test.yaml, as Argo CD's own tests read it.
type suite struct {
	Tests []struct {
		HealthStatus health.Result `json:"healthStatus"`
		InputPath    string        `json:"inputPath"`
	} `json:"tests"`
}

// TestCheck runs what lies beside each check, as Argo CD would in its repository: every
// file of testdata is judged once.
func TestCheck(t *testing.T) {
	t.Parallel()
	scripts, err := fs.Glob(argocd.Checks, "*/*/health.lua")
	require.NoError(t, err)
	require.Len(t, scripts, 6)
	for _, script := range scripts {
		folder := path.Dir(script)
		t.Run(path.Base(folder), func(t *testing.T) {
			t.Parallel()
			content, err := argocd.Checks.ReadFile(path.Join(folder, "health_test.yaml"))
			require.NoError(t, err)
			cases := suite{}
			require.NoError(t, yaml.UnmarshalStrict(content, &cases))
			files, err := fs.Glob(argocd.Checks, path.Join(folder, "testdata", "*.yaml"))
			require.NoError(t, err)
			var judged []string
			for _, test := range cases.Tests {
				judged = append(judged, path.Join(folder, test.InputPath))
				got, err := health.Check(object(t, path.Join(folder, test.InputPath), path.Base(folder)))
				require.NoError(t, err)
				assert.Equal(t, test.HealthStatus, got, test.InputPath)
			}
			assert.ElementsMatch(t, files, judged)
		})
	}
}

// object reads a file of testdata; it must be of the kind that the check is for.
func object(t *testing.T, file, kind string) *unstructured.Unstructured {
	t.Helper()
	content, err := argocd.Checks.ReadFile(file)
	require.NoError(t, err)
	text, err := yaml.YAMLToJSON(content)
	require.NoError(t, err)
	o := &unstructured.Unstructured{}
	require.NoError(t, o.UnmarshalJSON(text))
	require.Equal(t, kind, o.GetKind(), file)
	return o
}

// TestUnknownKindHasNoCheck says so.
func TestUnknownKindHasNoCheck(t *testing.T) {
	t.Parallel()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}
	_, err := health.Check(o)
	require.ErrorContains(t, err, `"Pod"`)
}
