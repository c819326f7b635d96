package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// namespacedCatalog is what a ServiceBroker offers. Names and IDs may be those of others:
// they are its namespace's.
const namespacedCatalog = `{"services": [{"id": "db", "name": "db", "description": "databases", "bindable": true, "plans": [
	{"id": "free", "name": "free", "description": "a free one", "metadata": {"tags": ["SuggestedPlan=true", "Weight=5"]}},
	{"id": "paid", "name": "paid", "description": "a paid one", "free": false}]}]}`

// localBroker registers a broker in the environment's namespace alone.
func (e *testEnv) localBroker(broker *osbtest.Broker) *api.ServiceBroker {
	e.Helper()
	registered := &api.ServiceBroker{}
	registered.Namespace, registered.Name, registered.Spec.URL = e.Namespace, "local", broker.URL
	e.Create(registered)
	return registered
}

// A ServiceBroker is for its namespace all that a ClusterServiceBroker is for the cluster.
func TestServiceBroker(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	broker := osbtest.Start(t, osbtest.Options{Catalog: []byte(namespacedCatalog)})
	registered := e.localBroker(broker)
	e.Ready(registered)
	class, free := &api.ServiceClass{}, &api.ServicePlan{}
	class.Namespace, class.Name, free.Namespace, free.Name = e.Namespace, "db", e.Namespace, "free"
	e.Get(class)
	e.Get(free)
	assert.Equal(t, []int32{1, 1}, []int32{class.Status.FreePlans, class.Status.PaidPlans})
	assert.Equal(t, "true", free.Annotations[api.AnnotationSuggestedPlan])
	assert.EqualValues(t, 5, free.Spec.Weight)

	i := e.Instance("mydb", env.OfPlan("", ""))
	i.Spec.ServiceClassExternalName, i.Spec.ServicePlanExternalName = "db", "free"
	b := e.Binding("reader", "mydb")
	e.Create(i, b)
	e.Ready(i, b)
	secret := e.Secret("reader")
	e.Get(secret)
	require.NotNil(t, i.Spec.ServicePlanRef)
	assert.Equal(t, "free", i.Spec.ServicePlanRef.Name)

	e.Delete(registered)
	said := e.HasCondition(registered, api.ConditionReady, api.ConditionFalse, "DeletionBlockedByInstances")
	assert.Contains(t, said.Message, "mydb")
	e.Delete(b)
	e.Gone(b)
	e.Gone(secret)
	e.Delete(i)
	e.Gone(i)
	for _, o := range []client.Object{free, class, registered} {
		e.swept(o)
	}
	assert.Empty(t, broker.Instances())
	broker.AssertDuties(t)
}
