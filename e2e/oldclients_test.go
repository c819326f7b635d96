package e2e_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// oldBodies are what the typed clients of the retired catalog send.
func (w *world) oldBodies() []*unstructured.Unstructured {
	w.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "oldclients.yaml"))
	require.NoError(w, err)
	filled := strings.NewReplacer("NAMESPACE", w.namespace, "NAME", w.name("old")).Replace(string(text))
	var bodies []map[string]any
	require.NoError(w, yaml.Unmarshal([]byte(filled), &bodies))
	objects := make([]*unstructured.Unstructured, len(bodies))
	for i, body := range bodies {
		objects[i] = &unstructured.Unstructured{Object: body}
	}
	return objects
}

// storesWhatOldClientsSend creates an object of each kind, puts it back as such a
// client does, and writes its status: nothing is refused or pruned.
func (w *world) storesWhatOldClientsSend() {
	w.Helper()
	bodies := w.oldBodies()
	require.Len(w, bodies, 8, "the kinds of the retired catalog")
	for _, body := range bodies {
		sent := body.DeepCopy()
		require.NoError(w, w.client.Create(w.Context(), body), body.GetKind())
		assert.Empty(w, w.warnings.take(), body.GetKind())
		spec := withoutNulls(sent.Object["spec"])
		// What is sent empty is filled in: relistBehavior, externalID, secretName.
		maps.DeleteFunc(spec.(map[string]any), func(_ string, value any) bool { return value == "" })
		stored := narrowed(withoutNulls(body.Object["spec"]), spec)
		assert.JSONEq(w, w.json(spec), w.json(stored), "%s: what was sent is stored", body.GetKind())

		sent.SetResourceVersion(body.GetResourceVersion())
		require.NoError(w, w.client.Update(w.Context(), sent.DeepCopy()), "put %s", body.GetKind())
		w.warnings.take() // that the references of the instance were kept
		w.get(body)
		body.Object["status"] = sent.Object["status"]
		require.NoError(w, w.client.Status().Update(w.Context(), body), "put the status of %s", body.GetKind())
	}
}

// withoutNulls is a JSON value without the members that are null.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, inner := range value {
			if inner != nil {
				kept[key] = withoutNulls(inner)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(value))
		for i, inner := range value {
			kept[i] = withoutNulls(inner)
		}
		return kept
	}
	return value
}
