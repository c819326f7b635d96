package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

const kubeconfig = `{apiVersion: v1, kind: Config, current-context: dev,
 clusters: [{name: here, cluster: {server: "https://127.0.0.1:1"}}],
 contexts: [{name: dev, context: {cluster: here, namespace: team}}]}`

// newEnv is the environment of a process with that kubeconfig and these arguments,
// beside the flags of places.
func newEnv(t *testing.T, args ...string) (*cli.Env, *cli.ScopeFlags, *bytes.Buffer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(kubeconfig), 0o600))
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	env, places := cli.NewEnv(streams), &cli.ScopeFlags{}
	flags := pflag.NewFlagSet("svcat", pflag.ContinueOnError)
	env.Bind(flags)
	places.Bind(flags, true)
	require.NoError(t, flags.Parse(append([]string{"--kubeconfig", file}, args...)))
	return env, places, out
}

// TestNearest: one object that is only shown is looked for in the cluster behind a
// namespace that was named, unless a scope was.
func TestNearest(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		want   cli.Scope
	}{
		"Nothing":   {reason: "as with lists", want: cli.Scope{Cluster: true, Namespaces: true, Namespace: "team"}},
		"Namespace": {reason: "then the cluster", args: []string{"-n", "dev"}, want: cli.Scope{Cluster: true, Namespaces: true, Namespace: "dev"}},
		"Cluster":   {reason: "only there", args: []string{"--cluster"}, want: cli.Scope{Cluster: true, Namespace: "team"}},
		"Scope":     {reason: "only there", args: []string{"-n", "dev", "--scope", "namespace"}, want: cli.Scope{Namespaces: true, Namespace: "dev"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, places, _ := newEnv(t, tc.args...)
			scope, err := places.Nearest(env)
			require.NoError(t, err)
			assert.Equal(t, tc.want, scope, tc.reason)
		})
	}
}

// TestScopeFlags holds every combination of the flags to where they say to look.
func TestScopeFlags(t *testing.T) {
	t.Parallel()
	both := func(namespace string) cli.Scope {
		return cli.Scope{Cluster: true, Namespaces: true, Namespace: namespace}
	}
	cluster := func(namespace string) cli.Scope { return cli.Scope{Cluster: true, Namespace: namespace} }
	local := func(namespace string) cli.Scope { return cli.Scope{Namespaces: true, Namespace: namespace} }
	cases := map[string]struct {
		reason string
		args   []string
		want   cli.Scope
	}{
		"Nothing":               {reason: "the cluster, and the current namespace", want: both("team")},
		"Namespace":             {reason: "only that", args: []string{"-n", "dev"}, want: local("dev")},
		"CurrentNamespace":      {reason: "named, it is as any other", args: []string{"-n", "team"}, want: local("team")},
		"Cluster":               {reason: "only the cluster", args: []string{"--cluster"}, want: cluster("team")},
		"ClusterAndNamespace":   {reason: "both", args: []string{"--cluster", "-n", "dev"}, want: both("dev")},
		"ClusterNot":            {reason: "as if it were not given", args: []string{"--cluster=false"}, want: both("team")},
		"All":                   {reason: "everything", args: []string{"-A"}, want: both("")},
		"ClusterAndAll":         {reason: "everything", args: []string{"--cluster", "--all-namespaces"}, want: both("")},
		"AllAndNamespace":       {reason: "all, as with kubectl", args: []string{"-A", "-n", "dev"}, want: both("")},
		"ClusterAllNamespace":   {reason: "all", args: []string{"--cluster", "-A", "-n", "dev"}, want: both("")},
		"ScopeAll":              {reason: "the older svcat's", args: []string{"--scope", "all"}, want: both("team")},
		"ScopeAllNamespace":     {reason: "the cluster too: scope wins over -n", args: []string{"--scope", "all", "-n", "dev"}, want: both("dev")},
		"ScopeAllAll":           {reason: "everything", args: []string{"--scope", "all", "-A"}, want: both("")},
		"ScopeCluster":          {reason: "only the cluster", args: []string{"--scope", "cluster"}, want: cluster("team")},
		"ScopeClusterNamespace": {reason: "scope wins over -n", args: []string{"--scope", "cluster", "-n", "dev"}, want: cluster("dev")},
		"ScopeClusterAll":       {reason: "scope wins over -A", args: []string{"--scope", "cluster", "-A"}, want: cluster("")},
		"ScopeNamespace":        {reason: "only the current one", args: []string{"--scope", "namespace"}, want: local("team")},
		"ScopeNamespaceNamed":   {reason: "only that", args: []string{"--scope", "namespace", "-n", "dev"}, want: local("dev")},
		"ScopeNamespaceAll":     {reason: "every namespace, without the cluster", args: []string{"--scope", "namespace", "-A"}, want: local("")},
		"ScopeAndCluster":       {reason: "they agree", args: []string{"--scope", "cluster", "--cluster"}, want: cluster("team")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, places, _ := newEnv(t, tc.args...)
			scope, err := places.Resolve(env)
			require.NoError(t, err)
			assert.Equal(t, tc.want, scope, tc.reason)
		})
	}
}

func TestScopeFlagsRefuse(t *testing.T) {
	t.Parallel()
	env, places, _ := newEnv(t, "--scope", "Cluster")
	_, err := places.Resolve(env)
	require.EqualError(t, err, `--scope is "Cluster"; allowed are cluster, namespace and all`)
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
	env, places, _ = newEnv(t, "--scope", "namespace", "--cluster")
	_, err = places.Resolve(env)
	require.EqualError(t, err, "--cluster and --scope namespace contradict each other; give one of them")
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
	env, places, _ = newEnv(t, "--context", "absent")
	_, err = places.Resolve(env)
	require.EqualError(t, err, `no context "absent" in the kubeconfig `+*env.Flags.KubeConfig+"; contexts: dev\n  → choose one: --context NAME, or kubectl config use-context NAME")
}

// TestNamespaceWithoutKubeconfig: as kubectl, there is always a namespace.
func TestNamespaceWithoutKubeconfig(t *testing.T) {
	t.Parallel()
	env := cli.NewEnv(genericiooptions.NewTestIOStreamsDiscard())
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	env.Flags.KubeConfig = &empty
	namespace, given, err := env.Namespace()
	require.NoError(t, err)
	assert.Equal(t, "default", namespace)
	assert.False(t, given)
}

// TestFlagsAreKubectls: but for the letter that provision needs, and what would
// differ from machine to machine.
func TestFlagsAreKubectls(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("svcat", pflag.ContinueOnError)
	cli.NewEnv(genericiooptions.NewTestIOStreamsDiscard()).Bind(flags)
	assert.Empty(t, flags.Lookup("server").Shorthand)
	assert.Equal(t, "n", flags.Lookup("namespace").Shorthand)
	assert.Equal(t, "v", flags.Lookup("v").Shorthand)
	require.NoError(t, flags.Parse([]string{"-v=99"}))
	assert.Equal(t, "7", flags.Lookup("v").Value.String(), "bodies are never logged: there are Secrets in them")
	require.NoError(t, flags.Parse([]string{"-v=0"}), "klog's level is the process's")
	require.Error(t, flags.Parse([]string{"-v=much"}))
	assert.Nil(t, flags.Lookup("cluster"), "the proposal has its own")
	assert.Equal(t, "$HOME/.kube/cache", flags.Lookup("cache-dir").DefValue)
	assert.NotEqual(t, "$HOME/.kube/cache", flags.Lookup("cache-dir").Value.String(), "only help says so")
}

// TestCommandsSetTheirLogLevelsAtOnce: klog's level is one global of the process. With
// the race detector, this fails if one command reads it while another sets it.
func TestCommandsSetTheirLogLevelsAtOnce(t *testing.T) {
	t.Parallel()
	var commands sync.WaitGroup
	for range 8 {
		commands.Go(func() {
			flags := pflag.NewFlagSet("svcat", pflag.ContinueOnError)
			cli.NewEnv(genericiooptions.NewTestIOStreamsDiscard()).Bind(flags)
			assert.NoError(t, flags.Parse([]string{"-v=0", "--logtostderr"}))
			assert.Equal(t, "0", flags.Lookup("v").Value.String())
		})
	}
	commands.Wait()
}
