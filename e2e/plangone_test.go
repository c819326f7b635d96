package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPlanThatIsGoneIsChosenAnew is the last row of the table: nothing was sent
// to a broker yet, so the next change of spec may choose again, and nothing
// before that.
func TestPlanThatIsGoneIsChosenAnew(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		created edit
		// status is that of the instance before the plan goes, as a merge patch.
		status string
		// went takes the plan away.
		went func(*offer)
		anew bool
	}{
		"Deleted":            {reason: "a deleted plan is gone", created: ofType("type"), went: (*offer).deletePlan, anew: true},
		"OutOfItsCatalog":    {reason: "so is one that its broker no longer offers", created: ofType("type"), went: (*offer).removePlan, anew: true},
		"OfNamedClass":       {reason: "the plan that was found in the class was not asked for", created: ofPlan("class", ""), went: (*offer).deletePlan, anew: true},
		"Named":              {reason: "a plan that was asked for by name is not another one", created: namedPlan, went: (*offer).deletePlan},
		"Provisioned":        {reason: "a broker has it already", created: ofType("type"), status: `{"status":{"provisionStatus":"Provisioned"}}`, went: (*offer).deletePlan},
		"BeingProvisioned":   {reason: "a broker was asked already", created: ofType("type"), status: `{"status":{"currentOperation":"Provision"}}`, went: (*offer).deletePlan},
		"PerhapsProvisioned": {reason: "nobody knows what the broker has", created: ofType("type"), status: `{"status":{"orphanMitigationInProgress":true}}`, went: (*offer).deletePlan},
	}
	for _, scope := range []scope{clusterScope, namespaceScope} {
		for name, tc := range cases {
			t.Run(scope.title+"/"+name, func(t *testing.T) {
				t.Parallel()
				o := newOffer(newWorld(t), scope)
				o.as(alice).createInstance("db", o.named(tc.created))
				if tc.status != "" {
					patch := client.RawPatch(types.MergePatchType, []byte(tc.status))
					require.NoError(t, o.client.Status().Patch(t.Context(), o.instance("db"), patch))
				}
				before := o.holdingOf("db")
				require.Equal(t, o.ref(o.plan), before.Plan)
				tc.went(o)
				require.NoError(t, o.as(bob).send("db", `{"metadata":{"labels":{"a":"b"}}}`))
				o.holds(before, "a label chooses nothing")

				require.NoError(t, o.as(bob).send("db", `{"spec":{"parameters":{"size":2}}}`), tc.reason)
				got := o.holdingOf("db")
				assert.Equal(t, before.ExternalID, got.ExternalID)
				assert.Equal(t, bob, got.User)
				if !tc.anew {
					assert.Equal(t, before.Plan, got.Plan, tc.reason)
					return
				}
				assert.Equal(t, o.ref(o.other), got.Plan, tc.reason)
				assert.Equal(t, o.other, got.Applied.Plan, "the record is that of the new choice")
				assert.JSONEq(t, `{"backup":true,"extra":true,"pool":{"mode":"cold"},"size":2}`, got.Parameters, "with the new plan's defaults")
			})
		}
	}
}

// TestPlanThatIsGoneMayBeChosenInTheOtherScope tells of a cluster's plan that
// goes after the namespace got a default of its own.
func TestPlanThatIsGoneMayBeChosenInTheOtherScope(t *testing.T) {
	t.Parallel()
	o := newOffer(newWorld(t), clusterScope)
	o.createInstance("db", ofType(o.kind))
	o.deletePlan()
	own := o.name("own")
	o.addPlans(class{namespace: o.namespace, name: own, serviceType: o.kind}, plan{name: own, isDefault: true})
	o.eventually(func() (bool, error) {
		probe := o.instance("probe", ofType(o.kind))
		err := o.client.Create(t.Context(), probe, client.DryRunAll)
		return err == nil && planOf(probe) == own, err
	})
	require.NoError(t, o.send("db", `{"spec":{"parameters":{"size":2}}}`))
	got := o.holdingOf("db")
	assert.Equal(t, o.namespace+"/"+own, got.Plan)
	assert.Equal(t, o.namespace+"/"+own, got.Class)
}

// deletePlan deletes the plan, with the other one as the default in its place.
func (o *offer) deletePlan() {
	o.Helper()
	o.turnDefault()
	require.NoError(o, o.client.Delete(o.Context(), o.objectOf(o.plan)))
	o.untilUnknown()
}

// removePlan says that the plan's broker no longer offers it.
func (o *offer) removePlan() {
	o.Helper()
	o.turnDefault()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"removedFromBrokerCatalog":true}}`))
	require.NoError(o, o.client.Status().Patch(o.Context(), o.objectOf(o.plan), patch))
	o.untilUnknown()
}

// untilUnknown returns when both webhook processes know that the plan is gone:
// when neither decides on it any more.
func (o *offer) untilUnknown() {
	o.Helper()
	undecided := 0
	o.eventually(func() (bool, error) {
		probe := o.instance("probe", o.named(namedPlan))
		if err := o.client.Create(o.Context(), probe, client.DryRunAll); err != nil {
			return false, err
		}
		if planOf(probe) != "" {
			undecided = 0
			return false, nil
		}
		// The API server keeps connections to both; some tries reach each.
		const enough = 6
		undecided++
		return undecided >= enough, nil
	})
}
