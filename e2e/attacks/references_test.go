package attacks_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestForgedPlan: a plan that names no broker, and carries the ID of a plan that is denied
// here, gives no user an instance of that plan. Three walls stand, and each is tried alone:
// the plan is refused; an instance of such a plan, which the operator made, is refused,
// whatever it says of itself; and what was decided before the class named the broker is
// not provisioned.
func TestForgedPlan(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	c.rule(api.PolicyDeny, nil, "premium")
	forged := c.plan("harmless", "db", "", "premium")
	c.RefusedAt(c.try(forged.DeepCopy()), "spec.clusterServiceBrokerName", "the right to use the class's broker is asked")

	c.Create(forged)
	err := c.try(c.Instance("mine", decided("db", "harmless")))
	c.RefusedAt(err, "spec.servicePlanRef", "taken as decided")
	assert.ErrorContains(t, err, "plan db/harmless is without the clusterServiceBrokerName of its class")
	binding := &api.ServiceBinding{ObjectMeta: c.Meta("creds")}
	binding.Annotations = map[string]string{api.AnnotationAppliedDefaults: "{}"}
	binding.Spec.ServiceClassRef, binding.Spec.ServicePlanRef = &api.LocalObjectReference{Name: "db"}, &api.LocalObjectReference{Name: "harmless"}
	c.RefusedAt(c.try(binding), "spec.servicePlanRef", "taken as decided, of a binding with an instance of its own")
	assert.Contains(t, c.undecided("db", "harmless"), "no plan is decided on yet", "asked for by name")
	c.nothingSent()
}

// TestClassThatJoinsABroker is the third wall: the references were decided while neither
// class nor plan named a broker.
func TestClassThatJoinsABroker(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	class := c.class("late", "")
	require.NoError(t, c.try(class))
	plan := c.plan("harmless", "late", "", "premium")
	require.NoError(t, c.try(plan))
	mine := c.Instance("mine", env.OfLocalPlan("late", "harmless"))
	require.NoError(t, c.try(mine))
	c.HasCondition(mine, api.ConditionReady, api.ConditionUnknown, "ReferencesNonexistentBroker")

	c.Patch(class, `{"spec":{"clusterServiceBrokerName":"`+c.Name("broker")+`"}}`)
	changes := 0
	c.Becomes(mine, func() bool {
		ready := env.ConditionOf(mine, api.ConditionReady)
		if ready.Reason == "ReferencesNonexistentBroker" && ready.Message == "the plan is without the clusterServiceBrokerName of its class: choose another plan" {
			return true
		}
		// A change of the plan brings a pass, which may yet see the class as it was: each watch has its own time.
		changes++
		c.Patch(plan, fmt.Sprintf(`{"spec":{"description":"change %d that the controller sees"}}`, changes))
		return false
	})
	c.nothingSent()
}

// TestClassWithoutBroker: of a plan that names the cluster's broker in a class that names
// none, nothing could ever be provisioned: it is not chosen.
func TestClassWithoutBroker(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	c.Create(c.class("late", ""), c.plan("premium", "late", c.Name("broker"), "premium"))
	err := c.try(c.Instance("mine", decided("late", "premium")))
	c.RefusedAt(err, "spec.servicePlanRef", "taken as decided")
	assert.ErrorContains(t, err, "of a clusterServiceBrokerName that its class does not name")
	assert.Contains(t, c.undecided("late", "premium"), "no plan is decided on yet", "asked for by name")
	c.nothingSent()
}

// TestDisguise: what a policy or a limit goes by, on the operator's copies, stays as the
// operator wrote it.
func TestDisguise(t *testing.T) {
	t.Parallel()
	c := newCopies(t)
	plan := c.plan("small", "db", c.Name("broker"), "small")
	plan.Labels = map[string]string{"tier": "scarce"}
	c.Create(plan)
	c.rule(api.PolicyLimit, new(int32(1)), "small")
	first := c.Instance("first", env.OfLocalPlan("db", "small"))
	require.NoError(t, c.try(first))
	c.Ready(first)

	class := c.class("db", "")
	for _, attempt := range []struct {
		field, patch string
		class        bool
	}{
		{field: "metadata.labels", patch: `{"metadata":{"labels":{"tier":"plenty"}}}`},
		{field: "metadata.labels", patch: `{"metadata":{"labels":null}}`},
		{field: "spec.externalName", patch: `{"spec":{"externalName":"large"}}`},
		{field: "spec.serviceType", patch: `{"spec":{"serviceType":"cache"}}`},
		{field: "metadata.labels", patch: `{"metadata":{"labels":{"tier":"plenty"}}}`, class: true},
		{field: "spec.externalName", patch: `{"spec":{"externalName":"cache"}}`, class: true},
		{field: "spec.serviceType", patch: `{"spec":{"serviceType":"cache"}}`, class: true},
	} {
		if attempt.class {
			c.RefusedAt(c.mallory.TryPatch(class, attempt.patch), attempt.field, attempt.patch)
			continue
		}
		c.RefusedAt(c.mallory.TryPatch(plan, attempt.patch), attempt.field, attempt.patch)
	}
	require.NoError(t, c.mallory.TryPatch(plan, `{"spec":{"description":"mine"}}`), "what no policy goes by is hers to write")
	second := c.Instance("second", env.OfLocalPlan("db", "small"))
	c.Eventually(func() (bool, error) {
		// The slot of the first is granted a moment after it is ready.
		return apierrors.IsForbidden(c.mallory.Client().Create(t.Context(), second.DeepCopy(), client.DryRunAll)), nil
	})
	assert.True(t, apierrors.IsForbidden(c.try(second)))
}

// TestTypeByCreation: who may create types, and not update them, decides no default by
// creating one.
func TestTypeByCreation(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	e.AddCatalog(env.Class{Namespace: e.Namespace, Name: "db", ServiceType: "sql"}, env.Plan{Namespace: e.Namespace, Name: "small", Class: "db"})
	user := e.Name("creator")
	e.Grant(user, rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"servicetypes"}, Verbs: []string{"create"}})
	made, ok := env.TypeWithDefault(e.Namespace, "sql", "small").(*api.ServiceType)
	require.True(t, ok)
	creator := e.As(user).Client()
	e.RefusedAt(creator.Create(t.Context(), made.DeepCopy()), "spec.defaultPlanRef", "it decides")
	empty := &api.ServiceType{ObjectMeta: e.Meta("other")}
	require.NoError(t, creator.Create(t.Context(), empty), "a type without a record decides nothing")
	e.Grant(user, rbacv1.PolicyRule{APIGroups: []string{api.GroupName}, Resources: []string{"servicetypes"}, Verbs: []string{"update"}})
	err := creator.Create(t.Context(), made)
	require.True(t, err == nil || apierrors.IsAlreadyExists(err), "the keeper may have made it by now: %v", err)
}
