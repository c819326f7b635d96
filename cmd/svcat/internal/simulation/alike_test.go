package simulation

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/simulation/world"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// Namespaces that are alike get the same answer in their own names, also where a name is
// part of other words.
func TestAlike(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{"a", "b", "c"}, {"x", "x-2", "x-3"}} {
		var more []string
		for _, name := range names {
			more = append(more, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s}}`, name))
		}
		state := offered(t, options.New(), listing(listed("small", suggested)), more...)
		changes := applied(t, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{className: mysql}]}}`)
		quick, err := run(t.Context(), state, changes, false)
		require.NoError(t, err)
		every, err := run(t.Context(), state, changes, true)
		require.NoError(t, err)
		assert.Equal(t, every, quick)
		require.Len(t, quick.Types, 5)
		for _, one := range quick.Types {
			assert.Contains(t, one.Then.Refusal, fmt.Sprintf("namespace %q", one.Namespace))
		}
	}
}

// What a catalog does not list any more goes where nothing uses it. An instance whose plan
// was gone before gets what the type resolves to at its next edit.
func TestGoneBefore(t *testing.T) {
	t.Parallel()
	small, large, huge := listed("small", suggested), listed("large"), listed("huge")
	cluster, w := newWorld(t, options.New())
	put(t, w, spaces)
	require.NoError(t, w.Relist(t.Context(), "", "shop", []byte(listing(small, large, huge))))
	put(t, w, instanceA)
	require.NoError(t, w.Relist(t.Context(), "", "shop", []byte(listing(large))))
	var left []string
	for plan := range cluster.Each(v1beta1.GroupVersion.WithKind("ClusterServicePlan")) {
		left = append(left, client.ObjectKeyFromObject(plan).Name)
	}
	assert.Equal(t, []string{"large", "small"}, left, "an instance has small")

	report := simulate(t, State{Objects: cluster.Objects()}, Change{Default: &Default{Class: "mysql", Plan: "large"}})
	assert.Equal(t, []Effect{{Namespace: "dev", Name: "a", What: Redecided, Now: "mysql/small", Then: "mysql/large", Message: "at its next edit"}}, report.Instances)
}

// A copy in a namespace, which may be of another type, costs what its original does: policies
// about costs refuse it then, too.
func TestCopies(t *testing.T) {
	t.Parallel()
	small := listed("small", suggested, monthly("10"))
	state := offered(t, options.New(), listing(small, listed("large", monthly("25"))),
		`{kind: ServiceClass, metadata: {name: c, namespace: dev}, spec: {externalName: c, externalID: c, description: d, bindable: true, serviceType: copied, clusterServiceBrokerName: shop}}`,
		`{kind: ServicePlan, metadata: {name: copy, namespace: dev, annotations: {servicecatalog.kubernetes.io/is-default-plan: "true"}}, spec: {externalName: copy, externalID: large, description: d, serviceClassRef: {name: c}, clusterServiceBrokerName: shop}}`,
		`{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{costs: {currency: usd, unit: MONTHLY, above: "50"}}]}}`,
		`{kind: ServiceInstance, metadata: {name: a, namespace: dev}, spec: {serviceType: copied}}`)
	dearer := []Change{catalogChange(listing(small, listed("large", monthly("75"))))}
	quick, err := run(t.Context(), state, dearer, false)
	require.NoError(t, err)
	every, err := run(t.Context(), state, dearer, true)
	require.NoError(t, err)
	assert.Equal(t, every, quick)
	require.Len(t, quick.Types, 1)
	assert.Equal(t, "copied", quick.Types[0].Type)
	assert.Contains(t, quick.Types[0].Then.Refusal, "it costs 75 usd / MONTHLY")
	assert.Equal(t, []string{"dev: [{usd MONTHLY 25}] 0 -> [{usd MONTHLY 75}] 0"}, told(quick).Costs)
}

// Namespaces in which a limit is used alike are asked once, and each gets its own answer.
func TestAlikeWithLimits(t *testing.T) {
	t.Parallel()
	var more []string
	for i := range 12 {
		more = append(more, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: n%02d}}`, i))
	}
	more = append(more, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Allow, maxInstances: 1, subjects: [{className: mysql}]}}`)
	for i := range 5 {
		more = append(more, fmt.Sprintf(`{kind: ServiceInstance, metadata: {name: a, namespace: n%02d}, spec: {serviceType: mysql}}`, i))
	}
	state := offered(t, options.New(), listing(listed("small", suggested), listed("large")), more...)
	change := []Change{{Default: &Default{Class: "mysql", Plan: "large"}}}
	quick, err := run(t.Context(), state, change, false)
	require.NoError(t, err)
	every, err := run(t.Context(), state, change, true)
	require.NoError(t, err)
	assert.Equal(t, every, quick)
	require.Len(t, quick.Types, 14)
	for i := range 5 {
		assert.Contains(t, quick.Types[1+i].Then.Refusal, fmt.Sprintf("lets namespace \"n%02d\" have 1 instance", i))
	}

	c := &comparison{now: newSide(clusterIn(t, state)), then: newSide(clusterIn(t, state))}
	c.now.read(planEntries{})
	c.then.read(planEntries{})
	assert.Len(t, c.alike(map[string]bool{"n00": true, "n01": true, "n04": true, "n05": true, "n06": true}), 2)
}

func clusterIn(t *testing.T, state State) *offline.Cluster {
	t.Helper()
	cluster, err := clusterOf(t.Context(), &state, state.Options)
	require.NoError(t, err)
	return cluster
}

// Types that a namespace has of its own are asked about there, and nowhere else: its users may make
// thousands, and a cluster may have as many namespaces.
func TestTypesOfOneNamespace(t *testing.T) {
	t.Parallel()
	const many = 12
	texts := []string{`{kind: ServiceClass, metadata: {name: c, namespace: dev}, spec: {externalName: c, externalID: c, description: d, bindable: true, clusterServiceBrokerName: shop}}`}
	for i := range many {
		texts = append(texts, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: n%d}}`, i),
			fmt.Sprintf(`{kind: ServicePlan, metadata: {name: p%[1]d, namespace: dev}, spec: {externalName: p%[1]d, externalID: p%[1]d, description: d, serviceType: t%[1]d, serviceClassRef: {name: c}, clusterServiceBrokerName: shop}}`, i))
	}
	state := offered(t, options.New(), listing(listed("small", suggested)), texts...)
	changes := applied(t, `{kind: ProvisioningPolicy, metadata: {name: p}, spec: {action: Deny, subjects: [{planName: small}, {className: c}]}}`)
	now, err := clusterOf(t.Context(), &state, options.New())
	require.NoError(t, err)
	then, err := world.New(now.Clone(), options.New())
	require.NoError(t, err)
	require.NoError(t, apply(t.Context(), then, &changes[0], &Report{}))
	c := &comparison{changes: then.Changes(), now: newSide(now), then: newSide(then.Cluster)}
	plans := planEntries{}
	c.now.read(plans)
	c.then.read(plans)
	asked := c.questions()
	assert.Len(t, asked["mysql"], many+2, "in each namespace")
	for i := range many {
		assert.Equal(t, map[string]bool{"dev": true}, asked[fmt.Sprintf("t%d", i)])
	}
	changes = append(changes, catalogChange(listing(listed("small", suggested, monthly("10")))))
	quick, err := run(t.Context(), state, changes, false)
	require.NoError(t, err)
	every, err := run(t.Context(), state, changes, true)
	require.NoError(t, err)
	assert.Equal(t, every, quick)
	assert.Len(t, quick.Types, 2*many+2)
}
