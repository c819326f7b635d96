package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestTerminatingInstanceStaysGuarded tells of an instance that another
// controller holds while it is being deleted.
func TestTerminatingInstanceStaysGuarded(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, patch string
		// refused is in the message of a refusal; empty: changes is what changes.
		refused string
		changes func(*holding)
	}{
		"PlanRef":    {reason: "a reference is not a wish", patch: `{"spec":{"clusterServicePlanRef":{"name":"@other"}}}`, refused: "it is decided at admission and cannot be edited"},
		"Type":       {reason: "the type is decided", patch: `{"spec":{"serviceType":"@strange"}}`, refused: "serviceType"},
		"ExternalID": {reason: "the broker knows it by this ID", patch: `{"spec":{"externalID":"another"}}`, refused: "externalID"},
		"Class":      {reason: "another class is another service", patch: `{"spec":{"clusterServiceClassExternalName":"@foreign"}}`, refused: "the class cannot change"},
		"Removed":    {reason: "what was decided is restored", patch: `{"spec":{"clusterServicePlanRef":null,"serviceType":null,"externalID":null}}`, changes: untold},
		"Record":     {reason: "so is the record", patch: `{"metadata":{"annotations":{"` + api.AnnotationAppliedDefaults + `":"{}","` + api.AnnotationMintedExternalID + `":"x"}}}`, changes: untold},
		"UserInfo":   {reason: "nobody deletes in another's name", patch: `{"spec":{"userInfo":{"username":"root"}}}`, changes: untold},
		"Parameters": {
			reason: "its user may still change them", patch: `{"spec":{"parameters":{"size":2}}}`,
			changes: func(h *holding) {
				h.Parameters, h.User, h.Generation = `{"backup":true,"pool":{"mode":"cold"},"size":2}`, bob, h.Generation+1
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffer(newWorld(t), clusterScope)
			o.as(alice).createInstance("db", ofType(o.kind), withFinalizer(holdFinalizer))
			want := o.terminate("db")
			err := o.as(bob).send("db", o.fill(tc.patch))
			if tc.refused != "" {
				require.ErrorContains(t, err, tc.refused, tc.reason)
				o.holds(want, tc.reason)
				return
			}
			require.NoError(t, err, tc.reason)
			tc.changes(&want)
			o.holds(want, tc.reason)
		})
	}
}

// terminate deletes the instance, which somebody holds, and returns what it
// holds once our own finalizer is off.
func (w *world) terminate(name string) holding {
	w.Helper()
	require.NoError(w, w.client.Delete(w.Context(), w.instance(name)))
	var last holding
	w.eventually(func() (bool, error) {
		last = w.holdingOf(name)
		return len(last.Finalizers) == 1, nil
	})
	return last
}

// TestTerminatingInstanceIsNotDecided tells of an instance that is deleted while
// it waits: neither the plan's arrival nor an edit decides it any more.
func TestTerminatingInstanceIsNotDecided(t *testing.T) {
	t.Parallel()
	o := newOffer(newWorld(t), clusterScope)
	late := o.name("late")
	o.createInstance("db", ofPlan(o.class, late), withFinalizer(holdFinalizer))
	o.createInstance("alive", ofPlan(o.class, late))
	require.Empty(t, o.terminate("db").Plan)

	o.create(plan{name: late, class: o.class}.object())
	o.eventually(func() (bool, error) { return o.holdingOf("alive").Plan == "/"+late, nil })
	require.NoError(t, o.as(bob).send("db", `{"metadata":{"labels":{"a":"b"}}}`))
	require.NoError(t, o.as(bob).send("db", `{"spec":{"parameters":{"size":2}}}`))
	got := o.holdingOf("db")
	assert.Empty(t, got.Plan, "what is being deleted is never decided")
	assert.JSONEq(t, `{"size":2}`, got.Parameters, "nor are defaults merged into it")
	assert.Empty(t, got.Applied)
}
