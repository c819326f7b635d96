package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// A broker that suggests a plan of the same type as another broker does.
func (w *world) suggesting(base string) {
	w.Helper()
	of := class{name: w.name(base), serviceType: w.name("db")}
	w.addPlans(of, plan{name: w.name(base + "-tip"), isSuggested: true}, plan{name: w.name(base + "-rest")})
}

// TestSuggestionsOfSeveralBrokers: one suggestion is taken, two are refused by
// name, and whatever they are, the operator's choice is what counts. When that is
// taken back, it is as before.
func TestSuggestionsOfSeveralBrokers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := ofType(w.name("db"))
	w.suggesting("azure")
	first := w.createInstance("first", asked)
	assert.Equal(t, w.name("azure-tip"), planOf(first), "one suggests")
	assert.Equal(t, "cluster-suggested", w.appliedTo(first).Rule)

	w.suggesting("google")
	err := w.tries(asked)
	requireInvalid(t, err, "spec.serviceType")
	for _, named := range []string{"azure-tip", "google-tip"} {
		assert.Contains(t, err.Error(), w.name(named), "both are named, at once")
	}
	w.showsDenial("Suggested", "ServiceInstance", "{serviceType: NAME(db)}")

	annotate := func(name, value string) {
		w.patchPlan(w.name(name), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":`+value+`}}}`)
	}
	annotate("google-rest", `"true"`)
	chosen := w.createInstance("chosen", asked)
	assert.Equal(t, w.name("google-rest"), planOf(chosen), "the operator has chosen, and not even among the suggested")
	assert.Equal(t, "cluster-default", w.appliedTo(chosen).Rule)
	w.suggesting("amazon")
	require.NoError(t, w.tries(asked), "a further suggestion is nothing to a choice")
	// Before it is confirmed, what is taken back would be half a switch.
	recorded := &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: w.name("db")}}
	w.eventually(func() (bool, error) {
		err := w.client.Get(t.Context(), client.ObjectKeyFromObject(recorded), recorded)
		return recorded.Status.Confirmed, err
	})
	require.Equal(t, w.name("google-rest"), recorded.Spec.DefaultPlanRef.Name)

	annotate("google-rest", "null")
	w.eventually(func() (bool, error) {
		recorded, err := w.recordedDefault("", w.name("db"))
		return recorded == "", err
	})
	err = w.tries(asked)
	requireInvalid(t, err, w.name("amazon-tip"))
	w.patchPlan(w.name("azure-tip"), `{"metadata":{"annotations":{"`+api.AnnotationSuggestedPlan+`":null}}}`)
	w.patchPlan(w.name("amazon-tip"), `{"metadata":{"annotations":{"`+api.AnnotationSuggestedPlan+`":null}}}`)
	w.eventually(func() (bool, error) {
		trial := w.instance("trial", asked)
		err := w.client.Create(t.Context(), trial)
		return err == nil && planOf(trial) == w.name("google-tip"), err
	})
	assert.Equal(t, w.name("azure-tip"), planOf(w.stored("first")), "what was decided stays")
}

// TestSuggestionsOfTheNamespace come before those of the cluster, and behind the
// cluster's default.
func TestSuggestionsOfTheNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := ofType(w.name("db"))
	w.suggesting("azure")
	w.suggesting("google")
	w.addPlans(class{namespace: w.namespace, name: w.name("own"), serviceType: w.name("db")}, plan{name: w.name("own-tip"), isSuggested: true})
	got := w.createInstance("one", asked)
	assert.Equal(t, w.namespace+"/"+w.name("own-tip"), w.holding(got).Plan, "the cluster's two do not matter")
	requireInvalid(t, w.elsewhere().tries(asked), w.name("google-tip"))

	w.patchPlan(w.name("azure-rest"), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":"true"}}}`)
	got = w.createInstance("two", asked)
	assert.Equal(t, "/"+w.name("azure-rest"), w.holding(got).Plan, "a default is a choice, a suggestion is none")
}
