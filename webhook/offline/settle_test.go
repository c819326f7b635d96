package offline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/webhook/options"
)

// A binding that came before its instance is decided when the instance is there, and
// one that came before its instance's plan when that is.
func TestSettle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "{kind: ClusterServiceType, metadata: {name: other}}", func(o *options.Options) { o.Unresolved = options.UnresolvedWait })
	waits := w.apply(`{kind: ServiceBinding, metadata: {name: a}, spec: {instanceRef: {name: a}}}`)
	require.Nil(t, waits.Denied)
	assert.Equal(t, []string{`no plan is decided yet: instance "a" does not exist yet; the binding waits`}, waits.Warnings)
	w.admitted(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`)

	decided, waiting, err := w.Settle(t.Context())
	require.NoError(t, err)
	assert.Empty(t, decided, "there is no catalog")
	require.Len(t, waiting, 2)
	assert.Contains(t, waiting[0].Warnings[0], "no plan is of that type")
	assert.Contains(t, waiting[1].Warnings[0], "has no plan yet")

	w.load(shop)
	settled, _, err := w.Settle(t.Context())
	require.NoError(t, err)
	require.Len(t, settled, 2)
	assert.Equal(t, []string{"ServiceInstance", "ServiceBinding"}, []string{settled[0].Object.GetKind(), settled[1].Object.GetKind()})
	assert.Equal(t, "small", field(t, settled[1].Object, "spec", "clusterServicePlanRef", "name"))
	assert.Equal(t, "mysql resolved to plan mysql/small (default)", settled[0].Warnings[0])
	user := field(t, settled[0].Object, "spec", "userInfo", "username")
	assert.Equal(t, "kubernetes-admin", user, "who asked stays who asked")

	settled, _, err = w.Settle(t.Context())
	require.NoError(t, err)
	assert.Empty(t, settled, "decided is decided")
}

// What a touch may not decide stays as it is.
func TestSettleRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shop+`---
{kind: ServiceBinding, metadata: {name: ends, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [a/b], resourceVersion: "1"}, spec: {instanceRef: {name: a}}}
---
{kind: BindingPolicy, metadata: {name: none}, spec: {action: Deny, message: not here, subjects: [{instanceSelector: {}}]}}
`)
	w.admitted(`{kind: ServiceBinding, metadata: {name: a}, spec: {instanceRef: {name: a}}}`)
	w.admitted(`{kind: ServiceInstance, metadata: {name: a}, spec: {serviceType: mysql}}`)
	decided, waiting, err := w.Settle(t.Context())
	require.NoError(t, err)
	assert.Empty(t, decided)
	require.Len(t, waiting, 1, "what is being deleted waits for nothing")
	assert.Nil(t, field(t, waiting[0].Object, "spec", "clusterServicePlanRef"))
	assert.Contains(t, waiting[0].Warnings[0], "not here")
}

// A claim needs no instance: it is decided when there is a catalog, with the defaults for its own.
func TestClaimOffline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "{kind: ClusterServiceType, metadata: {name: other}}", func(o *options.Options) { o.Unresolved = options.UnresolvedWait })
	waits := w.apply(`{kind: ServiceBinding, metadata: {name: a}, spec: {serviceType: mysql, provisionParameters: {zone: a}}}`)
	require.Nil(t, waits.Denied)
	assert.Contains(t, waits.Warnings[0], "the binding waits")
	w.load(shop)
	settled, waiting, err := w.Settle(t.Context())
	require.NoError(t, err)
	assert.Empty(t, waiting)
	require.Len(t, settled, 1)
	assert.Equal(t, "small", field(t, settled[0].Object, "spec", "clusterServicePlanRef", "name"))
	assert.Equal(t, map[string]any{"zone": "a", "size": int64(1)}, field(t, settled[0].Object, "spec", "provisionParameters"))
	again := w.apply(`{kind: ServiceBinding, metadata: {name: a}, spec: {serviceType: mysql, provisionParameters: {zone: a}}}`)
	require.Nil(t, again.Denied)
	assert.Equal(t, settled[0].Object.Object["spec"], again.Object.Object["spec"], "applied again it is the same")
}
