package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestUndecidedInstanceIsItsUsersToChange tells of an instance that names a plan
// which does not exist yet: nothing in it is settled.
func TestUndecidedInstanceIsItsUsersToChange(t *testing.T) {
	t.Parallel()
	for _, scope := range []scope{clusterScope, namespaceScope} {
		t.Run(scope.title, func(t *testing.T) {
			t.Parallel()
			o := newOffer(newWorld(t), scope)
			created := o.as(alice)
			created.createInstance("db", o.named(scope.names("class", "absent")), ofType(o.kind))
			require.Len(t, created.warnings.take(), 1, "alice is told that it waits")
			before := o.holdingOf("db")
			require.Empty(t, before.Plan)
			require.NotEmpty(t, before.ExternalID)

			theirs := o.as(bob)
			require.NoError(t, theirs.send("db", `{"metadata":{"labels":{"a":"b"}}}`), "a label write is not refused for what was always wrong")
			heard := theirs.warnings.take()
			require.Len(t, heard, 1)
			assert.Contains(t, heard[0], "no plan is decided yet")
			o.holds(before, "nor does bob ask for anything by it")

			require.NoError(t, theirs.send("db", `{"spec":{"serviceType":"`+o.name("strange")+`"}}`))
			before.Type, before.User, before.Generation = o.name("strange"), bob, before.Generation+1
			o.holds(before, "the type may still change")

			object := o.wire()
			without(scope.classPrefix+"ExternalName", scope.planPrefix+"ExternalName")(object.Object)
			setting(o.kind, "spec", "serviceType")(object.Object)
			require.NoError(t, o.as(alice).client.Update(t.Context(), object))
			got := o.holdingOf("db")
			assert.Equal(t, o.ref(o.plan), got.Plan, "who takes the names away gets the type's default")
			assert.Equal(t, before.ExternalID, got.ExternalID)
			assert.Equal(t, alice, got.User)
			assert.Equal(t, scope.rule, got.Applied.Rule)
			assert.JSONEq(t, `{"backup":true,"pool":{"mode":"cold"}}`, got.Parameters)
		})
	}
}

// TestReferencesForgedOnAnUndecidedInstance tells of a user who wants to decide
// instead of admission.
func TestReferencesForgedOnAnUndecidedInstance(t *testing.T) {
	t.Parallel()
	for _, scope := range []scope{clusterScope, namespaceScope} {
		t.Run(scope.title, func(t *testing.T) {
			t.Parallel()
			o := newOffer(newWorld(t), scope)
			o.createInstance("db", o.named(scope.names("class", "absent")))
			before := o.holdingOf("db")
			err := o.as(bob).send("db", o.worded(`{"spec":{"CLASSRef":{"name":"@class"},"PLANRef":{"name":"@plan"}}}`))
			o.refusedOf(err, planChange{reason: "references are not a wish", refused: "it is decided at admission", field: "spec.CLASSRef"})
			o.holds(before, "a refused write changes nothing")
		})
	}
}

// TestTheLastEditorOfSpecIsOnRecord follows userInfo through two users' writes.
func TestTheLastEditorOfSpecIsOnRecord(t *testing.T) {
	t.Parallel()
	o := newOffer(newWorld(t), clusterScope)
	o.as(alice).createInstance("db", ofType(o.kind), withParameters(`{"size":1}`))
	info := o.stored("db").Spec.UserInfo
	require.NotNil(t, info)
	assert.Equal(t, alice, info.Username)
	assert.Contains(t, info.Groups, "system:authenticated", "groups too, as the broker is told")

	put := func(w *world, change func(map[string]any)) {
		object := w.wire()
		change(object.Object)
		require.NoError(t, w.client.Update(t.Context(), object))
	}
	steps := []struct {
		reason string
		user   string
		write  func(*world)
		want   string
	}{
		{"a touch asks for nothing", bob, func(w *world) { require.NoError(t, w.send("db", `{}`)) }, alice},
		{"nor does a label", bob, func(w *world) { require.NoError(t, w.send("db", `{"metadata":{"labels":{"a":"b"}}}`)) }, alice},
		{"nor what is restored", bob, func(w *world) { put(w, without("serviceType", "clusterServicePlanRef", "userInfo")) }, alice},
		{"nor the same parameters in other words", bob, func(w *world) { require.NoError(t, w.send("db", `{"spec":{"parameters":{"size":1}}}`)) }, alice},
		{"nor another's name", bob, func(w *world) { put(w, setting(bob, "spec", "userInfo", "username")) }, alice},
		{"a change of spec does", bob, func(w *world) { require.NoError(t, w.send("db", `{"spec":{"parameters":{"size":2}}}`)) }, bob},
		{"whatever name it comes with", alice, func(w *world) {
			put(w, func(object map[string]any) {
				setting(bob, "spec", "userInfo", "username")(object)
				setting(int64(3), "spec", "parameters", "size")(object)
			})
		}, alice},
		{"also if it gives none", bob, func(w *world) {
			put(w, func(object map[string]any) {
				unstructured.RemoveNestedField(object, "spec", "userInfo")
				setting(int64(4), "spec", "parameters", "size")(object)
			})
		}, bob},
		{"asking for another try is a change too", alice, func(w *world) { require.NoError(t, w.send("db", `{"spec":{"updateRequests":1}}`)) }, alice},
	}
	for _, step := range steps {
		step.write(o.as(step.user))
		assert.Equal(t, step.want, o.holdingOf("db").User, step.reason)
	}
}
