package instances_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// TestUndecidedInstanceIsItsUsersToChange tells of an instance that names a plan
// which does not exist yet: nothing in it is settled.
func TestUndecidedInstanceIsItsUsersToChange(t *testing.T) {
	t.Parallel()
	for _, scope := range []offering.Scope{offering.Cluster, offering.Namespace} {
		t.Run(scope.Title, func(t *testing.T) {
			t.Parallel()
			o := offering.New(env.New(t), scope)
			created := o.As(env.Alice)
			created.CreateInstance("db", o.Named(scope.Names("class", "absent")), env.OfType(o.Type))
			require.Len(t, created.Warnings.Take(), 1, "alice is told that it waits")
			before := o.HoldingOf("db")
			require.Empty(t, before.Plan)
			require.NotEmpty(t, before.ExternalID)

			theirs := o.As(env.Bob)
			require.NoError(t, theirs.PatchInstance("db", `{"metadata":{"labels":{"a":"b"}}}`), "a label write is not refused for what was always wrong")
			heard := theirs.Warnings.Take()
			require.Len(t, heard, 1)
			assert.Contains(t, heard[0], "no plan is decided yet")
			assertHolding(o.Env, before, "nor does bob ask for anything by it")

			require.NoError(t, theirs.PatchInstance("db", `{"spec":{"serviceType":"`+o.Name("strange")+`"}}`))
			before.Type, before.User, before.Generation = o.Name("strange"), env.Bob, before.Generation+1
			assertHolding(o.Env, before, "the type may still change")

			object := wire(o.Env)
			without(scope.ClassPrefix+"ExternalName", scope.PlanPrefix+"ExternalName")(object.Object)
			setting(o.Type, "spec", "serviceType")(object.Object)
			require.NoError(t, o.As(env.Alice).Client().Update(t.Context(), object))
			got := o.HoldingOf("db")
			assert.Equal(t, o.Ref(o.Plan), got.Plan, "who takes the names away gets the type's default")
			assert.Equal(t, before.ExternalID, got.ExternalID)
			assert.Equal(t, env.Alice, got.User)
			assert.Equal(t, scope.Rule, got.Applied.Rule)
			assert.JSONEq(t, `{"backup":true,"pool":{"mode":"cold"}}`, got.Parameters)
		})
	}
}

// TestReferencesForgedOnAnUndecidedInstance tells of a user who wants to decide
// instead of admission.
func TestReferencesForgedOnAnUndecidedInstance(t *testing.T) {
	t.Parallel()
	for _, scope := range []offering.Scope{offering.Cluster, offering.Namespace} {
		t.Run(scope.Title, func(t *testing.T) {
			t.Parallel()
			o := offering.New(env.New(t), scope)
			o.CreateInstance("db", o.Named(scope.Names("class", "absent")))
			before := o.HoldingOf("db")
			err := o.As(env.Bob).PatchInstance("db", worded(o, `{"spec":{"CLASSRef":{"name":"@class"},"PLANRef":{"name":"@plan"}}}`))
			refusedOf(o, err, planChange{reason: "references are not a wish", refused: "it is decided at admission", field: "spec.CLASSRef"})
			assertHolding(o.Env, before, "a refused write changes nothing")
		})
	}
}

// TestTheLastEditorOfSpecIsOnRecord follows userInfo through two users' writes.
func TestTheLastEditorOfSpecIsOnRecord(t *testing.T) {
	t.Parallel()
	o := offering.New(env.New(t), offering.Cluster)
	o.As(env.Alice).CreateInstance("db", env.OfType(o.Type), env.WithParameters(`{"size":1}`))
	info := o.Stored("db").Spec.UserInfo
	require.NotNil(t, info)
	assert.Equal(t, env.Alice, info.Username)
	assert.Contains(t, info.Groups, "system:authenticated", "groups too, as the broker is told")

	put := func(e *env.Env, change func(map[string]any)) {
		object := wire(e)
		change(object.Object)
		require.NoError(t, e.Client().Update(t.Context(), object))
	}
	steps := []struct {
		reason string
		user   string
		write  func(*env.Env)
		want   string
	}{
		{"a touch asks for nothing", env.Bob, func(e *env.Env) { require.NoError(t, e.PatchInstance("db", `{}`)) }, env.Alice},
		{"nor does a label", env.Bob, func(e *env.Env) { require.NoError(t, e.PatchInstance("db", `{"metadata":{"labels":{"a":"b"}}}`)) }, env.Alice},
		{"nor what is restored", env.Bob, func(e *env.Env) { put(e, without("serviceType", "clusterServicePlanRef", "userInfo")) }, env.Alice},
		{"nor the same parameters in other words", env.Bob, func(e *env.Env) { require.NoError(t, e.PatchInstance("db", `{"spec":{"parameters":{"size":1}}}`)) }, env.Alice},
		{"nor another's name", env.Bob, func(e *env.Env) { put(e, setting(env.Bob, "spec", "userInfo", "username")) }, env.Alice},
		{"a change of spec does", env.Bob, func(e *env.Env) { require.NoError(t, e.PatchInstance("db", `{"spec":{"parameters":{"size":2}}}`)) }, env.Bob},
		{"whatever name it comes with", env.Alice, func(e *env.Env) {
			put(e, func(object map[string]any) {
				setting(env.Bob, "spec", "userInfo", "username")(object)
				setting(int64(3), "spec", "parameters", "size")(object)
			})
		}, env.Alice},
		{"also if it gives none", env.Bob, func(e *env.Env) {
			put(e, func(object map[string]any) {
				unstructured.RemoveNestedField(object, "spec", "userInfo")
				setting(int64(4), "spec", "parameters", "size")(object)
			})
		}, env.Bob},
		{"asking for another try is a change too", env.Alice, func(e *env.Env) { require.NoError(t, e.PatchInstance("db", `{"spec":{"updateRequests":1}}`)) }, env.Alice},
	}
	for _, step := range steps {
		step.write(o.As(step.user))
		assert.Equal(t, step.want, o.HoldingOf("db").User, step.reason)
	}
}
