package keeper_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// limitMySQL is a policy that lets each namespace have so many instances of type mysql,
// and one binding to them.
func limitMySQL(name string, n int32) *v1beta1.ProvisioningPolicy {
	p := policyFor(v1beta1.PlanSubject{ServiceType: "mysql"})
	p.Name, p.Spec.Action, p.Spec.MaxInstances, p.Spec.MaxBindings = name, v1beta1.PolicyLimit, &n, new(int32(1))
	return p
}

// aged is an instance of plan p1 that is so many seconds younger than the first.
func aged(name string, seconds int) *v1beta1.ServiceInstance {
	i := whole(name)
	i.CreationTimestamp = metav1.NewTime(bubbleStart.Add(time.Duration(seconds) * time.Second))
	return i
}

// provisioned is that instance as its broker has it.
func provisioned(i *v1beta1.ServiceInstance) *v1beta1.ServiceInstance {
	i.Status.ProvisionStatus = v1beta1.Provisioned
	i.Status.ExternalProperties = &v1beta1.ServiceInstancePropertiesState{
		ClusterServicePlanExternalID: "p1-id", BrokerTarget: v1beta1.BrokerTarget{ClassExternalID: "c1-id", PlanExternalID: "p1-id"},
	}
	return i
}

// slotsOf are the slots of a policy in namespace a.
func (h *house) slotsOf(ctx context.Context, policy string) (instances, bindings []types.UID) {
	h.t.Helper()
	status := h.statusOf(ctx, &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: policy}})
	for _, slots := range status.Slots {
		if slots.Namespace == "a" {
			return slots.Instances, slots.Bindings
		}
	}
	return nil, nil
}

func TestSlotsGoToTheOldest(t *testing.T) {
	t.Parallel()
	objects := []client.Object{
		namespace("a"), clusterClass("mysql"), clusterPlan(""), limitMySQL("few", 2),
		aged("c", 3), aged("a", 1), aged("b", 2), provisioned(aged("there", 9)),
	}
	inHouse(t, objects, func(ctx context.Context, h *house) {
		h.settled(ctx)
		instances, _ := h.slotsOf(ctx, "few")
		assert.Equal(t, []types.UID{"a/a", "a/there"}, instances, "what is there, then the oldest")

		require.NoError(t, h.Delete(ctx, provisioned(aged("there", 9))))
		h.pass(time.Second)
		instances, _ = h.slotsOf(ctx, "few")
		assert.Equal(t, []types.UID{"a/a", "a/b"}, instances, "the slot of what is gone")
		h.forget()
		h.pass(time.Hour)
		assert.Empty(t, h.written("ProvisioningPolicy", "few"), "nothing is written that is so already")
	})
}

func TestSlotsFollowThePolicy(t *testing.T) {
	t.Parallel()
	objects := []client.Object{namespace("a"), clusterClass("mysql"), clusterPlan(""), limitMySQL("few", 2), aged("a", 1), aged("b", 2), aged("c", 3)}
	inHouse(t, objects, func(ctx context.Context, h *house) {
		h.settled(ctx)
		for _, step := range []struct {
			reason string
			change func(*v1beta1.ProvisioningPolicy)
			want   []types.UID
		}{
			{"raised", func(p *v1beta1.ProvisioningPolicy) { p.Spec.MaxInstances = new(int32(3)) }, []types.UID{"a/a", "a/b", "a/c"}},
			{"lowered: nothing was provisioned yet", func(p *v1beta1.ProvisioningPolicy) { p.Spec.MaxInstances = new(int32(1)) }, []types.UID{"a/a"}},
			{"it holds elsewhere", func(p *v1beta1.ProvisioningPolicy) {
				p.Spec.Namespaces = &v1beta1.PolicyNamespaces{Names: []string{"b"}}
			}, nil},
			{"it holds here again", func(p *v1beta1.ProvisioningPolicy) { p.Spec.Namespaces = nil }, []types.UID{"a/a"}},
			{"another client wrote them", func(p *v1beta1.ProvisioningPolicy) {
				p.Status.Slots = []v1beta1.PolicySlots{{Namespace: "a", Instances: []types.UID{"x"}}, {Namespace: "gone", Instances: []types.UID{"y"}}}
			}, []types.UID{"a/a"}},
		} {
			p := &v1beta1.ProvisioningPolicy{ObjectMeta: metav1.ObjectMeta{Name: "few"}}
			require.NoError(t, h.Get(ctx, client.ObjectKeyFromObject(p), p))
			step.change(p)
			stored := p.DeepCopy()
			require.NoError(t, h.Update(ctx, p))
			stored.ResourceVersion = p.ResourceVersion
			require.NoError(t, h.WithWatch.Status().Update(ctx, stored))
			h.pass(5 * time.Second)
			instances, _ := h.slotsOf(ctx, "few")
			assert.Equal(t, step.want, instances, step.reason)
		}
		require.NoError(t, h.Get(ctx, client.ObjectKey{Name: "few"}, &v1beta1.ProvisioningPolicy{}))
		assert.Len(t, h.statusOf(ctx, limitMySQL("few", 0)).Slots, 1, "of what is gone, nothing is kept")
	})
}

// What costs more than a limit has slots, and a copy is as dear as its original.
func TestSlotsByCosts(t *testing.T) {
	t.Parallel()
	few := policyFor(over100())
	few.Name, few.Spec.Action, few.Spec.MaxInstances = "few", v1beta1.PolicyLimit, new(int32(1))
	local := aged("copied", 2)
	local.Spec.ClusterServicePlanRef, local.Spec.ServicePlanRef = nil, &v1beta1.LocalObjectReference{Name: "p1"}
	small := aged("cheap", 1)
	small.Spec.ClusterServicePlanRef.Name = "p2"
	objects := []client.Object{
		namespace("a"), clusterClass("mysql"), costing(ofBroker(clusterPlan(""), "aws"), "250"),
		with(costing(ofBroker(clusterPlan(""), "aws"), "99"), func(p *v1beta1.ClusterServicePlan) { p.Name, p.Spec.ExternalID = "p2", "p2-id" }),
		with(class("a", ""), func(c *v1beta1.ServiceClass) { c.Spec.ClusterServiceBrokerName = "aws" }), costing(ofBroker(plan("a", ""), "aws"), "1"),
		few, small, local, aged("dear", 3),
	}
	inHouse(t, objects, func(ctx context.Context, h *house) {
		h.settled(ctx)
		instances, _ := h.slotsOf(ctx, "few")
		assert.Equal(t, []types.UID{"a/copied"}, instances, "the oldest of those that are dear")
	})
}

func TestSlotsForBindings(t *testing.T) {
	t.Parallel()
	to := func(name, instance string) *v1beta1.ServiceBinding {
		b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID("b/" + name)}}
		b.Spec.InstanceRef = &v1beta1.InstanceReference{Name: instance}
		return b
	}
	objects := []client.Object{
		namespace("a"), clusterClass("mysql"), clusterPlan(""), limitMySQL("few", 5), provisioned(aged("db", 1)), to("b1", "db"), to("b2", "db"), to("b0", "none"),
	}
	inHouse(t, objects, func(ctx context.Context, h *house) {
		h.settled(ctx)
		instances, bindings := h.slotsOf(ctx, "few")
		assert.Equal(t, []types.UID{"a/db"}, instances)
		assert.Equal(t, []types.UID{"b/b1"}, bindings)
	})
}

// However many slots there are, those that change at once are one write.
func TestSlotsOfMany(t *testing.T) {
	t.Parallel()
	objects := []client.Object{namespace("a"), clusterClass("mysql"), clusterPlan(""), limitMySQL("few", 1000)}
	for i := range 1000 {
		objects = append(objects, aged(fmt.Sprintf("db-%04d", i), i))
	}
	inHouse(t, objects, func(ctx context.Context, h *house) {
		h.settled(ctx)
		instances, _ := h.slotsOf(ctx, "few")
		assert.Len(t, instances, 1000, "all in one write, if they ask at once")
		h.forget()
		require.NoError(t, h.Delete(ctx, aged("db-0500", 0)))
		h.pass(time.Second)
		instances, _ = h.slotsOf(ctx, "few")
		assert.Len(t, instances, 999)
		assert.Len(t, h.written("ProvisioningPolicy", "few"), 1)
	})
}
