package admission_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// proposalManifest reads a manifest of default-service-plans.md.
func proposalManifest(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "proposals", name+".yaml"))
	require.NoError(t, err)
	return string(content)
}

// TestTheProposalsExamples plays both worked examples of the proposal, one after
// the other: their catalogs are two states of the same objects. Nothing else in
// this package uses the type mysql or these IDs.
//
//nolint:tparallel // its two states come one after the other.
func TestTheProposalsExamples(t *testing.T) {
	t.Parallel()
	e := env.New(t)

	t.Run("ProvisioningWithDefaults", func(t *testing.T) {
		e := e.In(t)
		catalog := proposalManifest(t, "defaults-catalog")
		e.Kubectl(catalog, "apply", "-f", "-")
		e.Kubectl(proposalManifest(t, "defaults-instance"), "apply", "-f", "-")
		shows(e, proposalManifest(t, "defaults-result"))
		e.Kubectl("", "delete", "serviceinstance", "mydb")
		e.Kubectl("", "delete", "clusterserviceplan", "427559f1-bf2a-45d3-8844-32374a3e58aa")
	})
	t.Run("ProvisioningByServiceType", func(t *testing.T) {
		e := e.In(t)
		e.Kubectl(proposalManifest(t, "type-class"), "apply", "-f", "-")
		e.Kubectl(proposalManifest(t, "type-plan"), "apply", "-f", "-")
		said := e.Kubectl(proposalManifest(t, "type-instance"), "apply", "-f", "-")
		assert.Contains(t, said, "Warning: mysql resolved to plan azure-mysql/premium-p1 (default)")
		shows(e, proposalManifest(t, "type-result"))
	})
}

// shows asserts that every field of a manifest is stored with that value; the
// stored object may hold more.
func shows(e *env.Env, manifest string) {
	e.Helper()
	want := map[string]any{}
	require.NoError(e, yaml.Unmarshal([]byte(manifest), &want))
	// The status is the broker's answer, which is 3/6's.
	delete(want, "status")

	got := &unstructured.Unstructured{}
	got.SetAPIVersion(want["apiVersion"].(string))
	got.SetKind(want["kind"].(string))
	got.SetNamespace(e.Namespace)
	name, _, err := unstructured.NestedString(want, "metadata", "name")
	require.NoError(e, err)
	got.SetName(name)
	e.Get(got)

	assert.Empty(e, cmp.Diff(want, env.Narrowed(got.Object, want)), "-want +stored")
	spec := want["spec"].(map[string]any)
	stored, _, err := unstructured.NestedMap(got.Object, "spec", "parameters")
	require.NoError(e, err)
	assert.Empty(e, cmp.Diff(spec["parameters"], any(stored)), "no parameter but the proposal's: -want +stored")
}

// TestTheManifestsAreTheProposals holds the manifests above against the document
// that they are from, where it lies beside this checkout.
func TestTheManifestsAreTheProposals(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "proposals", "default-service-plans.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the proposals are not beside this checkout")
	}
	require.NoError(t, err)
	// All that DESIGN.md section 10 corrects in these.
	corrected := strings.NewReplacer("\t", "  ", "is-default-plan: true", `is-default-plan: "true"`).Replace(string(document))
	files, err := filepath.Glob(filepath.Join("testdata", "proposals", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 7)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		assert.Contains(t, corrected, "```yaml\n"+strings.TrimRight(proposalManifest(t, name), "\n"), name)
	}
}
