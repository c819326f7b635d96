package oldclients_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestAnInstanceOlderThanTheHooks: definitions and objects may be applied before
// the webhook is there. The keeper finds such an instance once its plan comes, and
// the decision gives it what others get when they are created.
// It is not parallel, as it uninstalls the shared webhooks for a while.
func TestAnInstanceOlderThanTheHooks(t *testing.T) {
	e := env.New(t)
	require.NoError(t, e.UninstallHooks(t.Context()))
	mydb := e.CreateInstance("mydb", env.OfType(e.Name("db")))
	require.Empty(t, mydb.Spec.ExternalID)
	require.Empty(t, mydb.Finalizers)
	require.NoError(t, e.InstallHooks(t.Context()))

	e.AddPlans(env.Class{Name: e.Name("c"), ServiceType: e.Name("db")}, env.Plan{Name: e.Name("p"), Default: true})
	e.Eventually(func() (bool, error) {
		e.Get(mydb)
		return mydb.Spec.Decided(), nil
	})
	assert.NotEmpty(t, mydb.Spec.ExternalID)
	assert.Equal(t, mydb.Spec.ExternalID, mydb.Annotations[api.AnnotationMintedExternalID])
	assert.Contains(t, mydb.Finalizers, api.FinalizerServiceCatalog)
	assert.Nil(t, mydb.Spec.UserInfo, "the keeper did not ask for it")
}
