package osb_test

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// sweptWithin is how long something removed may stay: it is marked, and deleted when
// all of admission knows of the mark.
const sweptWithin = 100 * time.Second

// offer has the broker list these plans alone, and waits until that is known.
func (s *brokerEnv) offer(plans ...object) {
	s.Helper()
	s.setting.service["plans"] = plans
	text, err := json.Marshal(object{"services": []object{s.setting.service}})
	require.NoError(s, err)
	s.takes(text)
}

// takes has the broker serve a catalog, and waits until it was taken over.
func (s *brokerEnv) takes(catalog []byte) {
	s.Helper()
	require.NoError(s, s.broker.SetCatalog(catalog))
	s.Change(s.registered, func() { s.registered.Spec.RelistRequests++ })
	s.Ready(s.registered)
}

// plan is the cluster's plan with an ID at the broker.
func (e *testEnv) plan(externalID any) *api.ClusterServicePlan {
	e.Helper()
	plans := api.ClusterServicePlanList{}
	require.NoError(e, e.Client().List(e.Context(), &plans, client.MatchingFields{api.FieldExternalID: text(externalID)}))
	require.Len(e, plans.Items, 1, "plans with ID %s", externalID)
	return &plans.Items[0]
}

// class is the cluster's class with an ID at the broker.
func (e *testEnv) class(externalID any) *api.ClusterServiceClass {
	e.Helper()
	classes := api.ClusterServiceClassList{}
	require.NoError(e, e.Client().List(e.Context(), &classes, client.MatchingFields{api.FieldExternalID: text(externalID)}))
	require.Len(e, classes.Items, 1, "classes with ID %s", externalID)
	return &classes.Items[0]
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// tagged gives a plan of a catalog tags.
func tagged(plan object, tags ...string) object {
	with := maps.Clone(plan)
	with["metadata"] = object{"tags": tags}
	return with
}

// patiently is as eventually, for what takes minutes at worst.
func (e *testEnv) patiently(is func() (bool, error)) {
	e.Helper()
	require.NoError(e, wait.EventuallyWithin(e.Context(), sweptWithin, is))
}

// swept waits until an object is gone, which nothing refers to any more.
func (e *testEnv) swept(o client.Object) {
	e.Helper()
	e.patiently(func() (bool, error) {
		err := e.Client().Get(e.Context(), client.ObjectKeyFromObject(o), o)
		return err != nil, client.IgnoreNotFound(err)
	})
}

// versions are the resource versions of the classes and plans of a cluster broker, by
// kind and name.
func (e *testEnv) versions(broker string) map[string]string {
	e.Helper()
	versions := map[string]string{}
	classes, plans := api.ClusterServiceClassList{}, api.ClusterServicePlanList{}
	require.NoError(e, e.Client().List(e.Context(), &classes, client.MatchingFields{api.FieldClusterServiceBrokerName: broker}))
	require.NoError(e, e.Client().List(e.Context(), &plans, client.MatchingFields{api.FieldClusterServiceBrokerName: broker}))
	for i := range classes.Items {
		versions["class "+classes.Items[i].Name] = classes.Items[i].ResourceVersion
	}
	for i := range plans.Items {
		versions["plan "+plans.Items[i].Name] = plans.Items[i].ResourceVersion
	}
	return versions
}
