package attacks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestRoundedNumber: the conditions of hooks compare an integer with a float after they
// rounded it, so that the mutating half is not asked about such a change. It is not stored
// in the name of the user who wrote the instance before.
func TestRoundedNumber(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddPlans(env.Class{Name: e.Name("db")}, env.Plan{Name: e.Name("small"), ExternalName: "small"})
	alice, mallory := e.Name("alice"), e.Name("mallory")
	for _, user := range []string{alice, mallory} {
		e.Grant(user, rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"serviceinstances"}, Verbs: []string{"create", "get", "patch"}})
	}
	i := e.Instance("mine", env.OfPlan(e.Name("db"), "small"), env.WithParameters(`{"n":9007199254740993,"m":5}`))
	i.Spec.UpdateRequests = 9007199254740995
	require.NoError(t, e.As(alice).Client().Create(t.Context(), i))

	theirs := e.As(mallory)
	err := theirs.PatchInstance("mine", `{"spec":{"parameters":{"n":9007199254740992.0}}}`)
	e.RefusedAt(err, "spec.parameters", "no user would be on record for it")
	assert.ErrorContains(t, err, "write the number as it is stored, or change it by more")
	err = theirs.PatchInstance("mine", `{"spec":{"updateRequests":9007199254740996.0}}`)
	e.RefusedAt(err, "spec.updateRequests", "nor for it")
	stays := func(parameters, user string) {
		e.Get(i)
		// Not as JSON, which would be rounded for the comparison.
		assert.Equal(t, parameters, string(i.Spec.Parameters.Raw))
		assert.Equal(t, user, i.Spec.UserInfo.Username)
	}
	stays(`{"m":5,"n":9007199254740993}`, alice)

	require.NoError(t, theirs.PatchInstance("mine", `{"spec":{"parameters":{"m":5.0}}}`), "which is no change")
	stays(`{"m":5,"n":9007199254740993}`, alice)
	require.NoError(t, theirs.PatchInstance("mine", `{"spec":{"parameters":{"n":9007199254740992}}}`), "which admission sees")
	stays(`{"m":5,"n":9007199254740992}`, mallory)
}
