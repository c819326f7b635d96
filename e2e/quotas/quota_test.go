package quotas_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestWhoeverWaitsGetsTheNextSlot: in order, also after the controller died; what is
// deleted makes room, and so does a limit that is raised.
func TestWhoeverWaitsGetsTheNextSlot(t *testing.T) {
	w := newWorld(t)
	limit := w.limit("few", instances(2), "small", "large")
	again := w.unkept()
	dbs := w.dbs("small", "a", "b", "c", "d")
	for _, db := range dbs {
		w.Create(db) // nobody granted a slot yet, so that nothing is over
		message := w.waits(db)
		assert.Contains(t, message, limit.Name)
		assert.Contains(t, message, "2 instances")
		assert.Contains(t, message, "ask Ann for more")
	}
	require.NoError(t, controller.Stop(t.Context(), syscall.SIGKILL))
	require.NoError(t, controller.Start(t.Context()))
	again()
	w.ready(dbs[0], dbs[1])
	w.waits(dbs[2], dbs[3])
	assert.Equal(t, 2, w.there("small"))
	w.eventually(func() (bool, error) { return w.toldToWait(dbs[2]) })

	w.delete(dbs[0])
	w.ready(dbs[2])
	w.waits(dbs[3])
	assert.Equal(t, 2, w.there("small"), "the slot of what is gone")
	w.Change(limit, func() { limit.Spec.MaxInstances = new(int32(3)) })
	w.ready(dbs[3])
	assert.Equal(t, 3, w.there("small"))
}

// toldToWait says whether there is an event of it.
func (w *world) toldToWait(o client.Object) (bool, error) {
	var list corev1.EventList
	err := w.client.List(w.Context(), &list, client.InNamespace(w.namespace))
	for i := range list.Items {
		if e := &list.Items[i]; e.Reason == "WaitingForSlot" && e.InvolvedObject.Name == o.GetName() {
			return true, err
		}
	}
	return false, err
}

// TestWhatIsPlainlyOverIsRefused: in the policy's name and words, with what to do; a limit
// that is lowered takes nothing away, and nothing that is there is held up.
func TestWhatIsPlainlyOverIsRefused(t *testing.T) {
	w := newWorld(t)
	limit := w.limit("few", instances(2), "small")
	dbs := w.dbs("small", "a", "b")
	w.Create(dbs[0], dbs[1])
	w.ready(dbs[0], dbs[1])
	var err error
	w.eventually(func() (bool, error) { // the webhook's cache hears of the slots
		err = w.client.Create(t.Context(), w.db("c", "small"), client.DryRunAll)
		return apierrors.IsForbidden(err), err
	})
	for _, part := range []string{limit.Name, "2 instances", "and 2 have a slot", "ask Ann for more", "svcat get instances", "kubectl get provisioningpolicy " + limit.Name} {
		assert.Contains(t, err.Error(), part)
	}
	require.NoError(t, w.client.Create(t.Context(), w.db("c", "large"), client.DryRunAll), "it is of another plan")
	large := w.db("l", "large")
	w.Create(large)
	w.ready(large)
	large.Spec.ClusterServicePlanExternalName = "small"
	err = w.client.Update(t.Context(), large, client.DryRunAll)
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	w.Change(limit, func() { limit.Spec.MaxInstances = new(int32(1)) })
	w.Change(dbs[0], func() { dbs[0].Spec.Parameters = parameters(`{"size":2}`) })
	w.ready(dbs[0])
	assert.Equal(t, 2, w.there("small"), "what is there stays")
	w.delete(dbs[0])
	w.gone(dbs[0])
	w.granted(limit, 1)
	w.delete(dbs[1])
	w.gone(dbs[1])
	w.granted(limit, 0)
	w.eventually(func() (bool, error) { err := w.client.Create(t.Context(), w.db("c", "small")); return err == nil, err })
	w.ready(w.db("c", "small"))
}

func parameters(text string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: json.RawMessage(text)}
}

// TestAPolicyThatComesLate counts what is there, and one that goes holds up nobody.
func TestAPolicyThatComesLate(t *testing.T) {
	w := newWorld(t)
	dbs := w.dbs("small", "a", "b", "c")
	for _, db := range dbs {
		w.Create(db)
	}
	w.ready(dbs[0], dbs[1], dbs[2])
	limit := w.limit("late", instances(1), "small")
	w.granted(limit, 3)
	again := w.unkept()
	other := w.limit("other", instances(1), "large")
	large := w.dbs("large", "x", "y")
	w.Create(large[0], large[1])
	w.waits(large[0], large[1])
	again()
	w.ready(large[0])
	w.waits(large[1])
	w.delete(other)
	w.ready(large[1])
	assert.Equal(t, 2, w.there("large"))
	assert.Equal(t, 3, w.there("small"))
}

// TestAPlanChangeNeedsTheNewSlotFirst, and keeps the old one until it is done.
func TestAPlanChangeNeedsTheNewSlotFirst(t *testing.T) {
	w := newWorld(t)
	small, large := w.limit("small", instances(1), "small"), w.limit("large", instances(2), "large")
	taken, db := w.db("taken", "large"), w.db("db", "small")
	w.Create(taken, db)
	w.ready(taken, db)
	again := w.unkept()
	w.Change(db, func() { db.Spec.ClusterServicePlanExternalName = "large" })
	w.waits(db)
	got, _ := w.slots(small)
	assert.Equal(t, 1, got, "it has its plan still")
	assert.Equal(t, 1, w.there("small"))
	b := w.binding("creds", "db")
	w.Create(b)
	w.ready(b)
	again()
	w.ready(db)
	assert.Equal(t, 2, w.there("large"))
	w.granted(small, 0)
	w.granted(large, 2)
}

// TestBindingsAreLimited, by those to instances of a plan, each namespace by itself.
func TestBindingsAreLimited(t *testing.T) {
	w := newWorld(t)
	limit := w.limit("bindings", bindings(1), "small")
	free, db := w.db("free", "large"), w.db("db", "small")
	w.Create(free, db)
	w.ready(free, db)
	again := w.unkept()
	one, two, other := w.binding("one", "db"), w.binding("two", "db"), w.binding("other", "free")
	w.Create(one, two, other)
	w.ready(other)
	assert.Contains(t, w.waits(one, two), "1 binding ")
	again()
	w.ready(one)
	w.waits(two)
	var err error
	w.eventually(func() (bool, error) {
		err = w.client.Create(t.Context(), w.binding("three", "db"), client.DryRunAll)
		return apierrors.IsForbidden(err), err
	})
	assert.Contains(t, err.Error(), "bindings")
	assert.Len(t, w.broker.Bindings(), 2)
	w.delete(one)
	w.ready(two)
	_, granted := w.slots(limit)
	assert.Equal(t, 1, granted)
}

// TestAllOrNone: who needs slots of two policies has both or none, and who needs one of
// them is not kept from it.
func TestAllOrNone(t *testing.T) {
	w := newWorld(t)
	both, large := w.limit("both", instances(2), "small", "large"), w.limit("large", instances(1), "large")
	again := w.unkept()
	dbs := []*api.ServiceInstance{w.db("a", "large"), w.db("b", "large"), w.db("c", "small")}
	w.Create(dbs[0], dbs[1], dbs[2])
	w.waits(dbs[0], dbs[1], dbs[2])
	again()
	w.ready(dbs[0], dbs[2])
	assert.Contains(t, w.waits(dbs[1]), "ProvisioningPolicy")
	w.granted(both, 2)
	w.granted(large, 1)
	w.delete(dbs[0])
	w.ready(dbs[1])
	assert.Equal(t, 1, w.there("large"))
	assert.Equal(t, 2, w.there("small", "large"))
}

// TestSlotsAreTheKeepers: what somebody else writes there is put right, and the report on
// what a policy selects takes none away.
func TestSlotsAreTheKeepers(t *testing.T) {
	w := newWorld(t)
	limit := w.limit("few", instances(1), "small")
	db := w.db("db", "small")
	w.Create(db)
	w.ready(db)
	for _, slots := range []string{`null`, `[{"namespace":"` + w.namespace + `","instances":["nobody","` + strings.Repeat("x", 36) + `"]}]`} {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"slots":`+slots+`}}`))
		require.NoError(t, w.client.Status().Patch(t.Context(), limit, patch))
		w.granted(limit, 1)
		require.Equal(t, db.UID, limit.Status.Slots[0].Instances[0])
	}
	w.Change(limit, func() { limit.Spec.Message = "ask Bob" })
	w.eventually(func() (bool, error) {
		got, _ := w.slots(limit)
		return limit.Status.ObservedGeneration == limit.Generation && got == 1, nil
	})
}

// TestAClaimNeedsBoth: a slot for its binding, and one for the instance of its own.
func TestAClaimNeedsBoth(t *testing.T) {
	w := newWorld(t)
	limit := w.limit("both", func(s *api.ProvisioningPolicySpec) { s.MaxInstances, s.MaxBindings = new(int32(1)), new(int32(1)) }, "small")
	claim := func(name string) *api.ServiceBinding {
		b := w.binding(name, "")
		b.Spec.InstanceRef = nil
		b.Spec.ClusterServiceClassExternalName, b.Spec.ClusterServicePlanExternalName = w.name("db"), "small"
		return b
	}
	again := w.unkept()
	one, two := claim("one"), claim("two")
	w.Create(one, two)
	w.waits(one, two)
	again()
	w.eventually(func() (bool, error) {
		instances, bindings := w.slots(limit)
		return instances == 1 && bindings == 1, nil
	})
	w.ready(one)
	w.waits(two)
	assert.Equal(t, 1, w.there("small"))
	assert.Len(t, w.broker.Bindings(), 1)
	w.delete(one)
	w.gone(one)
	w.ready(two)
}
