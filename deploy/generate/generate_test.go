package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGeneratedFilesAreCurrent writes them again and compares: none differs,
// none is missing, none is left over.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	t.Parallel()
	fresh := t.TempDir()
	require.NoError(t, generate("..", fresh))
	want, got := contents(t, fresh, "."), map[string]string{}
	for _, generated := range []string{"install.yaml", filepath.Join(chartFolder, readmeName), filepath.Join(chartFolder, templatesFolder), filepath.Join(chartFolder, filesFolder)} {
		if _, err := os.Stat(filepath.Join("..", generated)); err == nil {
			maps.Copy(got, contents(t, "..", generated))
		}
	}
	for path, content := range want {
		// Compared here, since a definition would fill screens.
		if got[path] != content {
			assert.Fail(t, "run `make generate`", "%s is not current", path)
		}
	}
	for path := range got {
		assert.Contains(t, want, path, "made by nothing: run `make generate`")
	}
}

func contents(t *testing.T, root, below string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(filepath.Join(root, below), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[name] = string(content)
		return err
	}))
	return files
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, content string
		want            []string
	}{
		"One":            {"without a line between", "a: 1\n", []string{"a: 1\n"}},
		"LeadingLine":    {"as controller-gen writes it", "---\na: 1\n", []string{"a: 1\n"}},
		"Two":            {"comments stay with what they are about", "# one\na: 1\n---\n# two\nb: 1\n", []string{"# one\na: 1\n", "# two\nb: 1\n"}},
		"NoLastNewline":  {"an editor's", "a: 1\n---\nb: 1", []string{"a: 1\n", "b: 1\n"}},
		"DashesInAValue": {"only a whole line is one", "a: |\n  ---\n", []string{"a: |\n  ---\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, documents(tc.content), tc.reason)
		})
	}
}

func TestTemplateOf(t *testing.T) {
	t.Parallel()
	const labels = "    {{- include \"defaultplan.labels\" . | nindent 4 }}\n"
	for name, tc := range map[string]struct{ reason, folder, document, want string }{
		"NoLabels": {
			"they are added", "rbac", "kind: A\nmetadata:\n  name: a\n",
			"---\nkind: A\nmetadata:\n  labels:\n" + labels + "  name: a\n",
		},
		"Labels": {
			"ours stand beside", "rbac", "kind: A\nmetadata:\n  name: a\n  labels:\n    b: c\nspec:\n",
			"---\nkind: A\nmetadata:\n  name: a\n  labels:\n" + labels + "    b: c\nspec:\n",
		},
		"LabelsOfAnother": {
			"those of a pod are not the object's", "rbac", "metadata:\n  name: a\nspec:\n  labels:\n    b: c\n",
			"---\nmetadata:\n  labels:\n" + labels + "  name: a\nspec:\n  labels:\n    b: c\n",
		},
		"Namespace": {
			"quoted where it is a whole value", "rbac", "metadata:\n  namespace: defaultplan-system\nspec:\n  a: user:defaultplan-system:b\n",
			"---\nmetadata:\n  labels:\n" + labels + "  namespace: {{ .Release.Namespace | quote }}\nspec:\n  a: user:{{ .Release.Namespace }}:b\n",
		},
		"Account": {
			"its annotations are values", "rbac", "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: defaultplan-webhook\n",
			"---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  labels:\n" + labels +
				"  {{- with .Values.webhook.serviceAccount.annotations }}\n  annotations:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}\n" +
				"  name: {{ " + accountOf("webhook") + " | toYaml }}\n",
		},
		"Subjects": {
			"they are called as the accounts are", "flow", "metadata:\n  name: defaultplan-keeper\nspec:\n- kind: ServiceAccount\n  serviceAccount:\n    namespace: a\n    name: defaultplan-keeper\n- kind: ServiceAccount\n  name: defaultplan-controller\n",
			"---\nmetadata:\n  labels:\n" + labels + "  name: defaultplan-keeper\nspec:\n- kind: ServiceAccount\n  serviceAccount:\n    namespace: a\n" +
				"    name: {{ " + accountOf("keeper") + " | toYaml }}\n- kind: ServiceAccount\n  name: {{ " + accountOf("controller") + " | toYaml }}\n",
		},
		"User": {
			"so are users", "hooks", "spec: 'system:serviceaccount:defaultplan-system:defaultplan-controller'\n",
			"---\nspec: 'system:serviceaccount:{{ .Release.Namespace }}:{{ " + accountOf("controller") + " }}'\n",
		},
		"Braces": {
			"a text is no template", "vap", "metadata:\n  name: a\nspec:\n  message: a {{ b }}\n",
			"---\nmetadata:\n  labels:\n" + labels + "  name: a\nspec:\n  message: a {{ \"{{\" }} b }}\n",
		},
		"Kept": {
			"definitions outlive the release", "crds", "metadata:\n  annotations:\n    a: b\n",
			"---\nmetadata:\n  labels:\n" + labels + "  annotations:\n    {{- if .Values.crds.keep }}\n    helm.sh/resource-policy: keep\n" + neverPruned + "    {{- end }}\n    a: b\n",
		},
		"Chain": {
			"not with an issuer of one's own", "certs/cert-manager", "kind: Issuer\nmetadata:\n  name: defaultplan-ca\n",
			"{{- if not .Values.certs.certManager.issuerRef }}\n---\nkind: Issuer\nmetadata:\n  labels:\n" + labels + "  name: defaultplan-ca\n{{- end }}\n",
		},
		"Leaf": {
			"which issuer is a value", "certs/cert-manager", "a: b\nkind: Certificate\nmetadata:\n  name: defaultplan-webhook\nspec:\n  issuerRef:\n    kind: Issuer\n  c: d\n",
			"---\na: b\nkind: Certificate\nmetadata:\n  labels:\n" + labels + "  name: defaultplan-webhook\nspec:\n  issuerRef:\n" +
				"    {{- with .Values.certs.certManager.issuerRef }}\n    {{- toYaml . | nindent 4 }}\n    {{- else }}\n    kind: Issuer\n    {{- end }}\n  c: d\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, templateOf(tc.folder, tc.document), tc.reason)
		})
	}
}

// TestNothingToGenerateFrom: a folder that was forgotten is said, and nothing is
// written without it.
func TestNothingToGenerateFrom(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	require.ErrorContains(t, generate(from, to), "cannot read the chart's version")
	chart := filepath.Join(from, chartFolder)
	require.NoError(t, os.MkdirAll(chart, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(chart, "Chart.yaml"), []byte("version: 1.0.0\n"), 0o600))
	require.ErrorContains(t, generate(from, to), "cannot find appVersion")
	require.NoError(t, os.WriteFile(filepath.Join(chart, "Chart.yaml"), []byte("appVersion: v1\n"), 0o600))
	err := generate(from, to)
	require.ErrorContains(t, err, "cannot find manifests in")
	assert.True(t, strings.HasSuffix(err.Error(), `crds"`))
	left, err := os.ReadDir(to)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestMonitoringIsComplete: a dashboard or rules that are missing are said, else the
// chart would render objects with nothing in them.
func TestMonitoringIsComplete(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(from, "monitoring"), 0o700))
	for _, name := range []string{"dashboard.json", "rules.yaml"} {
		_, err := monitoring(from)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, name)
		require.NoError(t, os.WriteFile(filepath.Join(from, "monitoring", name), []byte("{}\n"), 0o600))
	}
	files, err := monitoring(from)
	require.NoError(t, err)
	assert.Len(t, files, 2)
}
