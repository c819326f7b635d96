package e2e_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// An oldRefusal is something that the retired catalog's webhooks refused: in what
// its typed clients send, one thing changed.
type oldRefusal struct {
	// kind is the cluster-scoped one where there are two.
	kind string
	// spec are the members of spec that are changed, and object is a merge patch of
	// more than that, in YAML; of a stored object where stored is set.
	spec, object string
	stored       bool
	// field is the one at fault: it is still refused.
	field string
	// dropped says why it is refused no more.
	dropped string
}

// TestWhatTheOldWebhooksRefused for a good reason is refused still. The keys are
// the words of the retired catalog.
func TestWhatTheOldWebhooksRefused(t *testing.T) {
	t.Parallel()
	all := map[string]oldRefusal{}
	for _, group := range []map[string]oldRefusal{oldBrokerRefusals, oldOfferingRefusals, oldInstanceRefusals, oldInstanceEdits, oldBindingRefusals} {
		maps.Copy(all, group)
	}
	for name, r := range all {
		kinds := []string{r.kind}
		if namespaced, ok := strings.CutPrefix(r.kind, "Cluster"); ok {
			kinds = append(kinds, namespaced)
		}
		for _, kind := range kinds {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				r := r
				if kind != r.kind {
					r.spec, r.field = local.Replace(r.spec), local.Replace(r.field)
				}
				w.refusesAsBefore(kind, r)
			})
		}
	}
}

func (w *world) refusesAsBefore(kind string, r oldRefusal) {
	w.Helper()
	var body *unstructured.Unstructured
	for _, old := range w.oldBodies() {
		if old.GetKind() == kind {
			body = old
		}
	}
	require.NotNil(w, body, kind)
	w.addPlans(class{name: w.name("old")}, plan{name: w.name("old")}, plan{name: w.name("older")})
	w.createInstance("decided", ofPlan(w.name("old"), w.name("old")))
	body.SetName(w.name("refused"))
	patch := orElse(r.object, "{spec: {"+r.spec+"}}")
	var err error
	if r.stored {
		w.create(body)
		body.SetManagedFields(nil)
		err = w.client.Update(w.Context(), w.patched(body, patch), client.DryRunAll)
	} else {
		err = w.client.Create(w.Context(), w.patched(body, patch), client.DryRunAll)
	}
	if r.dropped != "" {
		require.NoError(w, err, r.dropped)
		return
	}
	w.refusedAt(err, r.field, patch)
}

// patched is an object with a merge patch in YAML.
func (w *world) patched(object *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	w.Helper()
	content, err := object.MarshalJSON()
	require.NoError(w, err)
	change, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(w.spelled(patch), "LONG", strings.Repeat("a", 64))))
	require.NoError(w, err)
	content, err = jsonpatch.MergePatch(content, change)
	require.NoError(w, err)
	changed := &unstructured.Unstructured{}
	require.NoError(w, changed.UnmarshalJSON(content))
	return changed
}

// TestAnEditDuringAnOperation: the one refusal that is not kept. An edit is
// accepted while an operation runs, and its editor is on record.
func TestAnEditDuringAnOperation(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"Provision", "Update"} {
		w := newWorld(t)
		w.grant()
		w.addPlans(class{name: w.name("c")}, plan{name: w.name("p")})
		w.as(alice).createInstance("db", ofPlan(w.name("c"), w.name("p")))
		status := fmt.Sprintf(`{"status":{"currentOperation":%q,"asyncOpInProgress":true,"operationStartTime":%q,"observedGeneration":1}}`,
			operation, metav1.Now().UTC().Format("2006-01-02T15:04:05Z"))
		require.NoError(t, w.client.Status().Patch(t.Context(), w.instance("db"), rawMerge(status)))
		require.NoError(t, w.as(bob).send("db", `{"spec":{"parameters":{"size":2}}}`), operation)
		assert.JSONEq(t, `{"size":2}`, parametersOf(w.stored("db")))
		assert.Equal(t, bob, w.holdingOf("db").User, "the last editor's identity counts")
	}
}
