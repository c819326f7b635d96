package simulation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// spaces are two namespaces and a broker.
const spaces = `
{apiVersion: v1, kind: Namespace, metadata: {name: dev, labels: {stage: dev}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: prod, labels: {stage: prod}}}
---
{kind: ClusterServiceBroker, metadata: {name: shop}, spec: {url: "https://broker.example.com"}}
`

// A shop adds a class with three plans of which small is the default.
const shop = spaces + `---
{kind: ClusterServiceClass, metadata: {name: db}, spec: {clusterServiceBrokerName: shop, externalName: mysql, externalID: db, serviceType: mysql, bindable: true, planUpdatable: true, description: d}}
---
{kind: ClusterServicePlan, metadata: {name: small, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}, spec: {clusterServiceBrokerName: shop, externalName: small-1, externalID: small, description: d, clusterServiceClassRef: {name: db}}}
---
{kind: ClusterServicePlan, metadata: {name: large}, spec: {clusterServiceBrokerName: shop, externalName: large-1, externalID: large, description: d, clusterServiceClassRef: {name: db}}}
---
{kind: ClusterServicePlan, metadata: {name: huge, labels: {size: huge}}, spec: {clusterServiceBrokerName: shop, externalName: huge-1, externalID: huge, description: d, clusterServiceClassRef: {name: db}}}
`

// documents reads manifests; those without a version are of the group's.
func documents(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(strings.TrimSpace(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		raw, err := yaml.YAMLToJSON([]byte(document))
		require.NoError(t, err, document)
		if !strings.Contains(document, "apiVersion") {
			raw = append([]byte(`{"apiVersion":"servicecatalog.k8s.io/v1beta1",`), raw[1:]...)
		}
		require.NoError(t, object.UnmarshalJSON(raw), document)
		objects = append(objects, object)
	}
	return objects
}

// stored is the state of a cluster in which these were applied, and its controllers are at
// rest.
func stored(t testing.TB, of *options.Options, texts ...string) State {
	t.Helper()
	cluster, w := newWorld(t, of)
	for _, text := range texts {
		put(t, w, text)
	}
	require.Empty(t, w.Notes())
	return State{Objects: cluster.Objects(), Options: of}
}

// offered is the state of a cluster whose broker offers this catalog, and in which the rest
// was applied then.
func offered(t testing.TB, of *options.Options, catalog string, texts ...string) State {
	t.Helper()
	cluster, w := newWorld(t, of)
	put(t, w, spaces)
	require.NoError(t, w.Relist(t.Context(), "", "shop", []byte(catalog)))
	for _, text := range texts {
		put(t, w, text)
	}
	require.Empty(t, w.Notes())
	return State{Objects: cluster.Objects(), Options: of}
}

func newWorld(t testing.TB, of *options.Options) (*offline.Cluster, *world.World) {
	t.Helper()
	cluster, err := offline.New(of)
	require.NoError(t, err)
	require.NoError(t, world.Index(t.Context(), cluster))
	w, err := world.New(cluster, of)
	require.NoError(t, err)
	return cluster, w
}

func put(t testing.TB, w *world.World, text string) {
	t.Helper()
	for _, object := range documents(t, text) {
		require.NoError(t, w.Apply(t.Context(), object), text)
	}
}

func waiting() *options.Options {
	of := options.New()
	of.Unresolved = options.UnresolvedWait
	return of
}

func applied(t testing.TB, text string) []Change {
	t.Helper()
	var changes []Change
	for _, object := range documents(t, text) {
		changes = append(changes, Change{Apply: object})
	}
	return changes
}

func simulate(t testing.TB, state State, changes ...Change) *Report {
	t.Helper()
	report, err := Run(t.Context(), state, changes)
	require.NoError(t, err)
	return report
}
