package svcat_test

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestVersionNamesAllThree: svcat's, Kubernetes', and whether the API is served.
func TestVersionNamesAllThree(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	lines := strings.Split(e.Svcat("version"), "\n")
	require.Len(t, lines, 4)
	assert.Regexp(t, `^Client Version: \S+.* \(go1\.\S+\)$`, lines[0])
	assert.Regexp(t, `^Server Version: v1\.`, lines[1])
	assert.Equal(t, "Service Catalog API: servicecatalog.k8s.io/v1beta1 (12 kinds)", lines[2])
	for _, args := range [][]string{{"version", "--client"}, {"version", "-c", "-v", "4", "--logtostderr"}} {
		assert.Equal(t, lines[0]+"\n", e.Svcat(append(args, "--server", "https://127.0.0.1:1")...), "the cluster is not asked")
	}
	assert.Contains(t, e.SvcatFails(1, "version", "--server", "https://127.0.0.1:1"), "error: cannot ask the API server for its version: ")
}

// TestRequestsAreLogged: -v is kubectl's, and never shows a password.
func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	got := e.run("", "get", "classes", "-n", e.Namespace, "-v=6", "--logtostderr")
	require.Zero(t, got.code, got.err)
	assert.Contains(t, got.err, "/apis/servicecatalog.k8s.io/v1beta1/namespaces/"+e.Namespace+"/serviceclasses")
	assert.NotContains(t, got.out, "/apis/")
}

// TestWrongCommandLines: each is told what is allowed, with exit code 2, and nothing
// is sent.
func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"UnknownCommand":     {[]string{"provison", "db", "--nosuch"}, `svcat has no command "provison"; did you mean provision`},
		"UnknownBelow":       {[]string{"install", "plugn"}, `svcat install has no command "plugn"; did you mean plugin? commands: plugin`},
		"UnknownFlag":        {[]string{"version", "--nosuch"}, "unknown flag: --nosuch; see svcat version --help"},
		"TooManyArguments":   {[]string{"version", "please"}, "see svcat version --help"},
		"RequiredFlag":       {[]string{"register", "azure"}, "url"},
		"WrongOutput":        {[]string{"check", "-o", "xml"}, `--output is "xml"; allowed are table and json`},
		"WrongScope":         {[]string{"get", "classes", "--scope", "planet"}, `--scope is "planet"; allowed are cluster, namespace and all`},
		"CompletionOfNoBash": {[]string{"completion", "ksh"}, `svcat completion has no command "ksh"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := e.run("", append(tc.args, "--server", "https://127.0.0.1:1")...)
			assert.Equal(t, 2, got.code, got.err)
			assert.Contains(t, got.err, tc.want)
			assert.True(t, strings.HasPrefix(got.err, "error: "), got.err)
			assert.Equal(t, 1, strings.Count(got.err, "\n"), "one line: %s", got.err)
		})
	}
}

// TestShellsLoadCompletion: what svcat completion writes is a script of that shell.
func TestShellsLoadCompletion(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for shell, sign := range map[string]string{"bash": "__start_svcat", "zsh": "#compdef svcat", "fish": "complete -c svcat", "powershell": "Register-ArgumentCompleter"} {
		assert.Contains(t, e.Svcat("completion", shell), sign)
	}
	bash := exec.CommandContext(t.Context(), "bash", "-n")
	bash.Stdin = strings.NewReader(e.Svcat("completion", "bash"))
	out, err := bash.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Empty(t, out)
}

// TestSilentServerIsToldOf: a command that an API server leaves without an answer says
// what it waits for, and ends with Ctrl-C; a line that is completed says nothing.
func TestSilentServerIsToldOf(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	host := silent.Addr().String()
	waits := e.start("", "get", "plans", "--server", "http://"+host)
	waits.says("waiting for the API server at " + host + " …\n")
	waits.interrupt()
	got := waits.ends()
	assert.Equal(t, 130, got.code)
	assert.Equal(t, "error: interrupted\n", got.err)
	assert.Empty(t, got.out)

	completed := e.Exec(env.Command{Binary: "svcat", Args: []string{"__complete", "get", "plans", "--server", "http://" + host, ""}})
	assert.NotContains(t, completed.Stdout+completed.Stderr, "waiting for the API server")
}

// TestTemplatesKeepValues: a template that does not fit is told so without the
// parameters of what it was to print.
func TestTemplatesKeepValues(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Apply(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: db},
 spec: {clusterServiceClassExternalName: none, clusterServicePlanExternalName: none, parameters: {password: hunter2}}}`)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"List":         {[]string{"instances", "-o", "jsonpath={.items[100].foo}"}, `error executing jsonpath "{.items[100].foo}": array index out of bounds: index 100, length 1`},
		"ListTemplate": {[]string{"instances", "-o", "go-template={{index .items 100}}"}, "error calling index: index out of range: 100"},
		"One":          {[]string{"instance", "db", "-o", "jsonpath={.spec.parameters[0]}"}, "map[string]interface {} is not array or slice"},
		"OneTemplate":  {[]string{"instance", "db", "-o", "go-template={{range .spec.parameters.password}}{{end}}"}, "it does not fit the object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := e.run("", append([]string{"get", "-n", e.Namespace}, tc.args...)...)
			assert.Equal(t, 1, got.code)
			assert.Empty(t, got.out)
			assert.True(t, strings.HasSuffix(got.err, tc.want+"\n"), got.err)
			assert.Equal(t, 1, strings.Count(got.err, "\n"), got.err)
		})
	}
}
