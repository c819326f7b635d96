package oldclients_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/golden"
)

// TestWhatIsMadeOfWhatOldClientsSend: the golden file shows each of the eight
// kinds as it is stored; the same body put back by the client that knows no more
// than it sent, and one that reads it first, change nothing.
func TestWhatIsMadeOfWhatOldClientsSend(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	var shown strings.Builder
	for _, body := range oldBodies(e) {
		sent := body.DeepCopy()
		e.Create(body)
		assert.Empty(t, e.Warnings.Take(), body.GetKind())
		stored := body.DeepCopy()
		fmt.Fprintf(&shown, "---\n%s", e.Normal(storedYAML(e, stored)))
		for name, put := range map[string]*unstructured.Unstructured{"as it was sent": sent, "as it was read": body} {
			put.SetResourceVersion(stored.GetResourceVersion())
			require.NoError(t, e.Client().Update(t.Context(), put.DeepCopy()), "%s, %s", body.GetKind(), name)
			e.Get(stored)
			assert.Empty(t, cmp.Diff(body.Object["spec"], stored.Object["spec"]), "(-sent +stored) %s, %s", body.GetKind(), name)
			e.Warnings.Take() // that the references were kept
			assert.Equal(t, body.GetFinalizers(), stored.GetFinalizers(), "%s, %s", body.GetKind(), name)
		}
	}
	golden.Match(e, "oldclients", shown.String())
}

// storedYAML is an object without what differs from run to run.
func storedYAML(e *env.Env, object *unstructured.Unstructured) string {
	e.Helper()
	bare := object.DeepCopy()
	for _, field := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"} {
		unstructured.RemoveNestedField(bare.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(bare.Object, "status")
	unstructured.RemoveNestedField(bare.Object, "spec", "userInfo", "extra")
	labels := bare.GetLabels()
	for key, value := range labels {
		// The names that are hashed are this test's.
		if len(value) == len(api.HashLabelValue("")) {
			labels[key] = "HASH"
		}
	}
	bare.SetLabels(labels)
	text, err := yaml.Marshal(bare.Object)
	require.NoError(e, err)
	return string(text)
}

// TestFinalizersOfOthersAreKept: the retired catalog overwrote them when an object
// was created.
func TestFinalizersOfOthersAreKept(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	for _, body := range oldBodies(e) {
		body.SetFinalizers([]string{env.HoldFinalizer})
		e.Create(body)
		want := []string{env.HoldFinalizer}
		if kind := body.GetKind(); !strings.HasSuffix(kind, "Class") && !strings.HasSuffix(kind, "Plan") {
			want = append(want, api.FinalizerServiceCatalog)
		}
		assert.Equal(t, want, body.GetFinalizers(), body.GetKind())
		e.Patch(body, `{"spec":{"relistRequests":1,"updateRequests":1}}`)
		e.Get(body)
		assert.Equal(t, want, body.GetFinalizers(), body.GetKind())
		body.SetFinalizers(nil)
		require.NoError(t, e.Client().Update(t.Context(), body), "and taken off by hand")
		e.Get(body)
		assert.Empty(t, body.GetFinalizers(), body.GetKind())
	}
}
