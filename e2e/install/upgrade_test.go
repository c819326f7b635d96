package install_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// vanishing is what requests may fail with when v0.1.0 ends: it cuts off what it is
// answering, and closes what is idle, of which a caller that is about to send hears in one of three ways.
var vanishing = []string{
	"context canceled", "EOF", "connection reset by peer", "connection refused", "broken pipe", "server closed idle connection",
}

// TestUpgradeFromThePreviousRelease takes over what an operator installed by hand, goes
// back and comes again, with requests going on all the time.
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
	c.ready("keeper", 2)
	c.ready("controller", 2)
	l.endKnowing("the end of v0.1.0", vanishing...)
	for _, pod := range c.allPods() {
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
	h.goesBackAndForth(old, broker, instance)
	assert.Empty(t, broker.Violations())
	c.wasNeverForbidden()
}

// goesBackAndForth returns to v0.1.0 and comes again, with objects stored that v0.1.0
// does not know: none is lost, and nothing is made twice.
func (h *helm) goesBackAndForth(old release, broker *osbtest.Broker, instance *api.ServiceInstance) {
	h.Helper()
	n := h.storeNovelties(broker, instance)
	h.refuseOldDefinitions(old)
	l := h.underLoad(instance)
	h.goBack()
	l.end("the way back to v0.1.0")
	later := h.provision("of-old")
	binding := h.bind("of-old-reader", "of-old")
	beyond := n.areLeftAlone()

	l = h.underLoad(instance)
	h.comeAgain()
	l.endKnowing("the second installation and end of v0.1.0", vanishing...)
	n.goOn(beyond)
	h.remove(binding, later)
	for _, made := range broker.Instances() {
		assert.Equal(h, 1, made.Creates, "instance %s", made.ID)
	}
	assert.Empty(h, broker.Orphans())
}
