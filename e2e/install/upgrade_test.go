package install_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestUpgradeFromThePreviousRelease takes over what an operator installed by hand,
// with requests going on all the time.
func TestUpgradeFromThePreviousRelease(t *testing.T) {
	t.Parallel()
	old := previousRelease(t)
	c := newClusterWith(t, old.bin)
	c.installPrevious(old)

	broker := c.offer()
	c.choose("427559f1-bf2a-45d3-8844-32374a3e58aa") // basic50, which the broker does not suggest
	instance := c.provision("orders")
	binding := c.bind("orders-reader", "orders")
	wanted := instance.Spec.DeepCopy()

	h := &helm{cluster: c, binary: "helm"}
	l := c.underLoad(instance)
	h.on("upgrade", "--install", "--take-ownership", "--force-conflicts")
	c.ready("webhook", 4)
	c.ready("controller", 3)
	l.end("the installation beside v0.1.0")

	l = c.underLoad(instance)
	c.kubectl("-n", system, "delete", "deployment", "catalog-webhook", "catalog-controller")
	c.ready("webhook", 2)
	c.ready("controller", 2)
	// v0.1.0 cuts off what it is answering when it ends, and closes what is idle.
	l.endKnowing("the end of v0.1.0", "context canceled", "EOF", "connection reset by peer", "connection refused")
	for _, pod := range append(c.pods("webhook"), c.pods("controller")...) {
		assert.Contains(t, pod.Spec.Containers[0].Image, ":v0.2.0")
	}

	c.get(instance)
	assert.Equal(t, wanted, &instance.Spec, "what was decided stays")
	c.isTrue(binding, api.ConditionReady)
	assert.Equal(t, wanted.ClusterServicePlanRef, c.provision("later").Spec.ClusterServicePlanRef, "the default is still what the operator chose")
	require.NoError(t, c.client.Patch(t.Context(), instance, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"updateRequests":1}}`))))
	c.isTrue(instance, api.ConditionReady)

	l = c.underLoad(instance)
	h.on("upgrade", "--set=webhook.logLevel=debug")
	h.on("rollback", "1")
	l.end("a later upgrade and its rollback")
	assert.Empty(t, broker.Violations())
	c.wasNeverForbidden()
}
