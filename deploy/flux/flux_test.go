// Package flux_test holds the examples for Flux to themselves and to this repository.
package flux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// The fields of Flux that the examples use, by the names that its API has for them:
// whatever else stands there is a slip of the pen, which Flux would refuse.
type (
	ref struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	}
	object struct {
		metav1.TypeMeta `json:",inline"`

		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	gitRepository struct {
		object

		Spec struct {
			Interval metav1.Duration `json:"interval"`
			URL      string          `json:"url"`
			Ref      struct {
				Tag string `json:"tag"`
			} `json:"ref"`
		} `json:"spec"`
	}
	kustomization struct {
		object

		Spec struct {
			DependsOn []struct {
				Name string `json:"name"`
			} `json:"dependsOn"`
			Interval     metav1.Duration `json:"interval"`
			SourceRef    ref             `json:"sourceRef"`
			Path         string          `json:"path"`
			Prune        *bool           `json:"prune"`
			Wait         bool            `json:"wait"`
			HealthChecks []struct {
				APIVersion string `json:"apiVersion"`
				Kind       string `json:"kind"`
				Name       string `json:"name"`
			} `json:"healthChecks"`
			Timeout metav1.Duration `json:"timeout"`
		} `json:"spec"`
	}
	helmRelease struct {
		object

		Spec struct {
			Interval        metav1.Duration `json:"interval"`
			TargetNamespace string          `json:"targetNamespace"`
			Chart           struct {
				Spec struct {
					Chart     string `json:"chart"`
					SourceRef ref    `json:"sourceRef"`
				} `json:"spec"`
			} `json:"chart"`
			Timeout metav1.Duration `json:"timeout"`
			Values  map[string]any  `json:"values"`
		} `json:"spec"`
	}
)

// kinds are what each document is decoded as.
var kinds = map[string]func() any{
	"source.toolkit.fluxcd.io/v1 GitRepository":    func() any { return &gitRepository{} },
	"kustomize.toolkit.fluxcd.io/v1 Kustomization": func() any { return &kustomization{} },
	"helm.toolkit.fluxcd.io/v2 HelmRelease":        func() any { return &helmRelease{} },
}

// read decodes the documents of a text strictly: an unknown kind or field is an error.
func read(t *testing.T, text string) ([]any, error) {
	t.Helper()
	var objects []any
	for document := range strings.SplitSeq(text, "\n---\n") {
		is := metav1.TypeMeta{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &is))
		require.Contains(t, kinds, is.APIVersion+" "+is.Kind)
		o := kinds[is.APIVersion+" "+is.Kind]()
		if err := yaml.UnmarshalStrict([]byte(document), o); err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// example reads one of the files beside this one.
func example(t *testing.T, file string) (text string, objects []any) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	objects, err = read(t, string(content))
	require.NoError(t, err, file)
	return string(content), objects
}

// TestStepsFollowOneAnother holds each step to one before it that exists, to waiting for
// what it makes, and those of this repository to folders that are there.
func TestStepsFollowOneAnother(t *testing.T) {
	t.Parallel()
	_, objects := example(t, "defaultplan.yaml")
	var before []string
	for _, o := range objects {
		s, ok := o.(*kustomization)
		if !ok {
			continue
		}
		assert.True(t, s.Spec.Wait || len(s.Spec.HealthChecks) > 0, "%s waits", s.Metadata.Name)
		assert.NotNil(t, s.Spec.Prune, "%s: Flux wants prune said", s.Metadata.Name)
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

// TestReleaseOrdersAChart holds the other example to a chart that is among ours.
func TestReleaseOrdersAChart(t *testing.T) {
	t.Parallel()
	_, objects := example(t, "release.yaml")
	require.Len(t, objects, 1)
	release, ok := objects[0].(*helmRelease)
	require.True(t, ok)
	assert.DirExists(t, filepath.Join("..", "charts", "examples", filepath.Base(release.Spec.Chart.Spec.Chart)))
}

// TestSlipsOfThePenAreSeen shows that the examples are read strictly, however deep.
func TestSlipsOfThePenAreSeen(t *testing.T) {
	t.Parallel()
	text, _ := example(t, "defaultplan.yaml")
	for right, slip := range map[string]string{"dependsOn:": "dependOn:", "  wait:": "  waits:", "  timeout: 5m": "  timeout: 5m\n  retires: 1", "{kind: GitRepository,": "{type: GitRepository,"} {
		require.Contains(t, text, right)
		_, err := read(t, strings.Replace(text, right, slip, 1))
		require.ErrorContains(t, err, "unknown field", slip)
	}
}
