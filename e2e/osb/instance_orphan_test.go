package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// A clean-up that fails is tried until it is done, and only then is another made.
func TestMitigationIsTriedUntilItIsDone(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Next(osbtest.Provision, osbtest.Malformed())
	s.broker.Next(osbtest.Deprovision, osbtest.Status(400, `{}`), osbtest.CutBefore(), osbtest.AsyncDone(1))
	i := s.db()
	s.Create(i)
	condition := s.HasCondition(i, api.ConditionOrphanMitigation, api.ConditionTrue, "")
	assert.NotEmpty(t, condition.Message)
	assert.True(t, i.Status.OrphanMitigationInProgress)
	s.Ready(i)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Provision)), 2)
	assert.NotEqual(t, i.Spec.ExternalID, s.only().ID)
	s.end(i)
}

// What is edited during a clean-up is what is made after it.
func TestEditDuringMitigation(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Next(osbtest.Provision, osbtest.Status(500, `{}`).Acting())
	held := s.broker.Hold(osbtest.Deprovision)
	i := s.db(having(`{"size": 1}`))
	s.Create(i)
	held.Call()
	s.Change(i, func() { i.Spec.Parameters = env.RawJSON(`{"size": 2}`) })
	held.Act()
	held.Answer()
	s.Ready(i)
	assert.Equal(t, object{"size": 2.0}, s.only().Parameters)
	assert.Empty(t, s.broker.Calls(osbtest.Of(osbtest.Update)))
	s.end(i)
}

// A deletion during orphan mitigation needs one call for both.
func TestDeletionDuringMitigation(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Next(osbtest.Provision, osbtest.Malformed())
	s.broker.Next(osbtest.Deprovision, osbtest.Status(500, `{}`))
	i := s.db()
	s.Create(i)
	s.called(osbtest.Deprovision, 1)
	s.end(i)
	assert.Len(t, s.broker.Calls(osbtest.Of(osbtest.Provision)), 1)
}

// What failed and was cleaned up goes without another call.
func TestDeletionAfterMitigation(t *testing.T) {
	t.Parallel()
	s := newBrokerEnv(t)
	s.broker.Next(osbtest.Provision, osbtest.AsyncFailed(0))
	i := s.db()
	s.Create(i)
	s.stalled(i, "ProvisionCallFailed")
	s.Becomes(i, func() bool { return i.Status.DeprovisionStatus == api.DeprovisionSucceeded })
	calls := len(s.broker.Calls())
	s.end(i)
	assert.Len(t, s.broker.Calls(), calls)
}

// A broker of a namespace serves its instances as one of the cluster does.
func TestInstanceOfAServiceBroker(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const catalog = `{"services": [{"id": "local-db", "name": "local-db", "description": "d", "plan_updateable": true, "plans": [
		{"id": "local-small", "name": "small", "description": "s"}, {"id": "local-large", "name": "large", "description": "l"}]}]}`
	broker := osbtest.Start(t, osbtest.Options{Catalog: []byte(catalog)})
	t.Cleanup(func() { broker.AssertDuties(t) })
	registered := &api.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "mine"}}
	registered.Spec.URL = broker.URL
	e.Create(registered)
	e.Ready(registered)

	i := &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: "mydb"}}
	i.Spec.ServiceClassExternalName, i.Spec.ServicePlanExternalName = "local-db", "small"
	e.Create(i)
	e.Ready(i)
	assert.Equal(t, "local-db", i.Status.UserSpecifiedClassName)
	assert.Equal(t, "small", i.Status.ExternalProperties.ServicePlanExternalName)
	assert.Equal(t, "local-small", i.Status.ExternalProperties.ServicePlanExternalID)
	assert.Empty(t, i.Status.ExternalProperties.ClusterServicePlanExternalID)
	assert.Equal(t, "mine", i.Status.ExternalProperties.ServiceBrokerName)
	e.Change(i, func() { i.Spec.ServicePlanExternalName = "large" })
	e.Ready(i)
	assert.Equal(t, "large", i.Status.ExternalProperties.ServicePlanExternalName)
	e.Delete(i)
	e.Gone(i)
	assert.Empty(t, broker.Instances())
}
