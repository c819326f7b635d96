package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestAnInstanceOlderThanTheHooks: definitions and objects may be applied before
// the webhook is there. The keeper finds such an instance once its plan comes, and
// the decision gives it what others get when they are created.
func TestAnInstanceOlderThanTheHooks(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, startStack(t, nil))
	require.NoError(t, w.UninstallHooks(t.Context()))
	mydb := w.createInstance("mydb", ofType(w.name("db")))
	require.Empty(t, mydb.Spec.ExternalID)
	require.Empty(t, mydb.Finalizers)
	require.NoError(t, w.InstallHooks(t.Context()))

	w.addPlans(class{name: w.name("c"), serviceType: w.name("db")}, plan{name: w.name("p"), isDefault: true})
	w.eventually(func() (bool, error) {
		w.get(mydb)
		return mydb.Spec.Decided(), nil
	})
	assert.NotEmpty(t, mydb.Spec.ExternalID)
	assert.Equal(t, mydb.Spec.ExternalID, mydb.Annotations[api.AnnotationMintedExternalID])
	assert.Contains(t, mydb.Finalizers, api.FinalizerServiceCatalog)
	assert.Nil(t, mydb.Spec.UserInfo, "the keeper did not ask for it")
}
