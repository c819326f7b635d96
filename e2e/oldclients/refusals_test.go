package oldclients_test

import (
	"cmp"
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

	"github.com/defaultplan/defaultplan/e2e/env"
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
				e := env.New(t)
				r := r
				if kind != r.kind {
					r.spec, r.field = env.Local.Replace(r.spec), env.Local.Replace(r.field)
				}
				refusesAsBefore(e, kind, r)
			})
		}
	}
}

func refusesAsBefore(e *env.Env, kind string, r oldRefusal) {
	e.Helper()
	var body *unstructured.Unstructured
	for _, old := range oldBodies(e) {
		if old.GetKind() == kind {
			body = old
		}
	}
	require.NotNil(e, body, kind)
	e.AddPlans(env.Class{Name: e.Name("old")}, env.Plan{Name: e.Name("old")}, env.Plan{Name: e.Name("older")})
	e.CreateInstance("decided", env.OfPlan(e.Name("old"), e.Name("old")))
	body.SetName(e.Name("refused"))
	patch := cmp.Or(r.object, "{spec: {"+r.spec+"}}")
	var err error
	if r.stored {
		e.Create(body)
		body.SetManagedFields(nil)
		err = e.Client().Update(e.Context(), patched(e, body, patch), client.DryRunAll)
	} else {
		err = e.Client().Create(e.Context(), patched(e, body, patch), client.DryRunAll)
	}
	if r.dropped != "" {
		require.NoError(e, err, r.dropped)
		return
	}
	e.RefusedAt(err, r.field, patch)
}

// patched is an object with a merge patch in YAML.
func patched(e *env.Env, object *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	e.Helper()
	content, err := object.MarshalJSON()
	require.NoError(e, err)
	change, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(e.Spelled(patch), "LONG", strings.Repeat("a", 64))))
	require.NoError(e, err)
	content, err = jsonpatch.MergePatch(content, change)
	require.NoError(e, err)
	changed := &unstructured.Unstructured{}
	require.NoError(e, changed.UnmarshalJSON(content))
	return changed
}

// TestAnEditDuringAnOperation: the one refusal that is not kept. An edit is
// accepted while an operation runs, and its editor is on record.
func TestAnEditDuringAnOperation(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"Provision", "Update"} {
		e := env.New(t)
		e.GrantInstances()
		e.AddPlans(env.Class{Name: e.Name("c")}, env.Plan{Name: e.Name("p")})
		e.As(env.Alice).CreateInstance("db", env.OfPlan(e.Name("c"), e.Name("p")))
		status := fmt.Sprintf(`{"status":{"currentOperation":%q,"asyncOpInProgress":true,"operationStartTime":%q,"observedGeneration":1}}`,
			operation, metav1.Now().UTC().Format("2006-01-02T15:04:05Z"))
		require.NoError(t, e.Client().Status().Patch(t.Context(), e.Instance("db"), env.MergePatch(status)))
		require.NoError(t, e.As(env.Bob).PatchInstance("db", `{"spec":{"parameters":{"size":2}}}`), operation)
		assert.JSONEq(t, `{"size":2}`, env.ParametersOf(e.Stored("db")))
		assert.Equal(t, env.Bob, e.HoldingOf("db").User, "the last editor's identity counts")
	}
}
