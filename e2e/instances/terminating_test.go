package instances_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// TestTerminatingInstanceStaysGuarded tells of an instance that another
// controller holds while it is being deleted.
func TestTerminatingInstanceStaysGuarded(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, patch string
		// refused is in the message of a refusal; empty: changes is what changes.
		refused string
		changes func(*env.Holding)
	}{
		"PlanRef":    {reason: "a reference is not a wish", patch: `{"spec":{"clusterServicePlanRef":{"name":"@other"}}}`, refused: "it is decided at admission and cannot be edited"},
		"Type":       {reason: "the type is decided", patch: `{"spec":{"serviceType":"@strange"}}`, refused: "serviceType"},
		"ExternalID": {reason: "the broker knows it by this ID", patch: `{"spec":{"externalID":"another"}}`, refused: "externalID"},
		"Class":      {reason: "another class is another service", patch: `{"spec":{"clusterServiceClassExternalName":"@foreign"}}`, refused: "the class cannot change"},
		"Removed":    {reason: "what was decided is restored", patch: `{"spec":{"clusterServicePlanRef":null,"serviceType":null,"externalID":null}}`, changes: untold},
		"Record":     {reason: "so is the record", patch: `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":"{}","` + api.AnnotationMintedExternalID + `":"x"}}}`, changes: untold},
		"UserInfo":   {reason: "a user cannot delete in another's name", patch: `{"spec":{"userInfo":{"username":"root"}}}`, changes: untold},
		"Parameters": {
			reason: "its user may still change them", patch: `{"spec":{"parameters":{"size":2}}}`,
			changes: func(h *env.Holding) {
				h.Parameters, h.User, h.Generation = `{"backup":true,"pool":{"mode":"cold"},"size":2}`, env.Bob, h.Generation+1
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := offering.New(env.New(t), offering.Cluster)
			o.As(env.Alice).CreateInstance("db", env.OfType(o.Type), env.WithFinalizer(env.HoldFinalizer))
			want := o.Terminate("db")
			err := o.As(env.Bob).PatchInstance("db", o.Fill(tc.patch))
			if tc.refused != "" {
				require.ErrorContains(t, err, tc.refused, tc.reason)
				assertHolding(o.Env, want, tc.reason)
				return
			}
			require.NoError(t, err, tc.reason)
			tc.changes(&want)
			assertHolding(o.Env, want, tc.reason)
		})
	}
}

// TestTerminatingInstanceIsNotDecided tells of an instance that is deleted while
// it waits: neither the plan's arrival nor an edit decides it any more.
func TestTerminatingInstanceIsNotDecided(t *testing.T) {
	t.Parallel()
	o := offering.New(env.New(t), offering.Cluster)
	late := o.Name("late")
	o.CreateInstance("db", env.OfPlan(o.Class, late), env.WithFinalizer(env.HoldFinalizer))
	o.CreateInstance("alive", env.OfPlan(o.Class, late))
	require.Empty(t, o.Terminate("db").Plan)

	o.Create(env.Plan{Name: late, Class: o.Class}.Object())
	o.Eventually(func() (bool, error) { return o.HoldingOf("alive").Plan == "/"+late, nil })
	require.NoError(t, o.As(env.Bob).PatchInstance("db", `{"metadata":{"labels":{"a":"b"}}}`))
	require.NoError(t, o.As(env.Bob).PatchInstance("db", `{"spec":{"parameters":{"size":2}}}`))
	got := o.HoldingOf("db")
	assert.Empty(t, got.Plan, "what is being deleted is never decided")
	assert.JSONEq(t, `{"size":2}`, got.Parameters, "nor are defaults merged into it")
	assert.Empty(t, got.Applied)
}
