// Package flux_test holds the examples for Flux to themselves and to this repository.
package flux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// A step is what matters of an object of Flux.
type step struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		DependsOn []struct {
			Name string `json:"name"`
		} `json:"dependsOn"`
		SourceRef struct {
			Name string `json:"name"`
		} `json:"sourceRef"`
		Path         string `json:"path"`
		Wait         bool   `json:"wait"`
		HealthChecks []any  `json:"healthChecks"`
	} `json:"spec"`
}

// TestStepsFollowOneAnother holds each step to one before it that exists, to waiting for
// what it makes, and those of this repository to folders that are there.
func TestStepsFollowOneAnother(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("defaultplan.yaml")
	require.NoError(t, err)
	var before []string
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		s := step{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &s))
		if s.Kind != "Kustomization" {
			continue
		}
		assert.True(t, s.Spec.Wait || len(s.Spec.HealthChecks) > 0, "%s waits", s.Metadata.Name)
		if s.Spec.SourceRef.Name == "defaultplan" {
			assert.DirExists(t, filepath.Join("..", "..", s.Spec.Path))
		}
		if len(before) > 0 {
			require.Len(t, s.Spec.DependsOn, 1, s.Metadata.Name)
			assert.Equal(t, before[len(before)-1], s.Spec.DependsOn[0].Name)
		}
		before = append(before, s.Metadata.Name)
	}
	assert.Equal(t, []string{"defaultplan", "catalog", "shop"}, before)
}
