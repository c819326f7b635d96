package oldclients_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// oldBodies are what the typed clients of the retired catalog send.
func oldBodies(e *env.Env) []*unstructured.Unstructured {
	e.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "oldclients.yaml"))
	require.NoError(e, err)
	filled := strings.NewReplacer("NAMESPACE", e.Namespace, "NAME", e.Name("old")).Replace(string(text))
	var bodies []map[string]any
	require.NoError(e, yaml.Unmarshal([]byte(filled), &bodies))
	objects := make([]*unstructured.Unstructured, len(bodies))
	for i, body := range bodies {
		objects[i] = &unstructured.Unstructured{Object: body}
	}
	return objects
}

// storesWhatOldClientsSend creates an object of each kind, puts it back as such a
// client does, and writes its status: nothing is refused or pruned.
func storesWhatOldClientsSend(e *env.Env) {
	e.Helper()
	bodies := oldBodies(e)
	require.Len(e, bodies, 8, "the kinds of the retired catalog")
	for _, body := range bodies {
		sent := body.DeepCopy()
		require.NoError(e, e.Client().Create(e.Context(), body), body.GetKind())
		assert.Empty(e, e.Warnings.Take(), body.GetKind())
		spec := withoutNulls(sent.Object["spec"])
		// What is sent empty is filled in: relistBehavior, externalID, secretName.
		maps.DeleteFunc(spec.(map[string]any), func(_ string, value any) bool { return value == "" })
		stored := env.Narrowed(withoutNulls(body.Object["spec"]), spec)
		assert.JSONEq(e, e.JSON(spec), e.JSON(stored), "%s: what was sent is stored", body.GetKind())

		sent.SetResourceVersion(body.GetResourceVersion())
		require.NoError(e, e.Client().Update(e.Context(), sent.DeepCopy()), "put %s", body.GetKind())
		e.Warnings.Take() // that the references of the instance were kept
		e.Get(body)
		body.Object["status"] = sent.Object["status"]
		require.NoError(e, e.Client().Status().Update(e.Context(), body), "put the status of %s", body.GetKind())
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
