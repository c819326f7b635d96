package render_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/render"
)

// An outcome is what one run printed, and its exit code.
type outcome struct {
	out, err string
	code     int
}

// run runs the command as svcat does.
func run(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	return runIn(t.Context(), stdin, args...)
}

func runIn(ctx context.Context, stdin string, args ...string) outcome {
	var out, errs bytes.Buffer
	env := cli.NewEnv(genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &errs})
	cmd := render.New(env)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.Usagef("%w", err) })
	env.Bind(cmd.PersistentFlags())
	cmd.SetArgs(append([]string{}, args...)) // nil would be those of the process
	cmd.SetOut(&out)
	err := cmd.ExecuteContext(ctx)
	if err != nil {
		errs.WriteString(cli.Message(err) + "\n")
	}
	return outcome{out.String(), errs.String(), cli.ExitCode(err)}
}

// The catalog of these tests, and an instance that it serves.
const (
	catalog = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServiceClass
metadata: {name: db}
spec: {externalName: mysql, externalID: db, serviceType: mysql, defaultProvisionParameters: {size: 1}}
---
# The default.
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ClusterServicePlan
metadata:
  name: small
  annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}
spec: {externalName: small, externalID: small, clusterServiceClassRef: {name: db}}
`
	instance = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: mydb}
spec: {serviceType: mysql}
`
	binding = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceBinding
metadata: {name: mydb}
spec: {instanceRef: {name: mydb}}
`
	refused = `
apiVersion: servicecatalog.k8s.io/v1beta1
kind: ServiceInstance
metadata: {name: nodb}
spec: {serviceType: cobol}
`
)

// stream joins documents.
func stream(documents ...string) string { return strings.Join(documents, "---") }

// write writes a file of a test, and returns its path.
func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// rendered are the objects that were printed as YAML.
func rendered(t *testing.T, out string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(out, "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &object.Object))
		objects = append(objects, object)
	}
	return objects
}

func TestRendersAChart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "catalog/classes.yaml", catalog)
	const others = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {password: aHVudGVyMg==}
---
# Source: nothing
`
	got := run(t, stream(binding, others, instance), "-n", "shop", "-f", filepath.Join(folder, "catalog"), "-f", "-")
	require.Zero(t, got.code, got.err)
	objects := rendered(t, got.out)
	require.Len(t, objects, 2)
	assert.Equal(t, []string{"ServiceBinding", "ServiceInstance"}, []string{objects[0].GetKind(), objects[1].GetKind()}, "in the order of the files")
	for _, object := range objects {
		assert.Equal(t, "shop", object.GetNamespace())
		plan, _, err := unstructured.NestedString(object.Object, "spec", "clusterServicePlanRef", "name")
		require.NoError(t, err)
		assert.Equal(t, "small", plan)
		assert.Empty(t, object.GetUID()+types.UID(object.GetResourceVersion()))
		assert.Zero(t, object.GetGeneration())
		assert.NotContains(t, object.Object, "status")
		assert.NotContains(t, object.Object["spec"], "userInfo")
	}
	assert.Equal(t, "left out: 1 Deployment, 1 Secret\n"+
		"Warning: serviceinstance shop/mydb: mysql resolved to plan mysql/small (default)\n"+
		"Warning: serviceinstance shop/mydb: defaults set size\n", got.err)
	assert.NotContains(t, got.out+got.err, "aHVudGVyMg")
	assert.Equal(t, got, run(t, stream(binding, others, instance), "-n", "shop", "-f", filepath.Join(folder, "catalog"), "-f", "-"), "the same each time")
}

// A chart may bring its own classes and plans, wherever they stand.
func TestCatalogComesFirst(t *testing.T) {
	t.Parallel()
	got := run(t, stream(instance, catalog), "-f", "-")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "default", rendered(t, got.out)[0].GetNamespace())
}

func TestRenderJSON(t *testing.T) {
	t.Parallel()
	got := run(t, stream(catalog, instance, refused), "-f", "-", "-o", "json")
	assert.Equal(t, 1, got.code)
	var list struct {
		Kind  string
		Items []map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &list))
	assert.Equal(t, "List", list.Kind)
	assert.Len(t, list.Items, 1, "the others are rendered, too")
}

func TestRenderTellsDenials(t *testing.T) {
	t.Parallel()
	got := run(t, stream(catalog, refused, instance, binding), "-f", "-")
	assert.Equal(t, 1, got.code)
	assert.Len(t, rendered(t, got.out), 2)
	assert.Contains(t, got.err, `standard input, document 3 (line 14): serviceinstance default/nodb is refused:
The ServiceInstance "nodb" is invalid: spec.serviceType: "cobol": no plan is of that type
`)
	assert.True(t, strings.HasSuffix(got.err, "\nerror: refused: 1 of 3 objects\n"), got.err)
}

// What kubectl prints before a refusal is printed here.
func TestRenderWarnsOfWhatItRefuses(t *testing.T) {
	t.Parallel()
	schemas := strings.Replace(catalog, "{externalName: small,", "{instanceCreateParameterSchema: {required: [host]}, externalName: small,", 1)
	got := run(t, stream(schemas, instance), "-f", "-")
	assert.Equal(t, 1, got.code)
	assert.Empty(t, got.out)
	assert.Regexp(t, `(?s)^Warning: serviceinstance default/mydb: mysql resolved to plan mysql/small \(default\)\n.*is refused:\nThe ServiceInstance "mydb" is invalid: .*host`, got.err)
}

// What stays undecided is printed so, and what it waits for is told.
func TestRenderTellsWhoWaits(t *testing.T) {
	t.Parallel()
	got := run(t, stream(catalog, binding), "-f", "-")
	require.Zero(t, got.code, got.err)
	assert.Equal(t, "Warning: servicebinding default/mydb: no plan is decided yet: instance \"mydb\" does not exist yet; the binding waits\n", got.err)
	got = run(t, stream(catalog, refused), "-f", "-", "--unresolved=wait")
	require.Zero(t, got.code, got.err)
	assert.Contains(t, got.err, "the instance waits")
}

// An object that comes twice is updated, after what waited for it was decided.
func TestRenderUpdates(t *testing.T) {
	t.Parallel()
	edited := strings.Replace(instance, "serviceType: mysql", "parameters: {size: 2}", 1)
	got := run(t, stream(catalog, instance, edited), "-f", "-")
	require.Zero(t, got.code, got.err)
	objects := rendered(t, got.out)
	require.Len(t, objects, 1)
	size, _, err := unstructured.NestedFieldNoCopy(objects[0].Object, "spec", "parameters", "size")
	require.NoError(t, err)
	assert.EqualValues(t, 2, size)
}

// The webhook's flags are told in sentences here.
func TestRenderHelp(t *testing.T) {
	t.Parallel()
	got := run(t, "", "--help")
	require.Zero(t, got.code)
	assert.Contains(t, got.out, "What your webhook does with what nothing resolves")
	assert.Contains(t, got.out, "What your webhook does with parameters")
	assert.Contains(t, got.out, "BindDefaults, ParameterDefaults, SchemaChecks, ServiceTypes, SuggestedPlans\n")
	assert.NotContains(t, got.out, "AllAlpha")
}

// What interrupts is told as such.
func TestRenderInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := runIn(ctx, stream(catalog, instance), "-f", "-")
	assert.Equal(t, cli.ExitInterrupted, got.code)
	assert.Empty(t, got.out)
}

// TestRenderTheProposals: both worked examples of default-service-plans.md.
func TestRenderTheProposals(t *testing.T) {
	t.Parallel()
	const folder = "../../../../e2e/admission/testdata/proposals/"
	for name, tc := range map[string]struct{ files []string }{
		"defaults": {[]string{"defaults-catalog", "defaults-instance"}},
		"type":     {[]string{"type-class", "type-plan", "type-instance"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var args []string
			for _, file := range tc.files {
				args = append(args, "-f", folder+file+".yaml")
			}
			got := run(t, "", args...)
			require.Zero(t, got.code, got.err)
			text, err := os.ReadFile(folder + name + "-result.yaml")
			require.NoError(t, err)
			want := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal(text, &want.Object))
			object := rendered(t, got.out)[0].Object
			assert.Subset(t, object["spec"], without(want.Object["spec"], "parameters"))
			assert.Equal(t, want.Object["spec"].(map[string]any)["parameters"], object["spec"].(map[string]any)["parameters"])
		})
	}
}

// without is an object without one of its fields.
func without(object any, name string) map[string]any {
	rest := maps.Clone(object.(map[string]any))
	delete(rest, name)
	return rest
}
