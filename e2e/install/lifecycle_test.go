package install_test

import (
	"encoding/pem"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// hurried is a rotation without the pauses that a cluster of many API servers needs.
const hurried = "--set=webhook.extraArgs={--certs-settle=2s},keeper.extraArgs={--certs-settle=2s,--certs-overlap=6s}"

// TestLifecycle is the life of an installation, as its log shows it.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	h := &helm{cluster: c, binary: "helm"}
	before := c.inventory()

	h.on("install", "--create-namespace", hurried)
	t.Logf("installed: %d objects more than the cluster had", len(c.inventory().without(before)))

	broker := c.offer()
	orders, returns := c.provision("orders"), c.provision("returns")
	t.Logf("provisioned: a request for mysql got plan %s of class %s", orders.Spec.ClusterServicePlanRef.Name, orders.Spec.ClusterServiceClassRef.Name)
	reader := c.bind("orders-reader", "orders")
	t.Logf("bound: the credentials are in Secret %s", reader.Spec.SecretName)

	l := c.underLoad(orders)
	h.on("upgrade", hurried, "--set=webhook.logLevel=debug", "--set=controller.logLevel=debug")
	l.end("upgraded")

	l = c.underLoad(orders)
	c.rotates()
	l.end("rotated the authority of the hooks")

	// Not later: an API server that was just started refuses all, until it has read the
	// roles.
	c.wasNeverForbidden()
	later := c.forgets(returns)
	c.remembers(broker, orders, returns, later)

	c.remove(reader, orders, returns, later)
	assert.Len(t, broker.Instances(), 1, "what was adopted is not removed unless a user says so")
	c.withdraw()
	h.on("uninstall")
	left := c.inventory().without(before)
	t.Logf("uninstalled: left are %v", left)
	c.cleanUp()
	assert.Empty(t, c.inventory().without(before))
	t.Log("removed the definitions and the namespaces: nothing is left")
}

// rotates has the keeper make a new authority, as docs/certificates.md says, and waits
// until both configurations trust the new one alone.
func (c *cluster) rotates() {
	c.Helper()
	old := c.trusted()
	require.Len(c, old, 1)
	// Not by looking again and again: a busy machine looks too late to see both.
	states, err := c.client.Watch(c.Context(), &admissionregistrationv1.MutatingWebhookConfigurationList{}, client.MatchingFields{"metadata.name": "defaultplan-webhook"})
	require.NoError(c, err)
	defer states.Stop()
	c.kubectl("-n", system, "patch", "secret", "defaultplan-keeper-ca", "--type=json", `--patch=[{"op":"remove","path":"/data"}]`)
	c.eventually(func() error {
		if now := c.trusted(); len(now) != 1 || now[0] == old[0] {
			return fmt.Errorf("%d authorities are trusted", len(now))
		}
		return nil
	})
	both := false
	for event := range states.ResultChan() {
		mutating, is := event.Object.(*admissionregistrationv1.MutatingWebhookConfiguration)
		require.True(c, is, "%v", event.Object)
		now := authorities(mutating.Webhooks[0].ClientConfig.CABundle)
		if !slices.Contains(now, old[0]) {
			break
		}
		both = both || len(now) == 2
	}
	assert.True(c, both, "old and new were trusted together")
}

// trusted are the authorities that the API server trusts for the hooks, each as PEM;
// both configurations have the same, or it is asked again.
func (c *cluster) trusted() []string {
	c.Helper()
	name := client.ObjectKey{Name: "defaultplan-webhook"}
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	require.NoError(c, c.client.Get(c.Context(), name, mutating))
	require.NoError(c, c.client.Get(c.Context(), name, validating))
	all := append(authorities(mutating.Webhooks[0].ClientConfig.CABundle), authorities(validating.Webhooks[0].ClientConfig.CABundle)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// authorities are the certificates of a bundle, each as PEM.
func authorities(bundle []byte) []string {
	var all []string
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		all = append(all, string(pem.EncodeToMemory(block)))
	}
	return all
}

// forgets takes a snapshot of etcd, has things happen after it, and restores it. What
// is returned is an instance that the cluster has forgotten; the one that is given was
// removed, and the cluster does not know.
func (c *cluster) forgets(removed *api.ServiceInstance) *api.ServiceInstance {
	c.Helper()
	file := filepath.Join(c.dir, "snapshot")
	require.NoError(c, c.Snapshot(c.Context(), file))
	later := c.provision("invoices")
	c.remove(removed)
	require.NoError(c, c.Restore(c.Context(), file))
	c.Log("restored a snapshot: since it was taken, invoices was made and returns was removed")
	return later
}

// remembers is what a restored cluster does about what the broker knows better.
func (c *cluster) remembers(broker *osbtest.Broker, kept, removed, forgotten *api.ServiceInstance) {
	c.Helper()
	c.ready("webhook", 2)
	c.ready("keeper", 2)
	c.ready("controller", 2)
	probe := c.provision("probe") // a controller that provisions has read all that is stored
	c.remove(probe)
	c.get(kept)
	assert.Contains(c, broker.Instances(), kept.Spec.ExternalID)
	assert.Contains(c, broker.Instances(), forgotten.Spec.ExternalID, "what the cluster has forgotten is not removed")
	assert.Empty(c, broker.Calls(osbtest.Of(osbtest.Deprovision), osbtest.About(forgotten.Spec.ExternalID)))

	c.get(removed)
	assert.NotContains(c, broker.Instances(), removed.Spec.ExternalID, "what is gone is not made again behind anybody's back")
	reader := access("returns-reader", removed.Name)
	c.create(reader)
	c.eventually(func() error {
		c.get(reader)
		ready, _ := api.FindCondition(reader.Status.Conditions, api.ConditionReady)
		if ready.Status != api.ConditionFalse {
			return fmt.Errorf("the binding says %+v", ready)
		}
		c.Logf("returns is in the cluster and not at the broker; who binds to it is told: %s", ready.Message)
		return nil
	})
	c.remove(reader)

	again := database(forgotten.Name)
	again.Spec.ExternalID = forgotten.Spec.ExternalID
	c.create(again)
	c.isTrue(again, api.ConditionReady)
	assert.Equal(c, 1, broker.Instances()[forgotten.Spec.ExternalID].Creates)
	c.Log("invoices is at the broker and was not in the cluster; its owner created it again with its external ID, and it was adopted")
}
