package charts_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// An object is one of JSON.
type object = map[string]any

// A world is a namespace of the shared stack that belongs to one test, and a suffix that
// no other test has. Its methods fail the test.
type world struct {
	*testing.T

	namespace, suffix string
	client            client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	// Without z, which the names of classes and plans escape.
	suffix := strings.ReplaceAll(strings.ToLower(rand.Text()[:8]), "z", "y")
	w := &world{T: t, suffix: suffix, client: shared.Client()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "charts-"}}
	require.NoError(t, w.client.Create(t.Context(), namespace))
	w.namespace = namespace.Name
	return w
}

// name makes a name unique: for what is cluster-scoped.
func (w *world) name(base string) string { return base + "-" + w.suffix }

func clientKey(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// an returns an object to get, of a kind of the service catalog.
func (w *world) an(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(api.GroupVersion.String())
	o.SetKind(kind)
	o.SetName(name)
	if !strings.HasPrefix(kind, "Cluster") {
		o.SetNamespace(w.namespace)
	}
	return o
}

// instance reads an instance.
func (w *world) instance(name string) *api.ServiceInstance {
	w.Helper()
	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	require.NoError(w, w.client.Get(w.Context(), clientKey(i), i))
	return i
}

// parameters are those that are stored of an instance.
func (w *world) parameters(name string) object {
	w.Helper()
	i, found := w.instance(name), object{}
	if i.Spec.Parameters != nil {
		require.NoError(w, json.Unmarshal(i.Spec.Parameters.Raw, &found))
	}
	return found
}

// atBroker are the parameters that a broker has of an instance; nil if it has none.
func (w *world) atBroker(b *osbtest.Broker, name string) object {
	w.Helper()
	return b.Instances()[w.instance(name).Status.ExternalID].Parameters
}

func (w *world) eventually(is func() (bool, error)) {
	w.Helper()
	require.NoError(w, stack.Eventually(w.Context(), is))
}

// gone waits until an object is there no more.
func (w *world) gone(o client.Object) {
	w.Helper()
	w.eventually(func() (bool, error) {
		err := w.client.Get(w.Context(), clientKey(o), o)
		return err != nil, client.IgnoreNotFound(err)
	})
}

// ready waits until an object is Ready as its spec is now.
func (w *world) ready(o *unstructured.Unstructured) {
	w.Helper()
	w.eventually(func() (bool, error) {
		if err := w.client.Get(w.Context(), clientKey(o), o); err != nil {
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

// runs runs a binary of the stack and returns what it wrote to both outputs.
func (w *world) runs(binary, stdin string, args ...string) (string, error) {
	return w.runsIn(w.Context(), binary, stdin, args...)
}

func (w *world) runsIn(ctx context.Context, binary, stdin string, args ...string) (string, error) {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(binFolder, binary), append([]string{"-n", w.namespace}, args...)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = shared.Environment(), strings.NewReader(stdin), &output, &output
	err := cmd.Run()
	return output.String(), err
}

// must runs a binary, which has to exit with 0.
func (w *world) must(binary string, args ...string) string {
	w.Helper()
	output, err := w.runs(binary, "", args...)
	require.NoError(w, err, "%s %s: %s", binary, strings.Join(args, " "), output)
	return output
}

// refused runs a binary, which has to fail; it returns what it said.
func (w *world) refused(binary string, args ...string) string {
	w.Helper()
	output, err := w.runs(binary, "", args...)
	require.Error(w, err, "%s %s: %s", binary, strings.Join(args, " "), output)
	return output
}

// applies gives manifests to kubectl apply, with further flags.
func (w *world) applies(manifests string, flags ...string) string {
	w.Helper()
	output, err := w.runs("kubectl", manifests, append([]string{"apply", "-f", "-"}, flags...)...)
	require.NoError(w, err, output)
	return output
}

// text writes values to a file of the test.
func (w *world) text(content string) string {
	w.Helper()
	path := filepath.Join(w.TempDir(), "values.yaml")
	require.NoError(w, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// A stage is a broker of one test's own: one service of two plans, of a type and with
// IDs that no other test has.
type stage struct {
	*osbtest.Broker

	class, serviceType, small, large string
}

// offers starts a broker for a stage.
func (w *world) offers(edits ...func(service object)) *stage {
	w.Helper()
	s := &stage{class: w.name("db"), serviceType: w.name("sql"), small: w.name("small"), large: w.name("large")}
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
	require.NoError(w, err)
	s.Broker = osbtest.Start(w, osbtest.Options{Catalog: catalog})
	w.Cleanup(func() { s.AssertDuties(w) })
	return s
}

// registered starts a broker for a stage and registers it.
func (w *world) registered(edits ...func(service object)) *stage {
	w.Helper()
	s := w.offers(edits...)
	w.applies(fmt.Sprintf(`{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ClusterServiceBroker, metadata: {name: %s}, spec: {url: %q}}`, s.class, s.URL))
	w.ready(w.an("ClusterServiceBroker", s.class))
	return s
}
