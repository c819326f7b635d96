package attacks_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// TestPlaceholders: Mallory deletes the operator's copies and has an instance decided on a class and a plan in their place
// that name no broker and no plan that a policy denies. When the copies are back, the instance is of a denied plan: it is
// not provisioned, however the copies come back, and it goes on once no policy denies it.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	for name, restore := range map[string]func(*copies, *placeholders){
		"Created again": (*copies).createAgain,
		// The objects and their UIDs stay those that the decision was made on.
		"Applied over": (*copies).applyOver,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCopies(t)
			denied := c.rule(api.PolicyDeny, nil, "premium")
			p := c.placehold()
			mine := c.Instance("mine", env.OfLocalPlan("db", "harmless"))
			require.NoError(t, c.try(mine))
			assert.Equal(t, "copy", env.PlanOf(mine), "it is decided on the placeholder")
			c.HasCondition(mine, api.ConditionReady, api.ConditionUnknown, "ReferencesNonexistentBroker")

			restore(c, p)
			says := c.HasCondition(mine, api.ConditionReady, api.ConditionFalse, "PolicyDenied").Message
			assert.Contains(t, says, `ProvisioningPolicy "`+denied.Name+`" does not let namespace "`+c.Namespace+`" use plan db/premium`)
			c.nothingSent()

			c.Change(denied, func() { denied.Spec.Namespaces.Names = []string{"another"} })
			c.Ready(mine)
		})
	}
}

// TestPlaceholdersOfClaims is TestPlaceholders for a binding with an instance of its own, which admission takes as decided.
func TestPlaceholdersOfClaims(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	c.rule(api.PolicyDeny, nil, "premium")
	p := c.placehold()
	mine := c.Binding("creds", "")
	mine.Spec.ServiceClassExternalName, mine.Spec.ServicePlanExternalName = "db", "harmless"
	require.NoError(t, c.try(mine))
	assert.Equal(t, &api.LocalObjectReference{Name: "copy"}, mine.Spec.ServicePlanRef, "it is decided on the placeholder")
	c.HasCondition(mine, api.ConditionReady, api.ConditionUnknown, "ReferencesNonexistentBroker")

	c.applyOver(p)
	touches := 0
	c.Becomes(mine, func() bool {
		ready := env.ConditionOf(mine, api.ConditionReady)
		if ready.Reason == "PolicyDenied" {
			assert.Contains(t, ready.Message, "use plan db/premium")
			return true
		}
		require.NotEqual(t, api.ConditionTrue, ready.Status)
		// No watch tells claims of a plan: a touch brings a pass, which may yet see the class or the plan as it was.
		touches++
		c.Patch(mine, fmt.Sprintf(`{"metadata":{"annotations":{"touch":"%d"}}}`, touches))
		return false
	})
	c.nothingSent()
}

// TestPlaceholdersOfBindings: an instance of the plan is allowed, and a binding to it is not. The binding is made while the
// instance is of the placeholder.
func TestPlaceholdersOfBindings(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	c.bindDenied("premium")
	p := c.placehold()
	db := c.Instance("mine", env.OfLocalPlan("db", "harmless"))
	require.NoError(t, c.try(db))
	creds := c.Binding("creds", "mine")
	require.NoError(t, c.try(creds))

	c.applyOver(p)
	c.Ready(db)
	says := c.HasCondition(creds, api.ConditionReady, api.ConditionFalse, "PolicyDenied").Message
	assert.Contains(t, says, `BindingPolicy "`+c.Name("premium")+`" does not let namespace "`+c.Namespace+`" use instance "mine" (plan db/premium)`)
	assert.Empty(t, c.broker.Calls(osbtest.Of(osbtest.Bind)))
}

// TestAPlanOfAnotherBroker: the operator's class stays, and Mallory puts a plan of its own in place of the copy that her
// instance has: with its ID, another name, and a broker of the namespace. What she binds to is still the operator's plan.
func TestAPlanOfAnotherBroker(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	copied := c.plan("copy", "db", c.Name("broker"), "premium")
	copied.Spec.ExternalName = "premium"
	c.Create(copied)
	mine := c.Instance("mine", env.OfLocalPlan("db", "premium"))
	require.NoError(t, c.try(mine))
	c.Ready(mine)
	c.bindDenied("premium")
	c.refusedSoon(c.Binding("creds", "mine"), "does not let namespace")

	c.mallory.TakeAway(copied)
	c.Gone(copied)
	forged := c.plan("copy", "db", "", "premium")
	forged.Spec.ExternalName, forged.Spec.ServiceBrokerName = "harmless", "own"
	require.NoError(t, c.try(forged))
	c.refusedSoon(c.Binding("creds", "mine"), "what policies say of it cannot be known")
	require.Error(t, c.try(c.Binding("creds", "mine")))
	assert.Empty(t, c.broker.Calls(osbtest.Of(osbtest.Bind)))
}

// placeholders are what Mallory made in place of the operator's copies.
type placeholders struct {
	class *api.ServiceClass
	plan  *api.ServicePlan
}

// placehold has the operator make a copy of the broker's plan premium, and Mallory replace it and its class by those of the
// same Kubernetes names that name no broker; the plan is called harmless.
func (c *copies) placehold() *placeholders {
	c.Helper()
	class, plan := c.class("db", c.Name("broker")), c.plan("copy", "db", c.Name("broker"), "premium")
	plan.Spec.ExternalName = "premium"
	c.Create(plan)
	require.NoError(c, c.mallory.Client().Delete(c.Context(), plan))
	require.NoError(c, c.mallory.Client().Delete(c.Context(), class))
	c.Gone(plan, class)
	p := &placeholders{class: c.class("db", ""), plan: c.plan("copy", "db", "", "premium")}
	p.plan.Spec.ExternalName = "harmless"
	require.NoError(c, c.try(p.class))
	require.NoError(c, c.try(p.plan))
	return p
}

// createAgain brings the operator's copies back as new objects.
func (c *copies) createAgain(p *placeholders) {
	c.Helper()
	c.TakeAway(p.plan, p.class)
	c.Gone(p.plan, p.class)
	class, plan := c.class("db", c.Name("broker")), c.plan("copy", "db", c.Name("broker"), "premium")
	plan.Spec.ExternalName = "premium"
	c.Create(class, plan)
}

// applyOver brings the operator's copies back as GitOps does, which finds objects of these names.
func (c *copies) applyOver(p *placeholders) {
	c.Helper()
	c.Patch(p.class, `{"spec":{"clusterServiceBrokerName":"`+c.Name("broker")+`"}}`)
	c.Patch(p.plan, `{"spec":{"clusterServiceBrokerName":"`+c.Name("broker")+`","externalName":"premium"}}`)
}
