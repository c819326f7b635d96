package attacks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// copies is a namespace with the operator's copy of a class of the cluster's broker,
// which has the plans small and premium. Mallory is the namespace's admin: she may not
// use the broker, nor adopt what is there.
type copies struct {
	*env.Env

	broker  *osbtest.Broker
	mallory *env.Env
}

func newCopies(t *testing.T) *copies {
	t.Helper()
	e := env.New(t)
	c := &copies{Env: e, broker: e.StartBroker(osbtest.Options{Catalog: e.Catalog(e.Service(e.Plan("small"), e.Plan("premium")))})}
	c.Register(c.broker)
	c.Create(c.class("db", c.Name("broker")))
	user := e.Name("mallory")
	for _, role := range []string{"servicecatalog-edit", "servicecatalog-admin"} {
		c.GrantRole(user, role)
	}
	c.mallory = c.As(user)
	return c
}

// class is a class of the namespace, with the ID that the broker knows, at a broker of
// the cluster; empty for none. It is not yet created.
func (c *copies) class(name, broker string) *api.ServiceClass {
	class := &api.ServiceClass{ObjectMeta: c.Meta(name)}
	class.Spec.ClusterServiceBrokerName, class.Spec.ExternalName, class.Spec.ExternalID = broker, name, c.Name("db-id")
	class.Spec.Bindable, class.Spec.Description = true, "a copy"
	return class
}

// plan is a plan of such a class, with the ID of one of the broker's, not yet created.
func (c *copies) plan(name, class, broker, of string) *api.ServicePlan {
	plan := &api.ServicePlan{ObjectMeta: c.Meta(name)}
	plan.Spec.ClusterServiceBrokerName, plan.Spec.ExternalName, plan.Spec.ExternalID = broker, name, c.PlanID(of)
	plan.Spec.ServiceClassRef.Name, plan.Spec.Description = class, "a copy"
	return plan
}

// rule holds for plans of a name in this namespace, until the end of the test.
func (c *copies) rule(action api.PolicyAction, maxInstances *int32, plan string) *api.ProvisioningPolicy {
	c.Helper()
	p := &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: c.Name(plan)}}
	p.Spec.Action, p.Spec.MaxInstances = action, maxInstances
	p.Spec.Namespaces = &api.PolicyNamespaces{Names: []string{c.Namespace}}
	p.Spec.Subjects = []api.PolicySubject{{PlanSubject: api.PlanSubject{PlanName: plan}}}
	c.whileTested(p)
	return p
}

// bindDenied denies bindings to instances of plans of a name in this namespace, until the
// end of the test.
func (c *copies) bindDenied(plan string) {
	c.Helper()
	p := &api.BindingPolicy{ObjectMeta: metav1.ObjectMeta{Name: c.Name(plan)}}
	p.Spec.Action, p.Spec.Namespaces = api.PolicyDeny, &api.PolicyNamespaces{Names: []string{c.Namespace}}
	p.Spec.Subjects = []api.BindingPolicySubject{{PlanSubject: api.PlanSubject{PlanName: plan}}}
	c.whileTested(p)
}

// whileTested creates an object of the cluster until the end of the test.
func (c *copies) whileTested(object client.Object) {
	c.Helper()
	c.Create(object)
	c.Cleanup(func() {
		assert.NoError(c, c.Client().Delete(context.WithoutCancel(c.Context()), object))
	})
}

// holds waits until a policy granted an instance a slot.
func (c *copies) holds(p *api.ProvisioningPolicy, i *api.ServiceInstance) {
	c.Helper()
	c.Becomes(p, func() bool {
		return slices.ContainsFunc(p.Status.Slots, func(s api.PolicySlots) bool {
			return s.Namespace == c.Namespace && slices.Contains(s.Instances, i.UID)
		})
	})
}

// decided claims that admission chose a plan of the namespace.
func decided(class, plan string) env.InstanceEdit {
	return func(i *api.ServiceInstance) {
		i.Annotations = map[string]string{api.AnnotationAppliedDefaults: "{}"}
		i.Spec.ServiceClassRef, i.Spec.ServicePlanRef = &api.LocalObjectReference{Name: class}, &api.LocalObjectReference{Name: plan}
	}
}

// undecided creates an instance that asks for a plan by name, as Mallory, and returns why
// no plan is decided on: it may come yet.
func (c *copies) undecided(class, plan string) string {
	c.Helper()
	i := c.Instance("asked", env.OfLocalPlan(class, plan))
	require.NoError(c, c.try(i))
	assert.Nil(c, i.Spec.ServicePlanRef)
	return c.HasCondition(i, api.ConditionReady, api.ConditionUnknown, "Undecided").Message
}

// nothingSent asserts that the broker was never asked to provision or bind anything.
func (c *copies) nothingSent() {
	c.Helper()
	for _, call := range c.broker.Calls() {
		assert.Empty(c, call.InstanceID, "%s was sent", call.Verb)
	}
}

// refusedSoon waits until the webhook refuses what Mallory creates, in these words: it learns
// of policies, slots and plans by watches, and what the keeper wrote it may yet have to see.
func (c *copies) refusedSoon(object client.Object, says string) {
	c.Helper()
	c.Eventually(func() (bool, error) {
		trial, _ := object.DeepCopyObject().(client.Object)
		err := c.mallory.Client().Create(c.Context(), trial, client.DryRunAll)
		switch {
		case err == nil:
			return false, fmt.Errorf("%T %s is admitted", object, object.GetName())
		case !strings.Contains(err.Error(), says):
			return false, err
		}
		return true, nil
	})
}

// try is the answer to a creation by Mallory.
func (c *copies) try(object client.Object) error {
	return c.mallory.Client().Create(c.Context(), object)
}
