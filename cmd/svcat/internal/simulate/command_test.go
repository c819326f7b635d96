package simulate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation"
	"github.com/defaultplan/defaultplan/deploy/schema"
)

// TestExitCodes: those of svcat diff, where 1 is no error.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		err    error
		code   int
	}{
		"Nothing":     {"nothing changes", nil, 0},
		"Changes":     {"something changes", &cli.Failure{Code: exitChanges}, 1},
		"Error":       {"an error is more than 1", errors.New("x"), 2},
		"Usage":       {"and so is a wrong command line", cli.Usagef("x"), 2},
		"Interrupted": {"Ctrl-C is as ever", context.Canceled, cli.ExitInterrupted},
	} {
		assert.Equal(t, tc.code, cli.ExitCode(coded(tc.err)), "%s: %s", name, tc.reason)
	}
}

// TestWrongCommandLines: what is wrong is said before anything is read.
func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"Nothing":    {nil, "say what changes: --default CLASS/PLAN, -f FILE, --delete KIND/NAME or --catalog BROKER=FILE"},
		"Arguments":  {[]string{"a.yaml"}, `simulate takes no arguments, and was given "a.yaml"; say what changes with --default, -f, --delete or --catalog`},
		"Output":     {[]string{"--default=a/b", "-o", "html"}, `--output is "html"; allowed are table, json, yaml, markdown`},
		"Unresolved": {[]string{"--default=a/b", "--unresolved=maybe"}, `--unresolved is "maybe"; allowed are [reject wait]`},
		"Default":    {[]string{"--default=small"}, `--default is "small"; give CLASS/PLAN, as in azure-mysql/small`},
		"Delete":     {[]string{"--delete=small"}, `--delete is "small"; give KIND/NAME or KIND/NAMESPACE/NAME, as in plan/small or instance/dev/mydb`},
		"Placeless":  {[]string{"--delete=plan//small"}, `--delete is "plan//small"; give KIND/NAME or KIND/NAMESPACE/NAME, as in plan/small or instance/dev/mydb`},
		"Kind":       {[]string{"--delete=plann/small"}, `--delete names kind "plann", which is none of the catalog's; did you mean plan? allowed are broker, class, plan, type, instance, binding, policy, and what kubectl calls them`},
		"Foreign":    {[]string{"--delete=secret/s"}, `--delete names kind "secret", which is none of the catalog's; allowed are broker, class, plan, type, instance, binding, policy, and what kubectl calls them`},
		"Catalog":    {[]string{"--catalog=azure"}, `--catalog is "azure"; give BROKER=FILE, or NAMESPACE/BROKER=FILE for the broker of a namespace`},
		"Nameless":   {[]string{"--catalog=/azure=x"}, `--catalog is "/azure=x"; give BROKER=FILE, or NAMESPACE/BROKER=FILE for the broker of a namespace`},
		"NoCatalog":  {[]string{"--catalog=azure=absent.json"}, `cannot read the catalog of broker "azure": open absent.json: no such file or directory`},
		"Twice":      {[]string{"-f", "-", "-f", "-"}, "standard input can be read only once: -f - is given several times"},
		"NoSnapshot": {[]string{"--default=a/b", "--snapshot=absent"}, "cannot read the snapshot: open absent: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := run(t, "", append([]string{"--snapshot=none"}, tc.args...)...)
			assert.Equal(t, 2, cli.ExitCode(err))
			require.EqualError(t, err, tc.want)
		})
	}
}

// run runs the command, and returns what it printed.
func run(t *testing.T, stdin string, args ...string) (out, told string, err error) {
	t.Helper()
	streams, in, stdout, stderr := genericiooptions.NewTestIOStreams()
	in.WriteString(stdin)
	env := cli.NewEnv(streams)
	cmd := New(env)
	env.Bind(cmd.PersistentFlags())
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// TestStepsKeepTheirOrder: those of different flags, too.
func TestStepsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	manifests := file("a.yaml", `
{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {password: hunter2}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: db}}
---
{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServicePlan, metadata: {name: small}}
`)
	streams := genericiooptions.NewTestIOStreamsDiscard()
	c := &command{env: cli.NewEnv(streams)}
	for _, s := range []step{{stepDelete, "csp/large"}, {stepDefault, "mysql/small"}, {stepFile, manifests}, {stepCatalog, "dev/azure=" + file("c.json", "{}")}, {stepDelete, "instance/db"}, {stepDelete, "plan/prod/small"}} {
		require.NoError(t, (&stepFlag{&c.steps, s.flag}).Set(s.value))
	}
	changes, err := c.changes(place{"dev", true})
	require.NoError(t, err)
	var said []string
	for _, one := range changes {
		switch {
		case one.Delete != nil:
			said = append(said, "delete "+one.Delete.Kind+" "+cli.Qualified(one.Delete.Namespace, one.Delete.Name))
		case one.Default != nil:
			said = append(said, "default "+one.Default.Namespace+" "+one.Default.Class+" "+one.Default.Plan)
		case one.Apply != nil:
			said = append(said, "apply "+one.Apply.GetKind()+" "+cli.Qualified(one.Apply.GetNamespace(), one.Apply.GetName()))
		case one.Catalog != nil:
			said = append(said, "catalog "+cli.Qualified(one.Catalog.Namespace, one.Catalog.Broker)+" "+string(one.Catalog.Answer))
		}
	}
	assert.Equal(t, []string{
		"delete ClusterServicePlan large", "default dev mysql small", "apply ServiceInstance dev/db", "apply ClusterServicePlan small",
		"catalog dev/azure {}", "delete ServiceInstance dev/db", "delete ServicePlan prod/small",
	}, said)
	assert.Equal(t, []string{"what the files have of other kinds, which is left out: 1 Secret"}, c.leftOut)
	changes, err = c.changes(place{"default", false})
	require.NoError(t, err)
	assert.Empty(t, changes[1].Default.Namespace, "without -n it is the default of the cluster")
	require.NoError(t, os.WriteFile(manifests, []byte(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: db, namespace: prod}}`), 0o600))
	_, err = c.changes(place{"dev", true})
	require.ErrorContains(t, err, `ServiceInstance "db" is in namespace "prod", and --namespace is "dev": leave one of them out`)
}

// TestKindsAreThoseOfTheDefinitions: with their scopes and words.
func TestKindsAreThoseOfTheDefinitions(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		definition, err := schema.Definition(k.words[1])
		require.NoError(t, err)
		names := definition.Spec.Names
		assert.Equal(t, kind{names.Kind, definition.Spec.Scope == "Namespaced", []string{names.Singular, names.Plural, names.ShortNames[0]}}, k)
	}
}

// TestKindsOfWords: those of kubectl are one kind, and those of svcat that of the scope.
func TestKindsOfWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][2]string{
		"plan": {"ClusterServicePlan", "ServicePlan"}, "plans": {"ClusterServicePlan", "ServicePlan"}, "serviceplan": {"ServicePlan", "ServicePlan"},
		"csp": {"ClusterServicePlan", "ClusterServicePlan"}, "ClusterServiceClass.servicecatalog.k8s.io": {"ClusterServiceClass", "ClusterServiceClass"},
		"instance": {"ServiceInstance", "ServiceInstance"}, "policy": {"ProvisioningPolicy BindingPolicy", "ProvisioningPolicy BindingPolicy"}, "secret": {"", ""},
	} {
		for i, namespaced := range []bool{false, true} {
			var found []string
			for _, k := range kindsOf(word, namespaced) {
				found = append(found, k.name)
			}
			assert.Equal(t, want[i], strings.Join(found, " "), "%s %t", word, namespaced)
		}
	}
}

// TestDeletionsAreFound: by Kubernetes names, by the names of a broker, and of either policy, in the
// state or among what is applied.
func TestDeletionsAreFound(t *testing.T) {
	t.Parallel()
	state := &simulation.State{}
	for _, text := range []string{
		`{"kind":"BindingPolicy","metadata":{"name":"b"}}`, `{"kind":"ClusterServicePlan","metadata":{"name":"uuid"},"spec":{"externalName":"small"}}`,
		`{"kind":"ClusterServicePlan","metadata":{"name":"x"},"spec":{"externalName":"twice"}}`, `{"kind":"ClusterServicePlan","metadata":{"name":"y"},"spec":{"externalName":"twice"}}`,
		`{"kind":"ServicePlan","metadata":{"name":"of-dev","namespace":"dev"},"spec":{"externalName":"tiny"}}`, `{"kind":"ServicePlan","metadata":{"name":"of-prod","namespace":"prod"},"spec":{"externalName":"tiny"}}`,
	} {
		state.JSON = append(state.JSON, []byte(text))
	}
	applied := change{Change: simulation.Change{Apply: &unstructured.Unstructured{Object: map[string]any{"kind": "BindingPolicy", "metadata": map[string]any{"name": "applied"}}}}}
	for word, want := range map[string]simulation.Object{
		"policy/b": {Kind: "BindingPolicy", Name: "b"}, "policy/absent": {Kind: "ProvisioningPolicy", Name: "absent"},
		"plan/small": {Kind: "ClusterServicePlan", Name: "uuid"}, "plan/uuid": {Kind: "ClusterServicePlan", Name: "uuid"}, "plan/twice": {Kind: "ClusterServicePlan", Name: "twice"},
		"plan/prod/tiny": {Kind: "ServicePlan", Namespace: "prod", Name: "of-prod"}, "plan/test/tiny": {Kind: "ServicePlan", Namespace: "test", Name: "tiny"},
		"policy/applied": {Kind: "BindingPolicy", Name: "applied"},
	} {
		changes, err := deletionOf(word, place{})
		require.NoError(t, err)
		require.NoError(t, settleDeletions(append(changes, applied), state))
		assert.Equal(t, want, *changes[0].Delete, word)
	}
}

// TestCompletion: KIND/ and BROKER= are begun, and files follow.
func TestCompletion(t *testing.T) {
	t.Parallel()
	env := cli.NewEnv(genericiooptions.NewTestIOStreamsDiscard())
	words, directive := objects(env)(New(env), nil, "p")
	assert.Equal(t, []cobra.Completion{"plan/", "policy/"}, words)
	assert.Equal(t, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, directive)
	_, directive = objects(env)(New(env), nil, "secret/")
	assert.Equal(t, cobra.ShellCompDirectiveNoFileComp, directive)
	_, directive = catalogs(env)(New(env), nil, "azure=a")
	assert.Equal(t, cobra.ShellCompDirectiveDefault, directive)
	usage := &bytes.Buffer{}
	cmd := New(env)
	cmd.SetOut(usage)
	require.NoError(t, cmd.Usage())
	assert.Contains(t, usage.String(), "--catalog BROKER=FILE")
}
