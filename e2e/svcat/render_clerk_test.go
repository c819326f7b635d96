package svcat_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// A clerk files the documents of the corpus with a cluster of its own, and notes what
// it is told.
type clerk struct {
	*testing.T

	stack *stack.Stack
	filed []filing
}

// A filing is one document, and what the cluster said.
type filing struct {
	title    string
	refusal  string
	warnings []string
}

func startClerk(t *testing.T, options []string) *clerk {
	t.Helper()
	s := suite.New(t, stack.Options{Webhooks: 1, WebhookArgs: options})
	return &clerk{T: t, stack: s}
}

// stock creates the catalog, and returns when webhook and keeper know all of it.
func (k *clerk) stock() {
	k.Helper()
	ctx := k.Context()
	require.NoError(k, k.stack.Client().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "dev"}}))
	stdout, stderr, err := k.stack.Kubectl(ctx, "", "create", "-f", renderCatalog)
	require.NoError(k, err, "%s%s", stdout, stderr)
	require.NoError(k, wait.Eventually(ctx, func() (bool, error) { return k.recorded(ctx) }))
	for namespace, spec := range map[string]api.ServiceInstanceSpec{
		"shop": {PlanReference: api.PlanReference{ClusterServiceClassExternalName: "oracle"}},
		"dev":  {PlanReference: api.PlanReference{ClusterServiceClassExternalName: "hsm"}},
		"lab":  {PlanReference: api.PlanReference{ClusterServiceClassExternalName: "vm", ClusterServicePlanExternalName: "heavy"}},
	} {
		trial := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "trial"}, Spec: spec}
		require.NoError(k, wait.Eventually(ctx, func() (bool, error) {
			err := k.stack.Client().Create(ctx, trial.DeepCopy(), client.DryRunAll)
			if apierrors.IsForbidden(err) {
				return true, nil
			}
			return false, err
		}))
	}
}

// recorded says whether the keeper has recorded every default of the catalog.
func (k *clerk) recorded(ctx context.Context) (bool, error) {
	for _, name := range []string{"mysql", "oracle"} {
		recorded := &api.ClusterServiceType{}
		if err := k.stack.Client().Get(ctx, client.ObjectKey{Name: name}, recorded); err != nil || !recorded.Status.Confirmed {
			return false, fmt.Errorf("type %s is not recorded yet: %w", name, err)
		}
	}
	recorded := &api.ServiceType{}
	err := k.stack.Client().Get(ctx, client.ObjectKey{Namespace: "shop", Name: "mysql"}, recorded)
	return err == nil && recorded.Status.Confirmed, err
}

// fileAll sends every document of the corpus by itself.
func (k *clerk) fileAll() {
	k.Helper()
	text, err := os.ReadFile(renderObjects)
	require.NoError(k, err)
	for manifest := range strings.SplitSeq(string(text), "\n---\n") {
		var object unstructured.Unstructured
		require.NoError(k, yaml.Unmarshal([]byte(manifest), &object.Object))
		filed := filing{title: fmt.Sprintf("%s %s/%s", strings.ToLower(object.GetKind()), object.GetNamespace(), object.GetName())}
		verb := "create"
		if k.stored(filed.title) {
			verb = "apply"
			k.settled()
		}
		_, stderr, err := k.stack.Kubectl(k.Context(), manifest, verb, "-f", "-")
		if strings.HasPrefix(stderr, "error: unable to decode") {
			// kubectl itself does not send it: the API server's own word is asked for.
			err = k.stack.Client().Create(k.Context(), &object)
			stderr = fmt.Sprintf("Error from server (%s): %v", apierrors.ReasonForError(err), err)
		}
		filed.read(stderr, err != nil)
		k.filed = append(k.filed, filed)
	}
	k.settled()
}

// stored says that an object of that title was stored before.
func (k *clerk) stored(title string) bool {
	return slices.ContainsFunc(k.filed, func(f filing) bool { return f.title == title && f.refusal == "" })
}

// settled returns when the binding that came before its instance is decided.
func (k *clerk) settled() {
	k.Helper()
	require.NoError(k, wait.Eventually(k.Context(), func() (bool, error) {
		early := &api.ServiceBinding{}
		err := k.stack.Client().Get(k.Context(), client.ObjectKey{Namespace: "dev", Name: "early"}, early)
		return early.Spec.Decided(), err
	}))
}

// read takes what kubectl says apart. Of a first apply over a create it says that it
// does not like it. Before a list of causes it leaves a blank at the end of the line.
func (f *filing) read(stderr string, refused bool) {
	var rest []string
	for line := range strings.SplitSeq(strings.TrimRight(stderr, "\n"), "\n") {
		if warning, ok := strings.CutPrefix(line, "Warning: "); ok {
			if !strings.Contains(warning, "missing the kubectl.kubernetes.io/last-applied-configuration") {
				f.warnings = append(f.warnings, warning)
			}
			continue
		}
		rest = append(rest, line)
	}
	if refused {
		f.refusal = strings.NewReplacer(`error when creating "STDIN": `, "", "is invalid: \n", "is invalid:\n").Replace(strings.Join(rest, "\n"))
	}
}

// dump writes the catalog as the cluster has it to a file.
func (k *clerk) dump() string {
	k.Helper()
	stdout, stderr, err := k.stack.Kubectl(k.Context(), "", "get", "-A", "-o", "yaml",
		"namespaces,clusterserviceclasses,clusterserviceplans,clusterservicetypes,serviceclasses,serviceplans,servicetypes,provisioningpolicies,bindingpolicies")
	require.NoError(k, err, stderr)
	file := filepath.Join(k.TempDir(), "catalog.yaml")
	require.NoError(k, os.WriteFile(file, []byte(stdout), 0o600))
	return file
}
