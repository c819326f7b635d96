package instances_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// TestPlanThatIsGoneIsChosenAnew is the last row of the table: nothing was sent
// to a broker yet, so the next change of spec may choose again, and nothing
// before that.
func TestPlanThatIsGoneIsChosenAnew(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		created env.InstanceEdit
		// status is that of the instance before the plan goes, as a merge patch.
		status string
		// went takes the plan away.
		went  func(*offering.Offer)
		again bool
	}{
		"Deleted":            {reason: "a deleted plan is gone", created: env.OfType("type"), went: deletePlan, again: true},
		"OutOfItsCatalog":    {reason: "so is one that its broker no longer offers", created: env.OfType("type"), went: removePlan, again: true},
		"OfNamedClass":       {reason: "the plan that was found in the class was not asked for", created: env.OfPlan("class", ""), went: deletePlan, again: true},
		"Named":              {reason: "a plan that was asked for by name is not another one", created: namedPlan, went: deletePlan},
		"Provisioned":        {reason: "a broker has it already", created: env.OfType("type"), status: `{"status":{"provisionStatus":"Provisioned"}}`, went: deletePlan},
		"BeingProvisioned":   {reason: "a broker was asked already", created: env.OfType("type"), status: `{"status":{"currentOperation":"Provision"}}`, went: deletePlan},
		"PerhapsProvisioned": {reason: "it is unknown what the broker has", created: env.OfType("type"), status: `{"status":{"orphanMitigationInProgress":true}}`, went: deletePlan},
	}
	for _, scope := range []offering.Scope{offering.Cluster, offering.Namespace} {
		for name, tc := range cases {
			t.Run(scope.Title+"/"+name, func(t *testing.T) {
				t.Parallel()
				o := offering.New(env.New(t), scope)
				o.As(env.Alice).CreateInstance("db", o.Named(tc.created))
				if tc.status != "" {
					patch := client.RawPatch(types.MergePatchType, []byte(tc.status))
					require.NoError(t, o.Client().Status().Patch(t.Context(), o.Instance("db"), patch))
				}
				before := o.HoldingOf("db")
				require.Equal(t, o.Ref(o.Plan), before.Plan)
				tc.went(o)
				require.NoError(t, o.As(env.Bob).PatchInstance("db", `{"metadata":{"labels":{"a":"b"}}}`))
				assertHolding(o.Env, before, "a label chooses nothing")

				require.NoError(t, o.As(env.Bob).PatchInstance("db", `{"spec":{"parameters":{"size":2}}}`), tc.reason)
				got := o.HoldingOf("db")
				assert.Equal(t, before.ExternalID, got.ExternalID)
				assert.Equal(t, env.Bob, got.User)
				if !tc.again {
					assert.Equal(t, before.Plan, got.Plan, tc.reason)
					return
				}
				assert.Equal(t, o.Ref(o.Other), got.Plan, tc.reason)
				assert.Equal(t, o.Other, got.Applied.Plan, "the record is that of the new choice")
				assert.JSONEq(t, `{"backup":true,"extra":true,"pool":{"mode":"cold"},"size":2}`, got.Parameters, "with the new plan's defaults")
			})
		}
	}
}

// TestPlanThatIsGoneMayBeChosenInTheOtherScope tells of a cluster's plan that
// goes after the namespace got a default of its own.
func TestPlanThatIsGoneMayBeChosenInTheOtherScope(t *testing.T) {
	t.Parallel()
	o := offering.New(env.New(t), offering.Cluster)
	o.CreateInstance("db", env.OfType(o.Type))
	deletePlan(o)
	own := o.Name("own")
	o.AddPlans(env.Class{Namespace: o.Namespace, Name: own, ServiceType: o.Type}, env.Plan{Name: own, Default: true})
	o.Eventually(func() (bool, error) {
		probe := o.Instance("probe", env.OfType(o.Type))
		err := o.Client().Create(t.Context(), probe, client.DryRunAll)
		return err == nil && env.PlanOf(probe) == own, err
	})
	require.NoError(t, o.PatchInstance("db", `{"spec":{"parameters":{"size":2}}}`))
	got := o.HoldingOf("db")
	assert.Equal(t, o.Namespace+"/"+own, got.Plan)
	assert.Equal(t, o.Namespace+"/"+own, got.Class)
}

// TestClassInTheOtherScopeWhereThePlanIsGone: a patch that names the class in the other scope need not
// remove the name of the plan, which the choice had filled in.
func TestClassInTheOtherScopeWhereThePlanIsGone(t *testing.T) {
	t.Parallel()
	o := offering.New(env.New(t), offering.Cluster)
	o.CreateInstance("db", o.Named(env.OfPlan("class", "")))
	deletePlan(o)
	own := o.Name("own")
	o.AddPlans(env.Class{Namespace: o.Namespace, Name: own}, env.Plan{Name: own})
	patch := `{"spec":{"clusterServiceClassExternalName":null,"serviceClassExternalName":"` + own + `"}}`
	o.Eventually(func() (bool, error) {
		err := o.PatchInstance("db", patch)
		return err == nil, err
	})
	got := o.HoldingOf("db")
	assert.Equal(t, o.Namespace+"/"+own, got.Plan)
	assert.Equal(t, o.Namespace+"/"+own, got.Class)
}

// deletePlan deletes the plan, with the other one as the default in its place.
func deletePlan(o *offering.Offer) {
	o.Helper()
	o.TurnDefault()
	require.NoError(o, o.Client().Delete(o.Context(), o.PlanObject(o.Plan)))
	untilUnknown(o)
}

// removePlan says that the plan's broker no longer offers it.
func removePlan(o *offering.Offer) {
	o.Helper()
	o.TurnDefault()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"removedFromBrokerCatalog":true}}`))
	require.NoError(o, o.Client().Status().Patch(o.Context(), o.PlanObject(o.Plan), patch))
	untilUnknown(o)
}

// untilUnknown returns when both webhook processes know that the plan is gone:
// when neither decides on it any more.
func untilUnknown(o *offering.Offer) {
	o.Helper()
	undecided := 0
	o.Eventually(func() (bool, error) {
		probe := o.Instance("probe", o.Named(namedPlan))
		if err := o.Client().Create(o.Context(), probe, client.DryRunAll); err != nil {
			return false, err
		}
		if env.PlanOf(probe) != "" {
			undecided = 0
			return false, nil
		}
		// The API server keeps connections to both; some tries reach each.
		const enough = 6
		undecided++
		return undecided >= enough, nil
	})
}
