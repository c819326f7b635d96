package install_test

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// consumer is the namespace that binds to an instance of the team's.
const consumer = "billing"

// novelties are stored objects of which v0.1.0 knows nothing: a claim with its instance,
// a binding to an instance of another namespace, and limits.
type novelties struct {
	*cluster

	broker        *osbtest.Broker
	claim, shared *api.ServiceBinding
	own           *api.ServiceInstance
	limits        *api.ProvisioningPolicy
}

// storeNovelties makes them; the instance is shared with the consumer, which may have
// one binding and no instance.
func (c *cluster) storeNovelties(broker *osbtest.Broker, instance *api.ServiceInstance) *novelties {
	c.Helper()
	n := &novelties{cluster: c, broker: broker, claim: access("claimed", ""), shared: access("shared", instance.Name)}
	n.claim.Spec.InstanceRef, n.claim.Spec.ServiceType = nil, "mysql"
	n.shared.Namespace, n.shared.Spec.InstanceRef.Namespace = consumer, instance.Namespace
	n.limits = &api.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: "one-binding"}}
	n.limits.Spec = api.ProvisioningPolicySpec{
		PolicyRule:   api.PolicyRule{Action: api.PolicyLimit, Namespaces: &api.PolicyNamespaces{Names: []string{consumer}}},
		MaxInstances: new(int32(0)), MaxBindings: new(int32(1)),
		Subjects: []api.PolicySubject{{PlanSubject: api.PlanSubject{ServiceType: "mysql"}}},
	}
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: consumer}}, n.limits)
	share := []byte(`{"spec":{"sharing":{"namespaces":["` + consumer + `"]}}}`)
	require.NoError(c, c.client.Patch(c.Context(), instance, client.RawPatch(types.MergePatchType, share)))
	c.create(n.claim, n.shared)
	c.isTrue(n.claim, api.ConditionReady)
	c.isTrue(n.shared, api.ConditionReady)
	n.own = &api.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: n.claim.Status.InstanceRef.Name}}
	c.get(n.own)
	return n
}

// refuseOldDefinitions tries what would drop fields of all that: each definition of
// v0.1.0, by both ways of kubectl.
func (c *cluster) refuseOldDefinitions(r release) {
	c.Helper()
	for _, way := range [][]string{{"apply"}, {"apply", "--server-side", "--force-conflicts"}} {
		_, stderr, err := c.Kubectl(c.Context(), "", append(way, "-f", filepath.Join(r.source, "deploy", "crds"))...)
		require.Error(c, err)
		for _, kind := range []string{"servicebindings", "serviceinstances", "provisioningpolicies"} {
			assert.Regexp(c, kind+`\S* .*knows fewer fields than the one that is stored`, stderr)
		}
	}
}

// goBack replaces the pods by those of v0.1.0, and gives those the rights of their keeper, which is in the webhook's pods.
func (c *cluster) goBack() {
	c.Helper()
	c.kubectl("create", "clusterrolebinding", "v0.1.0-keeper", "--clusterrole=defaultplan-keeper", "--serviceaccount="+system+":defaultplan-webhook")
	c.kubectl("create", "rolebinding", "-n", system, "v0.1.0-keeper", "--role=defaultplan-keeper", "--serviceaccount="+system+":defaultplan-webhook")
	c.kubectl("apply", "-f", filepath.Join("testdata", "previous.yaml"))
	c.ready("webhook", 4)
	c.ready("controller", 3)
	c.kubectl("-n", system, "scale", "deployment", "defaultplan-webhook", "defaultplan-keeper", "defaultplan-controller", "--replicas=0")
	c.ready("webhook", 2)
	c.ready("controller", 1)
	c.settled()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "defaultplan-keeper"}}
	c.get(lease)
	before := lease.DeepCopy()
	c.eventually(func() error {
		c.get(lease)
		if holder := cmp.Or(lease.Spec.HolderIdentity, new("")); *holder == "" || lease.ResourceVersion == before.ResourceVersion {
			return fmt.Errorf("no keeper of v0.1.0 leads: the Lease is held by %q", *holder)
		}
		return nil
	})
}

// comeAgain replaces the pods by those of this release.
func (h *helm) comeAgain() {
	h.Helper()
	h.on("upgrade", "--force-conflicts")
	h.ready("webhook", 4)
	h.ready("controller", 3)
	h.kubectl("-n", system, "delete", "deployment", "catalog-webhook", "catalog-controller")
	h.kubectl("-n", system, "delete", "clusterrolebinding/v0.1.0-keeper", "rolebinding/v0.1.0-keeper")
	h.ready("webhook", 2)
	h.ready("keeper", 2)
	h.ready("controller", 2)
}

// areLeftAlone says what v0.1.0 makes of them: nothing. It admits no further ones, and
// enforces no limits; what is returned is an instance that it made beyond them.
func (n *novelties) areLeftAlone() *api.ServiceInstance {
	n.Helper()
	claim, shared := n.claim.DeepCopy(), n.shared.DeepCopy()
	n.get(claim)
	n.get(shared)
	assert.Equal(n, n.claim.Spec, claim.Spec)
	assert.Equal(n, n.claim.Status, claim.Status, "not even the fields that it does not know")
	assert.Equal(n, n.shared.Spec, shared.Spec)
	assert.Equal(n, n.shared.Status, shared.Status)

	another := access("another", "")
	another.Spec.InstanceRef, another.Spec.ServiceType = nil, "mysql"
	require.ErrorContains(n, n.client.Create(n.Context(), another), "not served yet")
	another = access("another", n.shared.Spec.InstanceRef.Name)
	another.Namespace, another.Spec.InstanceRef.Namespace = consumer, team
	require.ErrorContains(n, n.client.Create(n.Context(), another), "other namespaces cannot be bound to yet")

	beyond := database("beyond")
	beyond.Namespace = consumer
	n.create(beyond)
	n.isTrue(beyond, api.ConditionReady)
	return beyond
}

// goOn says that they are as if nothing had been in between: what was made beyond limits
// stays, nothing more is, and what is deleted leaves nothing.
func (n *novelties) goOn(beyond *api.ServiceInstance) {
	n.Helper()
	n.isTrue(n.claim, api.ConditionReady)
	n.isTrue(n.shared, api.ConditionReady)
	n.isTrue(beyond, api.ConditionReady)
	more := database("more")
	more.Namespace = consumer
	require.ErrorContains(n, n.client.Create(n.Context(), more), `"one-binding" lets namespace "billing" have 0 instances`)
	n.get(n.limits)
	require.Len(n, n.limits.Status.Slots, 1)
	assert.Equal(n, []types.UID{n.shared.UID}, n.limits.Status.Slots[0].Bindings)

	n.remove(n.claim, n.shared, beyond)
	n.gone(n.own)
	assert.NotContains(n, n.broker.Instances(), n.own.Spec.ExternalID)
	assert.NotContains(n, n.broker.Bindings(), n.claim.Spec.ExternalID)
	assert.NotContains(n, n.broker.Bindings(), n.shared.Spec.ExternalID)
}
