package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A plan that the broker offers no more is kept for the instances that have it, and taken
// by no other. It is as before when it is back, and deleted when it is unused.
func TestRelistRemovesAPlan(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	small, large := s.setting.small, s.setting.large
	i := s.provisioned()
	plan := s.plan(small["id"])
	s.offer(large)
	s.Get(plan)
	assert.True(t, plan.Status.RemovedFromBrokerCatalog)
	another := s.Instance("another", env.OfPlan(s.Name("db"), "small"))
	s.Eventually(func() (bool, error) { // the webhook's cache has to know of the mark
		tried := another.DeepCopy()
		err := s.Client().Create(s.Context(), tried, client.DryRunAll)
		return tried.Spec.ClusterServicePlanRef == nil, err
	})
	s.Create(another)
	s.HasCondition(another, api.ConditionResolved, api.ConditionFalse, "")
	assert.Len(t, s.broker.Instances(), 1, "the one that has the plan")
	s.Ready(i)

	s.offer(small, large)
	s.Get(plan)
	assert.False(t, plan.Status.RemovedFromBrokerCatalog, "it is back")
	s.Ready(another)
	s.Delete(another)
	s.Gone(another)

	s.offer(large)
	s.end(i)
	s.offer(large) // that nothing has it any more is found out at the next look
	s.swept(plan)
	assert.False(t, s.class(s.setting.service["id"]).Status.RemovedFromBrokerCatalog)
}

// A broker that is deleted waits for its instances, and names them. Its classes and plans
// go with it; what people made of them is marked.
func TestBrokerDeletionWaitsForInstances(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	i := s.provisioned()
	class, plan := s.class(s.setting.service["id"]), s.plan(s.setting.large["id"])
	mine := &api.ClusterServiceClass{}
	mine.Name, mine.Spec.ExternalName, mine.Spec.ExternalID = s.Name("mine"), s.Name("mine"), class.Spec.ExternalID
	mine.Spec.ClusterServiceBrokerName, mine.Spec.Description = s.registered.Name, "mine"
	s.Create(mine)
	// One in the broker's own class does not keep that class, nor the broker.
	within := &api.ClusterServicePlan{}
	within.Name, within.Spec.ExternalName, within.Spec.ExternalID = s.Name("within"), s.Name("within"), plan.Spec.ExternalID
	within.Spec.ClusterServiceClassRef.Name, within.Spec.ClusterServiceBrokerName, within.Spec.Description = class.Name, s.registered.Name, "mine"
	s.Create(within)

	s.Delete(s.registered)
	said := s.HasCondition(s.registered, api.ConditionReady, api.ConditionFalse, "DeletionBlockedByInstances")
	assert.Contains(t, said.Message, s.Namespace+"/mydb")
	s.Get(plan)
	assert.True(t, plan.Status.RemovedFromBrokerCatalog, "nothing new is provisioned")
	s.end(i)
	for _, o := range []client.Object{plan, class, s.registered} {
		s.swept(o)
	}
	s.Get(mine)
	assert.True(t, mine.Status.RemovedFromBrokerCatalog, "its broker is gone")
	s.Get(within)
	assert.True(t, within.Status.RemovedFromBrokerCatalog, "its broker is gone")
	s.Delete(mine)
	s.Delete(within)
}

// Plans of a broker that is being deleted are not chosen, however long its catalog takes: by type the create is refused, by
// name it is undecided.
func TestBrokerDeletionDoesNotWaitForItsCatalog(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t, ownController(t, "--osb-api-request-timeout=1h"), func(s *setting) {
		s.small = tagged(s.small, "ServiceType="+text(s.service["name"]), "SuggestedPlan=true")
	})
	i := s.provisioned()
	byType := s.Instance("by-type", env.OfType(text(s.setting.service["name"])))
	s.Eventually(func() (bool, error) { // the webhook's cache has to know of the suggestion
		err := s.Client().Create(s.Context(), byType.DeepCopy(), client.DryRunAll)
		return err == nil, err
	})
	held := s.broker.Hold(osbtest.GetCatalog)
	s.again()
	<-held.Arrived
	s.Delete(s.registered)
	s.Eventually(func() (bool, error) {
		err := s.Client().Create(s.Context(), byType.DeepCopy(), client.DryRunAll)
		if apierrors.IsInvalid(err) {
			return true, nil
		}
		return false, err
	})
	byName := s.Instance("by-name", env.OfPlan(s.Name("db"), "small"))
	s.Create(byName)
	assert.Nil(t, byName.Spec.ClusterServicePlanRef)
	s.end(i)
	s.swept(s.registered)
}

// A catalog that is empty for a moment removes nothing: what it lost is marked, and offered again as it was.
func TestEmptyCatalogRemovesNothing(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	class, plan := s.class(s.setting.service["id"]), s.plan(s.setting.large["id"])
	s.takes([]byte(`{"services":[]}`))
	said := s.HasCondition(s.registered, api.ConditionCatalogShrank, api.ConditionTrue, "CatalogShrank")
	assert.Contains(t, said.Message, "3 of the 3 classes and plans")
	s.Get(s.registered)
	assert.NotNil(t, s.registered.Status.NextRetry, "it is read again")
	for _, o := range []client.Object{class, plan} {
		uid := o.GetUID()
		s.Get(o)
		assert.Equal(t, uid, o.GetUID())
	}
	assert.True(t, class.Status.RemovedFromBrokerCatalog)
	assert.True(t, plan.Status.RemovedFromBrokerCatalog)

	s.relist()
	s.Get(plan)
	s.Get(class)
	assert.False(t, plan.Status.RemovedFromBrokerCatalog || class.Status.RemovedFromBrokerCatalog)
	_, shrank := api.FindCondition(s.registered.Status.Conditions, api.ConditionCatalogShrank)
	assert.False(t, shrank)
	s.provisioned()
}
