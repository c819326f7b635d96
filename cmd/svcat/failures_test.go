package main

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// secret is a token that no message repeats.
const secret = "sekret-token"

// kubeconfigOf is a file with one context, dev, of an API server.
func kubeconfigOf(t *testing.T, server, cluster string) string {
	t.Helper()
	return write(t, fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: dev,
 clusters: [{name: here, cluster: {server: %q%s}}],
 users: [{name: eve, user: {token: %s}}],
 contexts: [{name: dev, context: {cluster: here, user: eve, namespace: team}}]}`, server, cluster, secret))
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// fails runs svcat, which ends with 1 and writes nothing to stdout, and returns what it says.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	streams, _, out, errs := genericiooptions.NewTestIOStreams()
	require.Equal(t, cli.ExitFailed, run(append([]string{"svcat"}, args...), streams), errs.String())
	assert.Empty(t, out.String())
	assert.NotContains(t, errs.String(), secret)
	return errs.String()
}

// answers is an API server that answers each request with a code and a body, of JSON if it
// begins as such.
func answers(t *testing.T, code int, body func(*http.Request) string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := body(r)
		if strings.HasPrefix(text, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// closedPort is an address where nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// cannot is the authorizer's refusal of what a request asks for.
func cannot(user string) func(*http.Request) string {
	verbs := map[string]string{http.MethodGet: "list", http.MethodPost: "create", http.MethodPatch: "patch", http.MethodDelete: "delete"}
	return func(r *http.Request) string {
		words := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/apis/servicecatalog.k8s.io/v1beta1"), "/"), "/")
		where, resource := "at the cluster scope", words[0]
		if resource == "namespaces" {
			where, resource = fmt.Sprintf("in the namespace %q", words[1]), words[2]
		}
		message := fmt.Sprintf(`%s.servicecatalog.k8s.io is forbidden: User %q cannot %s resource %q in API group "servicecatalog.k8s.io" %s`, resource, user, verbs[r.Method], resource, where)
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden","message":%q,"details":{"group":"servicecatalog.k8s.io","kind":%q}}`, message, resource)
	}
}

// TestForbiddenHasAWayOut: what Kubernetes says, and the command that grants it.
func TestForbiddenHasAWayOut(t *testing.T) {
	t.Parallel()
	const grants = "\n  → an administrator grants it: "
	for name, tc := range map[string]struct {
		reason, user, args string
		says, not          []string
	}{
		"List": {
			reason: "a namespace's", user: "eve", args: "get instances",
			says: []string{
				`error: cannot list serviceinstances: Error from server (Forbidden): serviceinstances.servicecatalog.k8s.io is forbidden: User "eve" cannot list resource "serviceinstances" in API group "servicecatalog.k8s.io" in the namespace "team"`,
				grants + "kubectl create rolebinding servicecatalog-view-eve --namespace=team --clusterrole=servicecatalog-view --user=eve\n",
			},
		},
		"ListAll": {
			reason: "all namespaces'", user: "eve", args: "get bindings -A",
			says: []string{"\n  → an administrator grants it, with the instances, bindings and parameters of every namespace: kubectl create clusterrolebinding servicecatalog-view-eve --clusterrole=servicecatalog-view --user=eve\n"},
		},
		"Cluster": {
			reason: "the cluster's catalog", user: "eve", args: "get plans --scope cluster",
			says: []string{grants + "kubectl create clusterrolebinding servicecatalog-catalog-view-eve --clusterrole=servicecatalog-catalog-view --user=eve\n"},
		},
		"Create": {
			reason: "a write", user: "system:serviceaccount:dev:ci", args: "provision db --type mysql",
			says: []string{
				"Error from server (Forbidden): ", `cannot create resource "serviceinstances"`,
				grants + "kubectl create rolebinding servicecatalog-edit-system:serviceaccount:dev:ci --namespace=team --clusterrole=servicecatalog-edit --user=system:serviceaccount:dev:ci\n",
			},
		},
		"Anonymous": {
			reason: "a right for it would be for all", user: "system:anonymous", args: "get instances",
			says: []string{`User "system:anonymous" cannot list`, "\n  → the request had no credentials: "}, not: []string{"kubectl create"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := answers(t, http.StatusForbidden, cannot(tc.user))
			said := fails(t, append([]string{"--kubeconfig", kubeconfigOf(t, server, "")}, strings.Fields(tc.args)...)...)
			for _, text := range tc.says {
				assert.Contains(t, said, text, tc.reason)
			}
			for _, text := range tc.not {
				assert.NotContains(t, said, text, tc.reason)
			}
		})
	}
}

// TestDenialsStayAsTheyAre: admission has its own way out.
func TestDenialsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const denial = "admission webhook \"x\" denied the request: policy no-mysql denies it\n  → choose another type"
	server := answers(t, http.StatusForbidden, func(*http.Request) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden","message":%q,"details":{"group":"servicecatalog.k8s.io","kind":"serviceinstances"}}`, denial)
	})
	assert.Equal(t, "Error from server (Forbidden): "+denial+"\n", fails(t, "--kubeconfig", kubeconfigOf(t, server, ""), "provision", "db", "--type", "mysql"))
}

// TestTransport: what keeps each command from the cluster, which cluster it is, and what to
// see to.
func TestTransport(t *testing.T) {
	t.Parallel()
	closed := closedPort(t)
	for name, tc := range map[string]struct {
		reason string
		// server is how the API server is; empty: nothing listens.
		server func(t *testing.T) string
		// cluster are other fields of the kubeconfig's cluster.
		cluster string
		args    string
		says    []string
	}{
		"Refused": {
			reason: "nothing listens", args: "get instances",
			says: []string{"error: cannot list serviceinstances: the API server https://" + closed + ` of context "dev" refuses the connection: `, "\n  → check that the cluster runs", "kubectl config view --minify"},
		},
		"RefusedWrite": {reason: "said alone it is an error too", args: "provision db --type mysql", says: []string{"error: the API server https://" + closed + ` of context "dev" refuses the connection: `}},
		"Name": {
			reason: "reserved: it never resolves", server: func(*testing.T) string { return "https://cluster.invalid:6443" }, args: "get plans",
			says: []string{`the API server https://cluster.invalid:6443 of context "dev" has a name that does not resolve: `, "\n  → check its name: kubectl config view --minify"},
		},
		"Timeout": {
			reason: "it accepts and says nothing", server: silent, args: "get instances --request-timeout 100ms",
			says: []string{` of context "dev" does not answer: `, "\n  → check that the cluster runs"},
		},
		"Untrusted": {
			reason: "another authority's certificate", server: secured, args: "get instances",
			says: []string{` of context "dev" has a certificate that is not trusted: `, "x509: certificate signed by unknown authority", "\n  → check certificate-authority"},
		},
		"OtherName": {
			reason: "a certificate for another name", server: secured, args: "get instances --tls-server-name other.example",
			says: []string{` has a certificate that is not trusted: `, "other.example", "\n  → check that the address is one of those in its certificate"},
		},
		"Plain": {
			reason: "it speaks HTTP", server: func(t *testing.T) string {
				t.Helper()
				return strings.Replace(answers(t, http.StatusOK, func(*http.Request) string { return "{}" }), "http://", "https://", 1)
			}, args: "get instances",
			says: []string{` of context "dev" does not speak HTTPS: `, "\n  → "},
		},
		"Proxy": {
			reason: "it is the proxy that is away", cluster: ", proxy-url: 'http://" + closed + "'", server: func(*testing.T) string { return "https://cluster.invalid:6443" },
			args: "get instances", says: []string{`the proxy to the API server https://cluster.invalid:6443 of context "dev" cannot be reached: `, "\n  → check proxy-url"},
		},
		"Unauthorized": {
			reason: "as kubectl says it, with what helps", args: "get instances", server: func(t *testing.T) string {
				t.Helper()
				return answers(t, http.StatusUnauthorized, func(*http.Request) string {
					return `{"kind":"Status","apiVersion":"v1","status":"Failure","code":401,"reason":"Unauthorized","message":"Unauthorized"}`
				})
			},
			says: []string{"error: cannot list serviceinstances: Error from server (Unauthorized): Unauthorized\n  → ", `credentials of user "eve" of context "dev" are wrong or expired`},
		},
		"NotInstalled": {
			reason: "there are no definitions", args: "get instances", server: withoutCRDs,
			says: []string{`error: cannot list serviceinstances: defaultplan is not installed in the cluster of context "dev": the API server http://127.0.0.1:`, " does not serve serviceinstances.servicecatalog.k8s.io\n  → ", "deploy/install.yaml", "svcat check"},
		},
		"NotInstalledWrite":   {reason: "before a write", args: "provision db --type mysql", server: withoutCRDs, says: []string{"error: defaultplan is not installed in the cluster of context "}},
		"NotInstalledExplain": {reason: "an explanation reads first", args: "explain mysql", server: withoutCRDs, says: []string{"defaultplan is not installed in the cluster of context "}},
		"Credentials": {
			reason: "a URL with a password", args: "get instances --server http://eve:" + secret + "@" + closed,
			says: []string{"the API server http://" + closed + ` of context "dev" refuses the connection`, "\n  → check that the cluster runs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := "https://" + closed
			if tc.server != nil {
				server = tc.server(t)
			}
			said := fails(t, append([]string{"--kubeconfig", kubeconfigOf(t, server, tc.cluster)}, strings.Fields(tc.args)...)...)
			for _, text := range tc.says {
				assert.Contains(t, said, text, tc.reason)
			}
			assert.NotContains(t, said, `Get "http`, "the address is said once")
		})
	}
}

// TestCheckSaysItToo: as a finding.
func TestCheckSaysItToo(t *testing.T) {
	t.Parallel()
	server := "https://" + closedPort(t)
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	require.Equal(t, cli.ExitFailed, run([]string{"svcat", "check", "--kubeconfig", kubeconfigOf(t, server, "")}, streams))
	assert.Contains(t, out.String(), "failed   cluster       the API server "+server+` of context "dev" refuses the connection: `)
	assert.Contains(t, out.String(), "→ check that the cluster runs, and that this is its address: kubectl config view --minify --kubeconfig=")
}

// silent is a server that accepts connections and answers nothing.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	return "http://" + listener.Addr().String()
}

// secured is a server with a certificate of its own.
func secured(t *testing.T) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshakes that clients end
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// withoutCRDs is an API server that has namespaces, and has never heard of the catalog.
func withoutCRDs(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, has := map[string]string{
			"/api":                    `{"kind":"APIVersions","versions":["v1"]}`,
			"/api/v1":                 `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"namespaces","kind":"Namespace","verbs":["get"]}]}`,
			"/apis":                   `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
			"/api/v1/namespaces/team": `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"team"}}`,
		}[r.URL.Path]
		if !has {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestKubeconfig: which files were looked at, and what to do.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	const mended = "\n  → correct it, or name another: export KUBECONFIG=FILE, or --kubeconfig FILE"
	const named = "\n  → name a kubeconfig: export KUBECONFIG=FILE, or --kubeconfig FILE"
	absent := filepath.Join(t.TempDir(), "absent")
	for name, tc := range map[string]struct {
		reason, file string
		args         string
		says         []string
	}{
		"Absent":    {reason: "it was named", file: absent, says: []string{"error: cannot read the kubeconfig " + absent + ": no such file or directory" + mended}},
		"Directory": {reason: "nor is that one", file: filepath.Dir(absent), says: []string{"error: cannot read the kubeconfig " + filepath.Dir(absent) + ": ", mended}},
		"Malformed": {reason: "no YAML", file: write(t, ": : bad"), says: []string{"error: cannot read the kubeconfig ", "yaml: ", mended}},
		"Empty":     {reason: "it names no cluster", file: write(t, ""), says: []string{"error: no cluster is configured: looked at ", "kubeconfig (no contexts)", named}},
		"NoCurrent": {
			reason: "none is chosen", file: write(t, `{contexts: [{name: dev, context: {cluster: here}}, {name: prod, context: {cluster: here}}], clusters: [{name: here, cluster: {server: "https://h"}}]}`),
			says: []string{"error: no current context in the kubeconfig ", "; contexts: dev, prod\n  → choose one: --context NAME, or kubectl config use-context NAME"},
		},
		"NoContext": {
			reason: "another is asked for", file: kubeconfigOf(t, "https://h", ""), args: " --context prod",
			says: []string{`error: no context "prod" in the kubeconfig `, "; contexts: dev\n  → choose one: "},
		},
		"NoCluster": {
			reason: "it is half a context", file: write(t, `{current-context: dev, contexts: [{name: dev, context: {cluster: gone}}]}`),
			says: []string{`error: context "dev" is of cluster "gone", which has no server in the kubeconfig `, "\n  → set it: kubectl config set-cluster gone --server=URL"},
		},
		"NoKey": {
			reason: "its parts are files too", file: write(t, `{current-context: dev, contexts: [{name: dev, context: {cluster: here, user: eve}}], clusters: [{name: here, cluster: {server: "https://h"}}],
 users: [{name: eve, user: {client-certificate: /absent/crt, client-key: /absent/key}}]}`),
			says: []string{"error: cannot read the kubeconfig ", "/absent/crt", mended},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{"get instances", "provision db --type mysql", "describe instance db", "version", "check", "ui"} {
				streams, _, _, errs := genericiooptions.NewTestIOStreams()
				args := strings.Fields("svcat " + command + tc.args)
				require.Equal(t, cli.ExitFailed, run(append(args, "--kubeconfig", tc.file), streams), errs.String())
				for _, text := range tc.says {
					assert.Contains(t, errs.String(), text, "%s: %s", command, tc.reason)
				}
			}
		})
	}
}

// TestKubeconfigOfTheEnvironment: each file of the list is named.
func TestKubeconfigOfTheEnvironment(t *testing.T) {
	one, other := filepath.Join(t.TempDir(), "one"), write(t, "")
	t.Setenv("KUBECONFIG", one+string(filepath.ListSeparator)+other)
	assert.Contains(t, fails(t, "get", "instances"), "error: no cluster is configured: looked at "+one+" (not there), "+other+" (no contexts)\n  → name a kubeconfig: ")
	t.Setenv("KUBECONFIG", "")
	home := t.TempDir()
	t.Setenv("HOME", home)
	assert.Contains(t, fails(t, "get", "instances"), ".kube/config (")
}

// TestTrustedServer: what is reached is said nothing of.
func TestTrustedServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"kind":"ServiceInstanceList","apiVersion":"servicecatalog.k8s.io/v1beta1","items":[]}`)
	}))
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "ca")
	require.NoError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	streams, _, _, errs := genericiooptions.NewTestIOStreams()
	assert.Zero(t, run([]string{"svcat", "--kubeconfig", kubeconfigOf(t, server.URL, ", certificate-authority: "+authority), "get", "instances"}, streams), errs.String())
	assert.Equal(t, "no instances in namespace \"team\"\n", errs.String())
}
