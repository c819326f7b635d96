package attacks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestForgedCopies: who replaces the operator's copies by classes and plans of the same
// names and IDs, at a broker of their own, gets neither the slot back that their instance
// has at the operator's broker, nor a binding there that a policy denies.
func TestForgedCopies(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	class, plan := c.class("db", c.Name("broker")), c.plan("copy", "db", c.Name("broker"), "premium")
	plan.Spec.ExternalName = "premium"
	c.Create(plan)
	premium := c.rule(api.PolicyLimit, new(int32(1)), "premium")
	first := c.Instance("first", env.OfLocalPlan("db", "premium"))
	require.NoError(t, c.try(first))
	c.Ready(first)
	c.holds(premium, first)
	second := c.Instance("second", env.OfPlan(c.Name("db"), "premium"))

	own := c.RegisterLocally(c.StartBroker(osbtest.Options{Catalog: c.Catalog(c.Service(c.Plan("small")))}))
	require.NoError(t, c.mallory.Client().Delete(t.Context(), plan))
	require.NoError(t, c.mallory.Client().Delete(t.Context(), class))
	c.Gone(plan, class)
	forgedClass, forged := c.class("db", ""), c.plan("copy", "db", "", "premium")
	forgedClass.Spec.ServiceBrokerName, forged.Spec.ServiceBrokerName = own.Name, own.Name
	forged.Spec.ExternalName = "harmless"
	require.NoError(t, c.try(forgedClass))
	require.NoError(t, c.try(forged))

	c.bindDenied("premium")
	// A pass of the keeper that has seen the forged plan grants its slot.
	c.holds(c.rule(api.PolicyLimit, new(int32(1)), "harmless"), first)
	c.holds(premium, first)
	assert.True(t, apierrors.IsForbidden(c.try(second)), "the slot is taken still")
	err := c.try(c.Binding("creds", "first"))
	c.RefusedAt(err, "spec.instanceRef.name", "it would be bound to the operator's plan")
	assert.ErrorContains(t, err, `may have another plan at its broker than the one it asks for, plan db/harmless`)
	for _, call := range c.broker.Calls() {
		assert.NotEqual(t, osbtest.Bind, call.Verb)
	}
}
