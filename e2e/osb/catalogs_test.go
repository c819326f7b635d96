package osb_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// Types, names and IDs of well-known catalogs need a cluster of their own.
func TestCatalogs(t *testing.T) {
	t.Parallel()
	s := newOwnStack(t, "--secret-interval=1s", stack.CallTimeout(3*time.Second))
	// First and alone: one of the catalogs below has the IDs of the demo's.
	t.Run("Demo", func(t *testing.T) { demoOf(t, s) }) //nolint:paralleltest // see above
	t.Run("Loopback", func(t *testing.T) {
		t.Parallel()
		loopbackOf(t, s)
	})
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "catalogs", "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			listedTwice(t, s, file)
		})
	}
}

// listedTwice registers a broker with a real catalog: all of it is taken, and the second
// time nothing is written.
func listedTwice(t *testing.T, s *stack.Stack, file string) {
	t.Helper()
	catalog, err := os.ReadFile(file)
	require.NoError(t, err)
	e := newEnvOn(t, s)
	broker := osbtest.Start(t, osbtest.Options{Catalog: catalog})
	registered := e.Register(broker, func(b *api.ClusterServiceBroker) { b.Spec.NameSuffix = e.Suffix })
	told, _ := api.FindCondition(registered.Status.Conditions, api.ConditionCatalogComplete)
	assert.Equal(t, api.ConditionTrue, told.Status, told.Message)
	first := e.versions(registered.Name)
	assert.Len(t, first, parts(t, catalog))
	e.Change(registered, func() { registered.Spec.RelistRequests++ })
	e.Ready(registered)
	assert.Len(t, broker.Calls(osbtest.Of(osbtest.GetCatalog)), 2)
	assert.Equal(t, first, e.versions(registered.Name), "nothing is written the second time")
	broker.AssertDuties(t)
}

// parts counts the services and plans of a catalog.
func parts(t *testing.T, catalog []byte) int {
	t.Helper()
	var listed struct {
		Services []struct {
			Plans []json.RawMessage `json:"plans"`
		} `json:"services"`
	}
	require.NoError(t, json.Unmarshal(catalog, &listed))
	count := len(listed.Services)
	for _, service := range listed.Services {
		count += len(service.Plans)
	}
	return count
}

// demoOf registers both brokers of the demo: one type can be had at once, one has two
// suggestions, one has none.
func demoOf(t *testing.T, s *stack.Stack) {
	t.Helper()
	e := newEnvOn(t, s)
	azure, inhouse := osbtest.Start(t, osbtest.Demo(osbtest.Azure)), osbtest.Start(t, osbtest.Demo(osbtest.Inhouse))
	for name, broker := range map[string]*osbtest.Broker{osbtest.Azure: azure, osbtest.Inhouse: inhouse} {
		e.Register(broker, func(b *api.ClusterServiceBroker) { b.Name = name })
	}
	counts := map[string][]int32{}
	for _, id := range []string{"997b8372-8dac-40ac-ae65-758b4a5075a5", "0346088a-d4b2-4478-aa32-f18e295ec1d9", "inhouse-mysql"} {
		class := e.class(id)
		counts[class.Spec.ExternalName] = []int32{class.Status.FreePlans, class.Status.PaidPlans}
	}
	assert.Equal(t, map[string][]int32{"azure-mysql": {0, 2}, "azure-redis": {1, 1}, "inhouse-mysql": {2, 0}}, counts)
	assert.Equal(t, []int32{10, 20}, []int32{e.plan("inhouse-small").Spec.Weight, e.plan("inhouse-medium").Spec.Weight})

	redis := e.Instance("cache", env.OfPlan("", ""))
	redis.Spec.ServiceType = "redis"
	e.Create(redis)
	e.Ready(redis)
	assert.Equal(t, e.plan("4af8bbd1-962d-4e26-84f1-f72d1d959d87").Name, redis.Spec.ClusterServicePlanRef.Name, "the one suggestion")
	for serviceType, says := range map[string][]string{
		"mysql":      {"azure-mysql/premium-p1", "inhouse-mysql/small", "is-default-plan=true"},
		"postgresql": {"inhouse-postgresql", "is-default-plan=true"},
	} {
		i := e.Instance("refused-"+serviceType, env.OfPlan("", ""))
		i.Spec.ServiceType = serviceType
		err := e.Client().Create(e.Context(), i)
		for _, word := range says {
			require.ErrorContains(t, err, word, serviceType)
		}
	}
	e.Delete(redis)
	e.Gone(redis)
	assert.Empty(t, slices.Concat(azure.Violations(), inhouse.Violations()))
}

// loopbackOf registers a namespace's own broker at an address where only the controller
// can reach: it is not called, unless --allow-broker-addresses says so.
func loopbackOf(t *testing.T, s *stack.Stack) {
	t.Helper()
	e := newEnvOn(t, s)
	broker := osbtest.Start(t, osbtest.Options{Catalog: []byte(namespacedCatalog)})
	registered := e.localBroker(broker)
	said := e.HasCondition(registered, api.ConditionReady, api.ConditionFalse, "ErrorFetchingCatalog")
	assert.Contains(t, said.Message, "127.0.0.1")
	assert.Contains(t, said.Message, "a ServiceBroker cannot be there")
	assert.Empty(t, broker.Calls())
	e.Delete(registered)
	e.Gone(registered)
}
