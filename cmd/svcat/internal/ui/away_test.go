package ui

import (
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// withoutDefinitions answers as the API server of a cluster that has namespaces, and nothing of the catalog.
func withoutDefinitions(w http.ResponseWriter, r *http.Request) {
	answer, is := map[string]string{
		"/api":                       `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":                      `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1":                    `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"namespaces","kind":"Namespace","namespaced":false,"verbs":["get"]}]}`,
		"/api/v1/namespaces/default": `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}}`,
	}[r.URL.Path]
	if !is {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer)
}

// TestNoCatalog: a page says what the command line says about a cluster that has no catalog,
// or does not answer.
func TestNoCatalog(t *testing.T) {
	t.Parallel()
	empty := httptest.NewServer(http.HandlerFunc(withoutDefinitions))
	t.Cleanup(empty.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, tc := range map[string]struct {
		reason, server string
		says           []string
	}{
		"NotInstalled": {"there are no definitions", empty.URL, []string{"defaultplan is not installed in the cluster of context \"dev\"", "→ a cluster administrator installs it"}},
		"Refused":      {"nothing listens", closed.URL, []string{`of context "dev" refuses the connection`, "→ check that the cluster runs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "kubeconfig")
			require.NoError(t, os.WriteFile(file, []byte(`{current-context: dev, contexts: [{name: dev, context: {cluster: here}}], clusters: [{name: here, cluster: {server: "`+tc.server+`"}}]}`), 0o600))
			env := cli.NewEnv(genericiooptions.NewTestIOStreamsDiscard())
			env.Flags.KubeConfig = &file
			site, err := newSite(env, options.New(), false)
			require.NoError(t, err)
			for _, path := range []string{"/", "/plans", "/plans/cluster/small", "/instances", "/instances/db"} {
				answered := httptest.NewRecorder()
				site.routes().ServeHTTP(answered, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
				assert.Equal(t, http.StatusBadGateway, answered.Code, path)
				for _, text := range tc.says {
					assert.Contains(t, html.UnescapeString(answered.Body.String()), text, "%s: %s", path, tc.reason)
				}
			}
		})
	}
}
