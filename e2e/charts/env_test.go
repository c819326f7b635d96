package charts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An object is one of JSON.
type object = map[string]any

// A testEnv is an environment in whose namespace charts are installed.
type testEnv struct{ *env.Env }

func newEnv(t *testing.T) *testEnv {
	t.Helper()
	return &testEnv{env.New(t)}
}

// an returns an object to get, of a kind of the service catalog.
func (e *testEnv) an(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(api.GroupVersion.String())
	o.SetKind(kind)
	o.SetName(name)
	if !strings.HasPrefix(kind, "Cluster") {
		o.SetNamespace(e.Namespace)
	}
	return o
}

// instance reads an instance.
func (e *testEnv) instance(name string) *api.ServiceInstance {
	e.Helper()
	i := e.Instance(name)
	e.Get(i)
	return i
}

// parameters are those that are stored of an instance.
func (e *testEnv) parameters(name string) object {
	e.Helper()
	i, found := e.instance(name), object{}
	if i.Spec.Parameters != nil {
		require.NoError(e, json.Unmarshal(i.Spec.Parameters.Raw, &found))
	}
	return found
}

// atBroker are the parameters that a broker has of an instance; nil if it has none.
func (e *testEnv) atBroker(b *osbtest.Broker, name string) object {
	e.Helper()
	return b.Instances()[e.instance(name).Status.ExternalID].Parameters
}

// ready waits until an object is Ready as its spec is now.
func (e *testEnv) ready(o *unstructured.Unstructured) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		if err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return true, err
		}
		observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		ready := condition(o, api.ConditionReady)
		if observed != o.GetGeneration() || ready["status"] != "True" {
			return false, fmt.Errorf("%s %s is not ready: %v", o.GetKind(), o.GetName(), o.Object["status"])
		}
		return true, nil
	})
}

// condition is the one of a type; nil if there is none.
func condition(o *unstructured.Unstructured, typ string) object {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, _ := c.(object); c["type"] == typ {
			return c
		}
	}
	return nil
}

// runs runs a binary of the stack in the namespace and returns what it wrote to both
// outputs.
func (e *testEnv) runs(binary, stdin string, args ...string) (string, error) {
	return e.runsIn(e.Context(), binary, stdin, args...)
}

func (e *testEnv) runsIn(ctx context.Context, binary, stdin string, args ...string) (string, error) {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, e.Binary(binary), append([]string{"-n", e.Namespace}, args...)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Environment(), strings.NewReader(stdin), &output, &output
	err := cmd.Run()
	return output.String(), err
}

// must runs a binary, which has to exit with 0.
func (e *testEnv) must(binary string, args ...string) string {
	e.Helper()
	output, err := e.runs(binary, "", args...)
	require.NoError(e, err, "%s %s: %s", binary, strings.Join(args, " "), output)
	return output
}

// refused runs a binary, which has to fail; it returns what it said.
func (e *testEnv) refused(binary string, args ...string) string {
	e.Helper()
	output, err := e.runs(binary, "", args...)
	require.Error(e, err, "%s %s: %s", binary, strings.Join(args, " "), output)
	return output
}

// applies gives manifests to kubectl apply, with further flags.
func (e *testEnv) applies(manifests string, flags ...string) string {
	e.Helper()
	return e.Kubectl(manifests, append([]string{"apply", "-f", "-"}, flags...)...)
}

// text writes values to a file of the test.
func (e *testEnv) text(content string) string {
	e.Helper()
	path := filepath.Join(e.TempDir(), "values.yaml")
	require.NoError(e, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// A market is a broker of one test's own: one service of two plans, of a type and with
// IDs that no other test has.
type market struct {
	*osbtest.Broker

	class, serviceType, small, large string
}

// offers starts a broker.
func (e *testEnv) offers(edits ...func(service object)) *market {
	e.Helper()
	s := &market{class: e.Name("db"), serviceType: e.Name("sql"), small: e.Name("small"), large: e.Name("large")}
	service := object{
		"id": s.class, "name": s.class, "description": "databases", "bindable": true, "plan_updateable": true,
		"tags":     []string{"ServiceType=" + s.serviceType},
		"metadata": object{"defaultProvisionParameters": object{"zone": "a", "backup": "daily"}},
		"plans": []object{
			{"id": s.small, "name": "small", "description": "a small one", "metadata": object{"tags": []string{"SuggestedPlan=true"}}},
			{"id": s.large, "name": "large", "description": "a large one"},
		},
	}
	for _, edit := range edits {
		edit(service)
	}
	catalog, err := json.Marshal(object{"services": []object{service}})
	require.NoError(e, err)
	s.Broker = e.StartBroker(osbtest.Options{Catalog: catalog})
	e.Cleanup(func() { s.AssertDuties(e) })
	return s
}

// registered starts a broker and registers it.
func (e *testEnv) registered(edits ...func(service object)) *market {
	e.Helper()
	s := e.offers(edits...)
	e.applies(fmt.Sprintf(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServiceBroker, metadata: {name: %s}, spec: {url: %q}}`, s.class, s.URL))
	e.ready(e.an("ClusterServiceBroker", s.class))
	return s
}
