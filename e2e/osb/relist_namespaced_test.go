package osb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// namespacedCatalog is what a ServiceBroker offers. Names and IDs may be those of others:
// they are its namespace's.
const namespacedCatalog = `{"services": [{"id": "db", "name": "db", "description": "databases", "bindable": true, "plans": [
	{"id": "free", "name": "free", "description": "a free one", "metadata": {"tags": ["SuggestedPlan=true", "Weight=5"]}},
	{"id": "paid", "name": "paid", "description": "a paid one", "free": false}]}]}`

// localBroker registers a broker in the world's namespace alone.
func (w *world) localBroker(broker *osbtest.Broker) *api.ServiceBroker {
	w.Helper()
	registered := &api.ServiceBroker{}
	registered.Namespace, registered.Name, registered.Spec.URL = w.namespace, "local", broker.URL
	w.Create(registered)
	return registered
}

// A ServiceBroker is for its namespace all that a ClusterServiceBroker is for the cluster.
func TestServiceBroker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broker := osbtest.Start(t, osbtest.Options{Catalog: []byte(namespacedCatalog)})
	registered := w.localBroker(broker)
	w.Ready(registered)
	class, free := &api.ServiceClass{}, &api.ServicePlan{}
	class.Namespace, class.Name, free.Namespace, free.Name = w.namespace, "db", w.namespace, "free"
	w.Get(class)
	w.Get(free)
	assert.Equal(t, []int32{1, 1}, []int32{class.Status.FreePlans, class.Status.PaidPlans})
	assert.Equal(t, "true", free.Annotations[api.AnnotationSuggestedPlan])
	assert.EqualValues(t, 5, free.Spec.Weight)

	i := w.instance("mydb", "", "")
	i.Spec.ServiceClassExternalName, i.Spec.ServicePlanExternalName = "db", "free"
	b := w.binding("reader", "mydb")
	w.Create(i, b)
	w.Ready(i, b)
	secret := w.secret("reader")
	w.Get(secret)
	require.NotNil(t, i.Spec.ServicePlanRef)
	assert.Equal(t, "free", i.Spec.ServicePlanRef.Name)

	w.Delete(registered)
	said := w.HasCondition(registered, api.ConditionReady, api.ConditionFalse, "DeletionBlockedByInstances")
	assert.Contains(t, said.Message, "mydb")
	w.Delete(b)
	w.Gone(b)
	w.Gone(secret)
	w.Delete(i)
	w.Gone(i)
	for _, o := range []client.Object{free, class, registered} {
		w.swept(o)
	}
	assert.Empty(t, broker.Instances())
	broker.AssertDuties(t)
}
