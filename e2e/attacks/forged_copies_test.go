package attacks_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// mayHaveAnother is how a binding is refused whose instance was forged to ask for a plan
// that no policy denies.
const mayHaveAnother = `may have another plan at its broker than the one it asks for, plan db/harmless`

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

	c.forge(class, plan)

	c.bindDenied("premium")
	// A pass of the keeper that has seen the forged plan grants its slot.
	c.holds(c.rule(api.PolicyLimit, new(int32(1)), "harmless"), first)
	c.holds(premium, first)
	c.refusedSoon(second, "have a slot")
	assert.True(t, apierrors.IsForbidden(c.try(second)), "the slot is taken still")
	c.refusedSoon(c.Binding("creds", "first"), mayHaveAnother)
	err := c.try(c.Binding("creds", "first"))
	c.RefusedAt(err, "spec.instanceRef.name", "it would be bound to the operator's plan")
	assert.ErrorContains(t, err, mayHaveAnother)
	assert.Empty(t, c.broker.Calls(osbtest.Of(osbtest.Bind)))
}

// TestForgedCopiesWhileProvisioning: a binding that is created while the operator's broker works on the instance is judged
// by the plan that it works on.
func TestForgedCopiesWhileProvisioning(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	class, plan := c.class("db", c.Name("broker")), c.plan("copy", "db", c.Name("broker"), "premium")
	plan.Spec.ExternalName = "premium"
	c.Create(plan)
	c.broker.Async(osbtest.Provision, -1)
	first := c.Instance("first", env.OfLocalPlan("db", "premium"))
	require.NoError(t, c.try(first))
	c.Becomes(first, func() bool { return first.Status.AsyncOpInProgress })
	c.forge(class, plan)

	c.bindDenied("premium")
	c.refusedSoon(c.Binding("creds", "first"), mayHaveAnother)
	err := c.try(c.Binding("creds", "first"))
	c.RefusedAt(err, "spec.instanceRef.name", "it would be bound to the operator's plan")
	require.ErrorContains(t, err, mayHaveAnother)
	require.True(t, slices.ContainsFunc(c.broker.Running(), c.broker.Finish))
	c.Becomes(first, func() bool { return first.Status.ProvisionStatus == api.Provisioned })
	assert.Empty(t, c.broker.Calls(osbtest.Of(osbtest.Bind)))
}

// forge replaces the operator's copies, as Mallory, by a class and a plan of the same names and IDs at a broker of her own.
func (c *copies) forge(class *api.ServiceClass, plan *api.ServicePlan) {
	c.Helper()
	own := c.RegisterLocally(c.StartBroker(osbtest.Options{Catalog: c.Catalog(c.Service(c.Plan("small")))}))
	c.mallory.TakeAway(plan, class)
	c.Gone(plan, class)
	forgedClass, forged := c.class("db", ""), c.plan("copy", "db", "", "premium")
	forgedClass.Spec.ServiceBrokerName, forged.Spec.ServiceBrokerName = own.Name, own.Name
	forged.Spec.ExternalName = "harmless"
	require.NoError(c, c.try(forgedClass))
	require.NoError(c, c.try(forged))
}
