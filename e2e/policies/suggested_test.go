package policies_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/golden"
)

// A broker that suggests a plan of the same type as another broker does.
func suggesting(e *env.Env, base string) {
	e.Helper()
	of := env.Class{Name: e.Name(base), ServiceType: e.Name("db")}
	e.AddPlans(of, env.Plan{Name: e.Name(base + "-tip"), Suggested: true}, env.Plan{Name: e.Name(base + "-rest")})
}

// recorded waits until the cluster's record names a plan, "" for none.
func recorded(e *env.Env, plan string) {
	e.Helper()
	e.Eventually(func() (bool, error) {
		got, err := e.RecordedDefault("", e.Name("db"))
		return got == plan, err
	})
}

// TestSuggestionsOfSeveralBrokers: one suggestion is taken, two are refused by
// name, and whatever they are, the operator's choice is what counts. When that is
// taken back, it is as before.
func TestSuggestionsOfSeveralBrokers(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	asked := env.OfType(e.Name("db"))
	suggesting(e, "azure")
	first := e.CreateInstance("first", asked)
	assert.Equal(t, e.Name("azure-tip"), env.PlanOf(first), "one suggests")
	assert.Equal(t, "cluster-suggested", e.AppliedTo(first).Rule)

	suggesting(e, "google")
	e.Ambiguous(asked, e.Name("azure-tip"), e.Name("google-tip"))
	env.RequireInvalid(t, tries(e, asked), "spec.serviceType")
	golden.Denial(e, "Suggested", "ServiceInstance", "{serviceType: NAME(db)}")

	annotate := func(name, value string) {
		e.PatchPlan(e.Name(name), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":`+value+`}}}`)
	}
	annotate("google-rest", `"true"`)
	chosen := e.CreateInstance("chosen", asked)
	assert.Equal(t, e.Name("google-rest"), env.PlanOf(chosen), "the operator has chosen, and not even among the suggested")
	assert.Equal(t, "cluster-default", e.AppliedTo(chosen).Rule)
	suggesting(e, "amazon")
	require.NoError(t, tries(e, asked), "a further suggestion is nothing to a choice")
	// Before it is confirmed, what is taken back would be half a switch.
	record := &api.ClusterServiceType{ObjectMeta: metav1.ObjectMeta{Name: e.Name("db")}}
	e.Eventually(func() (bool, error) {
		err := e.Client().Get(t.Context(), client.ObjectKeyFromObject(record), record)
		return record.Status.Confirmed, err
	})
	require.Equal(t, e.Name("google-rest"), record.Spec.DefaultPlanRef.Name)

	annotate("google-rest", "null")
	recorded(e, "")
	env.RequireInvalid(t, tries(e, asked), e.Name("amazon-tip"))
	e.PatchPlan(e.Name("azure-tip"), `{"metadata":{"annotations":{"`+api.AnnotationSuggestedPlan+`":null}}}`)
	e.PatchPlan(e.Name("amazon-tip"), `{"metadata":{"annotations":{"`+api.AnnotationSuggestedPlan+`":null}}}`)
	e.Eventually(func() (bool, error) {
		trial := e.Instance("trial", asked)
		err := e.Client().Create(t.Context(), trial)
		return err == nil && env.PlanOf(trial) == e.Name("google-tip"), err
	})
	assert.Equal(t, e.Name("azure-tip"), env.PlanOf(e.Stored("first")), "what was decided stays")
}

// TestSuggestionsOfTheNamespace come before those of the cluster, and behind the
// cluster's default.
func TestSuggestionsOfTheNamespace(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	asked := env.OfType(e.Name("db"))
	suggesting(e, "azure")
	suggesting(e, "google")
	e.AddPlans(env.Class{Namespace: e.Namespace, Name: e.Name("own"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("own-tip"), Suggested: true})
	got := e.CreateInstance("one", asked)
	assert.Equal(t, e.Namespace+"/"+e.Name("own-tip"), e.Holding(got).Plan, "the cluster's two do not matter")
	elsewhere(e).Ambiguous(asked, e.Name("azure-tip"), e.Name("google-tip"))

	e.PatchPlan(e.Name("azure-rest"), `{"metadata":{"annotations":{"`+api.AnnotationDefaultPlan+`":"true"}}}`)
	// Until it is recorded, a webhook whose cache lags chooses the suggestion.
	recorded(e, e.Name("azure-rest"))
	got = e.CreateInstance("two", asked)
	assert.Equal(t, "/"+e.Name("azure-rest"), e.Holding(got).Plan, "a default is a choice, a suggestion is none")
}
