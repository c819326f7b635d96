package e2e_test

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
)

// TestWhatIsMadeOfWhatOldClientsSend: the golden file shows each of the eight
// kinds as it is stored; the same body put back by the client that knows no more
// than it sent, and one that reads it first, change nothing.
func TestWhatIsMadeOfWhatOldClientsSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var shown strings.Builder
	for _, body := range w.oldBodies() {
		sent := body.DeepCopy()
		w.create(body)
		assert.Empty(t, w.warnings.take(), body.GetKind())
		stored := body.DeepCopy()
		fmt.Fprintf(&shown, "---\n%s", w.normal(w.storedYAML(stored)))
		for name, put := range map[string]*unstructured.Unstructured{"as it was sent": sent, "as it was read": body} {
			put.SetResourceVersion(stored.GetResourceVersion())
			require.NoError(t, w.client.Update(t.Context(), put.DeepCopy()), "%s, %s", body.GetKind(), name)
			w.get(stored)
			assert.Empty(t, cmp.Diff(body.Object["spec"], stored.Object["spec"]), "(-sent +stored) %s, %s", body.GetKind(), name)
			w.warnings.take() // that the references were kept
			assert.Equal(t, body.GetFinalizers(), stored.GetFinalizers(), "%s, %s", body.GetKind(), name)
		}
	}
	w.golden("oldclients", shown.String())
}

// storedYAML is an object without what differs from run to run.
func (w *world) storedYAML(object *unstructured.Unstructured) string {
	w.Helper()
	bare := object.DeepCopy()
	for _, field := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"} {
		unstructured.RemoveNestedField(bare.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(bare.Object, "status")
	unstructured.RemoveNestedField(bare.Object, "spec", "userInfo", "extra")
	labels := bare.GetLabels()
	for key, value := range labels {
		// The names that are hashed are this world's.
		if len(value) == len(hashOf("")) {
			labels[key] = "HASH"
		}
	}
	bare.SetLabels(labels)
	text, err := yaml.Marshal(bare.Object)
	require.NoError(w, err)
	return string(text)
}

// TestFinalizersOfOthersAreKept: the retired catalog overwrote them when an object
// was created.
func TestFinalizersOfOthersAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, body := range w.oldBodies() {
		body.SetFinalizers([]string{holdFinalizer})
		w.create(body)
		want := []string{holdFinalizer}
		if kind := body.GetKind(); !strings.HasSuffix(kind, "Class") && !strings.HasSuffix(kind, "Plan") {
			want = append(want, api.FinalizerServiceCatalog)
		}
		assert.Equal(t, want, body.GetFinalizers(), body.GetKind())
		w.patch(body, `{"spec":{"relistRequests":1,"updateRequests":1}}`)
		w.get(body)
		assert.Equal(t, want, body.GetFinalizers(), body.GetKind())
		body.SetFinalizers(nil)
		require.NoError(t, w.client.Update(t.Context(), body), "and taken off by hand")
		w.get(body)
		assert.Empty(t, body.GetFinalizers(), body.GetKind())
	}
}
