package quotas_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestWhoeverWaitsGetsTheNextSlot: in order, also after the controller died; what is
// deleted makes room, and so does a limit that is raised.
func TestWhoeverWaitsGetsTheNextSlot(t *testing.T) {
	s := newShop(t)
	limit := s.limit("few", instances(2), "small", "large")
	again := s.unkept()
	dbs := s.dbs("small", "a", "b", "c", "d")
	for _, db := range dbs {
		s.Create(db) // no slot is granted yet, so that nothing is over
		message := s.waits(db)
		assert.Contains(t, message, limit.Name)
		assert.Contains(t, message, "2 instances")
		assert.Contains(t, message, "ask Ann for more")
	}
	require.NoError(t, s.Controller().Stop(t.Context(), syscall.SIGKILL))
	require.NoError(t, s.Controller().Start(t.Context()))
	again()
	s.Ready(dbs[0], dbs[1])
	s.waits(dbs[2], dbs[3])
	assert.Equal(t, 2, s.there("small"))
	s.HasEvent(dbs[2], "WaitingForSlot")

	s.remove(dbs[0])
	s.Ready(dbs[2])
	s.waits(dbs[3])
	assert.Equal(t, 2, s.there("small"), "the slot of what is gone")
	s.Change(limit, func() { limit.Spec.MaxInstances = new(int32(3)) })
	s.Ready(dbs[3])
	assert.Equal(t, 3, s.there("small"))
}

// TestWhatIsPlainlyOverIsRefused: in the policy's name and words, with what to do; a limit
// that is lowered takes nothing away, and nothing that is there is held up.
func TestWhatIsPlainlyOverIsRefused(t *testing.T) {
	s := newShop(t)
	limit := s.limit("few", instances(2), "small")
	dbs := s.dbs("small", "a", "b")
	s.Create(dbs[0], dbs[1])
	s.Ready(dbs[0], dbs[1])
	refusal := s.refusal(s.db("c", "small"))
	for _, part := range []string{limit.Name, "2 instances", "and 2 have a slot", "ask Ann for more", "svcat get instances", "kubectl get provisioningpolicy " + limit.Name} {
		assert.Contains(t, refusal, part)
	}
	require.NoError(t, s.Client().Create(t.Context(), s.db("c", "large"), client.DryRunAll), "it is of another plan")
	large := s.db("l", "large")
	s.Create(large)
	s.Ready(large)
	large.Spec.ClusterServicePlanExternalName = "small"
	err := s.Client().Update(t.Context(), large, client.DryRunAll)
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	s.Change(limit, func() { limit.Spec.MaxInstances = new(int32(1)) })
	s.Change(dbs[0], func() { dbs[0].Spec.Parameters = env.RawJSON(`{"size":2}`) })
	s.Ready(dbs[0])
	assert.Equal(t, 2, s.there("small"), "what is there stays")
	s.remove(dbs[0])
	s.Gone(dbs[0])
	s.granted(limit, 1)
	s.remove(dbs[1])
	s.Gone(dbs[1])
	s.granted(limit, 0)
	again := s.db("c", "small")
	s.Eventually(func() (bool, error) { err := s.Client().Create(t.Context(), again); return err == nil, err })
	s.Ready(again)
}

// TestAPolicyThatComesLate counts what is there, and a deleted one blocks
// nothing.
func TestAPolicyThatComesLate(t *testing.T) {
	s := newShop(t)
	dbs := s.dbs("small", "a", "b", "c")
	for _, db := range dbs {
		s.Create(db)
	}
	s.Ready(dbs[0], dbs[1], dbs[2])
	limit := s.limit("late", instances(1), "small")
	s.granted(limit, 3)
	again := s.unkept()
	other := s.limit("other", instances(1), "large")
	large := s.dbs("large", "x", "y")
	s.Create(large[0], large[1])
	s.waits(large[0], large[1])
	again()
	s.Ready(large[0])
	s.waits(large[1])
	s.remove(other)
	s.Ready(large[1])
	assert.Equal(t, 2, s.there("large"))
	assert.Equal(t, 3, s.there("small"))
}

// TestAPlanChangeNeedsTheNewSlotFirst, and keeps the old one until it is done.
func TestAPlanChangeNeedsTheNewSlotFirst(t *testing.T) {
	s := newShop(t)
	small, large := s.limit("small", instances(1), "small"), s.limit("large", instances(2), "large")
	taken, db := s.db("taken", "large"), s.db("db", "small")
	s.Create(taken, db)
	s.Ready(taken, db)
	again := s.unkept()
	s.Change(db, func() { db.Spec.ClusterServicePlanExternalName = "large" })
	s.waits(db)
	got, _ := s.slots(small)
	assert.Equal(t, 1, got, "it has its plan still")
	assert.Equal(t, 1, s.there("small"))
	b := s.Binding("creds", "db")
	s.Create(b)
	s.Ready(b)
	again()
	s.Ready(db)
	assert.Equal(t, 2, s.there("large"))
	s.granted(small, 0)
	s.granted(large, 2)
}

// TestBindingsAreLimited, by those to instances of a plan, each namespace by itself.
func TestBindingsAreLimited(t *testing.T) {
	s := newShop(t)
	limit := s.limit("bindings", bindings(1), "small")
	free, db := s.db("free", "large"), s.db("db", "small")
	s.Create(free, db)
	s.Ready(free, db)
	again := s.unkept()
	one, two, other := s.Binding("one", "db"), s.Binding("two", "db"), s.Binding("other", "free")
	s.Create(one, two, other)
	s.Ready(other)
	assert.Contains(t, s.waits(one, two), "1 binding ")
	again()
	s.Ready(one)
	s.waits(two)
	assert.Contains(t, s.refusal(s.Binding("three", "db")), "bindings")
	assert.Len(t, s.broker.Bindings(), 2)
	s.remove(one)
	s.Ready(two)
	_, granted := s.slots(limit)
	assert.Equal(t, 1, granted)
}

// TestAllOrNone: who needs slots of two policies has both or none, and who needs one of
// them is not kept from it.
func TestAllOrNone(t *testing.T) {
	s := newShop(t)
	both, large := s.limit("both", instances(2), "small", "large"), s.limit("large", instances(1), "large")
	again := s.unkept()
	dbs := []*api.ServiceInstance{s.db("a", "large"), s.db("b", "large"), s.db("c", "small")}
	s.Create(dbs[0], dbs[1], dbs[2])
	s.waits(dbs[0], dbs[1], dbs[2])
	again()
	s.Ready(dbs[0], dbs[2])
	assert.Contains(t, s.waits(dbs[1]), "ProvisioningPolicy")
	s.granted(both, 2)
	s.granted(large, 1)
	s.remove(dbs[0])
	s.Ready(dbs[1])
	assert.Equal(t, 1, s.there("large"))
	assert.Equal(t, 2, s.there("small", "large"))
}

// TestSlotsAreTheKeepers: what another client writes there is repaired, and the
// report on what a policy selects takes none away.
func TestSlotsAreTheKeepers(t *testing.T) {
	s := newShop(t)
	limit := s.limit("few", instances(1), "small")
	db := s.db("db", "small")
	s.Create(db)
	s.Ready(db)
	for _, slots := range []string{`null`, `[{"namespace":"` + s.Namespace + `","instances":["unknown","` + strings.Repeat("x", 36) + `"]}]`} {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"slots":`+slots+`}}`))
		require.NoError(t, s.Client().Status().Patch(t.Context(), limit, patch))
		s.granted(limit, 1)
		require.Equal(t, db.UID, limit.Status.Slots[0].Instances[0])
	}
	s.Change(limit, func() { limit.Spec.Message = "ask Bob" })
	s.Eventually(func() (bool, error) {
		got, _ := s.slots(limit)
		return limit.Status.ObservedGeneration == limit.Generation && got == 1, nil
	})
}

// TestAClaimNeedsBoth: a slot for its binding, and one for the instance of its own.
func TestAClaimNeedsBoth(t *testing.T) {
	s := newShop(t)
	limit := s.limit("both", func(s *api.ProvisioningPolicySpec) { s.MaxInstances, s.MaxBindings = new(int32(1)), new(int32(1)) }, "small")
	claim := func(name string) *api.ServiceBinding {
		b := s.Binding(name, "")
		b.Spec.ClusterServiceClassExternalName, b.Spec.ClusterServicePlanExternalName = s.Name("db"), "small"
		return b
	}
	again := s.unkept()
	one, two := claim("one"), claim("two")
	s.Create(one, two)
	s.waits(one, two)
	again()
	s.Eventually(func() (bool, error) {
		instances, bindings := s.slots(limit)
		return instances == 1 && bindings == 1, nil
	})
	s.Ready(one)
	s.waits(two)
	assert.Equal(t, 1, s.there("small"))
	assert.Len(t, s.broker.Bindings(), 1)
	s.remove(one)
	s.Gone(one)
	s.Ready(two)
}
