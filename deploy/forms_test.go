package deploy_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// theNamespace is what Helm alone does not render: it makes the release's by itself.
const theNamespace = "Namespace defaultplan-system"

// TestTheFormsAreOne renders the three forms of an installation, in both ways of its
// certificates, and compares them object by object.
func TestTheFormsAreOne(t *testing.T) {
	t.Parallel()
	plain, err := os.ReadFile("install.yaml")
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		reason     string
		one, other func(*testing.T) objects
	}{
		"PlainAndKustomize": {
			reason: "install.yaml is the overlay, written out",
			one:    func(t *testing.T) objects { return parse(t, plain) },
			other:  func(t *testing.T) objects { return kustomization(t, "overlays/self-managed") },
		},
		"HelmAndKustomize": {
			reason: "the chart without a value is the same installation",
			one:    func(t *testing.T) objects { return withoutNamespace(t, kustomization(t, "overlays/self-managed")) },
			other:  func(t *testing.T) objects { return withoutHelms(defaults(t)) },
		},
		"HelmAndKustomizeWithCertManager": {
			reason: "so is the one value that chooses cert-manager",
			one:    func(t *testing.T) objects { return withoutNamespace(t, kustomization(t, "overlays/cert-manager")) },
			other: func(t *testing.T) objects {
				return withoutHelms(chart(t, "helm", "defaultplan-system", `certs.mode="cert-manager"`))
			},
		},
		"HelmAndKustomizeWithEndpoints": {
			reason: "so are the value and the component that add the Services of bindings",
			one:    func(t *testing.T) objects { return withoutNamespace(t, withEndpoints(t)) },
			other: func(t *testing.T) objects {
				return withoutHelms(chart(t, "helm", "defaultplan-system", `controller.endpoints.enabled=true`))
			},
		},
		"BothHelms": {
			reason: "an operator's version of Helm is no choice of ours",
			one:    defaults,
			other:  func(t *testing.T) objects { return chart(t, "helm3", "defaultplan-system") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := tc.one(t), tc.other(t)
			assert.Empty(t, strict(t, one))
			assert.Equal(t, slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(other)), tc.reason)
			for name, object := range one {
				if same, there := other[name]; there {
					assert.Empty(t, cmp.Diff(object.Object, same.Object), "%s: %s", tc.reason, name)
				}
			}
		})
	}
}

// withEndpoints renders the overlay that docs/install.md has for the Services of bindings.
func withEndpoints(t *testing.T) objects {
	t.Helper()
	document, err := os.ReadFile("../docs/install.md")
	require.NoError(t, err)
	folder := filepath.Join(t.TempDir(), "mine")
	fromDocument(t, string(document), folder, "endpoints/kustomization.yaml", "self-managed")
	return kustomization(t, filepath.Join(folder, "endpoints"))
}

func withoutNamespace(t *testing.T, all objects) objects {
	t.Helper()
	require.Contains(t, all, theNamespace)
	delete(all, theNamespace)
	return all
}

// TestAllIsLabelled: every object can be found by our labels, and says its version.
func TestAllIsLabelled(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(chartFolder, "Chart.yaml"))
	require.NoError(t, err)
	var chart struct{ Version, AppVersion string }
	require.NoError(t, yaml.Unmarshal(content, &chart))
	assert.Equal(t, "v"+chart.Version, chart.AppVersion, "released together")
	for name, object := range defaults(t) {
		labels := object.GetLabels()
		assert.Equal(t, "defaultplan", labels["app.kubernetes.io/name"], name)
		assert.Equal(t, "defaultplan", labels["app.kubernetes.io/part-of"], name)
		assert.Equal(t, chart.AppVersion, labels["app.kubernetes.io/version"], name)
		assert.Equal(t, "Helm", labels["app.kubernetes.io/managed-by"], name)
	}
}

// TestNothingIsPrunedWithItsObjects: who takes the installation out of Git, or moves it,
// loses no instance by it. In every form, the definitions and the Namespace say to Flux
// and Argo CD that they stay; nothing else does, so all the rest is cleaned up.
func TestNothingIsPrunedWithItsObjects(t *testing.T) {
	t.Parallel()
	plain, err := os.ReadFile("install.yaml")
	require.NoError(t, err)
	stays := map[string]string{
		"kustomize.toolkit.fluxcd.io/prune": "disabled", "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
	}
	for name, tc := range map[string]struct {
		reason string
		all    objects
		want   int
	}{
		"Plain":       {"the definitions and the Namespace", parse(t, plain), len(kinds(t)) + 1},
		"SelfManaged": {"the same", kustomization(t, "overlays/self-managed"), len(kinds(t)) + 1},
		"CertManager": {"the same", kustomization(t, "overlays/cert-manager"), len(kinds(t)) + 1},
		"Definitions": {"alone, for crds.install=false", kustomization(t, "crds"), len(kinds(t))},
		"Helm":        {"beside Helm's own", defaults(t), len(kinds(t))},
		"HelmForADay": {"crds.keep=false is meant so", chart(t, "helm", "defaultplan-system", `crds.keep=false`), 0},
	} {
		stay := 0
		for key, object := range tc.all {
			lasting := object.GetKind() == "CustomResourceDefinition" || object.GetKind() == "Namespace"
			for annotation, value := range stays {
				want := ""
				if lasting && tc.want > 0 {
					want = value
				}
				assert.Equal(t, want, object.GetAnnotations()[annotation], "%s: %s: %s", name, tc.reason, key)
			}
			if lasting && tc.want > 0 {
				stay++
			}
		}
		assert.Equal(t, tc.want, stay, "%s: %s", name, tc.reason)
	}
}

// TestNoCertificateIsRendered: no form has a CA, a certificate or a key in it, so none
// can overwrite those that are in force.
func TestNoCertificateIsRendered(t *testing.T) {
	t.Parallel()
	for _, all := range []objects{defaults(t), chart(t, "helm", "defaultplan-system", `certs.mode="cert-manager"`, `certs.certManager.issue=true`)} {
		for name, object := range all {
			content, err := object.MarshalJSON()
			require.NoError(t, err)
			assert.NotContains(t, string(content), "-----BEGIN", name)
			// Brokers have a field of that name too.
			if object.GetKind() != "CustomResourceDefinition" {
				assert.NotContains(t, string(content), `"caBundle":`, name)
			}
			if object.GetKind() == "Secret" {
				assert.NotContains(t, object.Object, "data", name)
				assert.NotContains(t, object.Object, "stringData", name)
			}
		}
	}
}

// TestAnotherNamespace: wherever it is installed, nothing names the namespace that
// the manifests name.
func TestAnotherNamespace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		render func(*testing.T) objects
	}{
		"Helm": {reason: "a namespace is the release's", render: func(t *testing.T) objects { return chart(t, "helm", "other") }},
		"HelmNumber": {reason: "a namespace may look like a number", render: func(t *testing.T) objects {
			return chart(t, "helm3", "42", `certs.mode="cert-manager"`)
		}},
		"Kustomize":            {reason: "as docs/install.md says", render: inAnotherNamespace("self-managed")},
		"KustomizeCertManager": {reason: "as docs/install.md says", render: inAnotherNamespace("cert-manager")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := tc.render(t)
			assert.Empty(t, strict(t, all))
			for name, object := range all {
				content, err := object.MarshalJSON()
				require.NoError(t, err)
				assert.NotContains(t, string(content), "defaultplan-system", "%s: %s", tc.reason, name)
			}
		})
	}
}

// inAnotherNamespace renders an overlay as docs/install.md tells for a namespace of
// one's own. The folders are below this one because kustomize takes nothing by an
// absolute path.
func inAnotherNamespace(overlay string) func(*testing.T) objects {
	return func(t *testing.T) objects {
		t.Helper()
		document, err := os.ReadFile("../docs/install.md")
		require.NoError(t, err)
		folder := filepath.Join(t.TempDir(), "mine")
		for _, file := range []string{"kustomization.yaml", "moved/kustomization.yaml"} {
			fromDocument(t, string(document), folder, file, overlay)
		}
		return kustomization(t, folder)
	}
}

// fromDocument writes a file that a document has, for an overlay of this folder.
func fromDocument(t *testing.T, document, folder, file, overlay string) {
	t.Helper()
	_, content, found := strings.Cut(document, "# "+file+"\n")
	require.True(t, found, file)
	content, _, found = strings.Cut(content, "```")
	require.True(t, found, file)
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	to, err := filepath.Rel(filepath.Join(folder, filepath.Dir(file)), here)
	require.NoError(t, err)
	content = strings.ReplaceAll(strings.ReplaceAll(content, "defaultplan/deploy", to), "self-managed", overlay)
	require.NoError(t, os.MkdirAll(filepath.Join(folder, filepath.Dir(file)), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600))
}
