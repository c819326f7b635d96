package argocd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// An application has the fields of Argo CD's Application that the examples use, by the
// names that its definition has for them.
type application struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Project string `json:"project"`
		Source  struct {
			RepoURL        string `json:"repoURL"`
			TargetRevision string `json:"targetRevision"`
			Path           string `json:"path"`
			Helm           struct {
				ValuesObject map[string]any `json:"valuesObject"`
			} `json:"helm"`
		} `json:"source"`
		Destination struct {
			Server    string `json:"server"`
			Namespace string `json:"namespace"`
		} `json:"destination"`
		SyncPolicy struct {
			Automated struct {
				Prune    bool `json:"prune"`
				SelfHeal bool `json:"selfHeal"`
			} `json:"automated"`
			SyncOptions []string `json:"syncOptions"`
		} `json:"syncPolicy"`
	} `json:"spec"`
}

// TestApplications reads the example strictly, and holds it to folders of this repository
// and to the options without which a sync fights with what others write.
func TestApplications(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("applications.yaml")
	require.NoError(t, err)
	documents := bytes.Split(content, []byte("\n---\n"))
	require.Len(t, documents, 2)
	folders := []string{filepath.Join("..", ".."), filepath.Join("..", "charts", "examples")}
	for i, document := range documents {
		a := application{}
		require.NoError(t, yaml.UnmarshalStrict(document, &a))
		assert.Equal(t, "argoproj.io/v1alpha1 Application", a.APIVersion+" "+a.Kind)
		assert.DirExists(t, filepath.Join(folders[i], strings.TrimPrefix(a.Spec.Source.Path, "charts/")), a.Metadata.Name)
		assert.Contains(t, a.Spec.SyncPolicy.SyncOptions, "ServerSideApply=true", "the definitions are large")
	}
}
