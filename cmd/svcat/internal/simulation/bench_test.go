package simulation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A large cluster has so many services with so many plans each, and as many namespaces with
// as many instances.
const services, perService = 100, 100

func largeCatalog(changed int) []byte {
	var all []string
	for s := range services {
		var plans []string
		for p := range perService {
			text := "d"
			if p < changed {
				text = "changed"
			}
			plans = append(plans, fmt.Sprintf(`{"id":"s%[1]d-p%[2]d","name":"p%[2]d","description":%[3]q,"free":false,"metadata":{"costs":[{"amount":{"usd":%[2]d.5},"unit":"MONTHLY"}],"bullets":["a bullet"]}}`, s, p, text))
		}
		all = append(all, fmt.Sprintf(`{"id":"s%[1]d","name":"service-%[1]d","description":"d","bindable":true,"tags":["ServiceType=t%[1]d"],"plans":[%[2]s]}`, s, strings.Join(plans, ",")))
	}
	return []byte(`{"services":[` + strings.Join(all, ",") + `]}`)
}

// largeState is what a cluster with such a catalog stores.
func largeState(b *testing.B) []byte {
	b.Helper()
	of := options.New()
	cluster, err := offline.New(of)
	require.NoError(b, err)
	require.NoError(b, world.Index(b.Context(), cluster))
	w, err := world.New(cluster, of)
	require.NoError(b, err)
	for _, object := range documents(b, `{kind: ClusterServiceBroker, metadata: {name: shop}, spec: {url: "https://broker.example.com"}}`) {
		require.NoError(b, w.Apply(b.Context(), object))
	}
	require.NoError(b, w.Relist(b.Context(), "", "shop", largeCatalog(0)))
	for s := range services {
		require.NoError(b, w.SetDefault(b.Context(), "", fmt.Sprintf("service-%d", s), "p0"), "s%d", s)
	}
	for n := range services {
		for _, object := range documents(b, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: ns%d, labels: {team: "t%d"}}}`, n, n%10)) {
			require.NoError(b, w.Apply(b.Context(), object))
		}
		object := documents(b, fmt.Sprintf(`{kind: ServiceInstance, metadata: {name: i0, namespace: ns%d}, spec: {serviceType: t%d, parameters: {size: 1}}}`, n, n))[0]
		require.NoError(b, w.Apply(b.Context(), object))
	}
	objects := cluster.Objects()
	for _, object := range objects {
		for i := 1; object.GetKind() == "ServiceInstance" && i < perService; i++ {
			other := object.DeepCopy()
			other.SetName(fmt.Sprintf("i%d", i))
			other.SetUID(types.UID(fmt.Sprintf("%s-%d", object.GetUID(), i)))
			require.NoError(b, unstructured.SetNestedField(other.Object, fmt.Sprintf("s%s-p%d", object.GetNamespace()[2:], i), "spec", "clusterServicePlanRef", "name"))
			objects = append(objects, other)
		}
	}
	raw, err := json.Marshal(objects)
	require.NoError(b, err)
	return raw
}

// BenchmarkRun simulates a switched default, a policy and a catalog in a cluster with 10,000
// plans and 10,000 instances.
func BenchmarkRun(b *testing.B) {
	raw := largeState(b)
	catalog := largeCatalog(1)
	policy := documents(b, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, namespaces: {names: [ns1, ns2]}, subjects: [{costs: {currency: usd, unit: MONTHLY, above: "50"}}]}}`)[0]
	for b.Loop() {
		began := time.Now()
		var objects []json.RawMessage
		require.NoError(b, json.Unmarshal(raw, &objects))
		state := State{}
		for _, object := range objects {
			state.JSON = append(state.JSON, object)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s-decoding")
		report, err := Run(b.Context(), state, []Change{
			{Default: &Default{Class: "service-1", Plan: "p1"}}, {Apply: policy}, {Catalog: &Catalog{Broker: "shop", Answer: catalog}},
		})
		require.NoError(b, err)
		require.True(b, report.Changes())
		b.ReportMetric(float64(len(report.Types)), "types")
		b.ReportMetric(float64(len(report.Instances)), "instances")
	}
}
