package quotas_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

const (
	// maxBound and maxClaimed are the limits of the two policies: of bindings to both
	// plans together, and of instances of the large one, which only claims ask for.
	maxBound, maxClaimed = 4, 2
)

// TestNeverOverWithBindingsAndClaims is the race of TestNeverOverWhateverTheRace with
// bindings: to one instance in the first round, claims in the second, then both. A claim
// needs a slot for its binding and another for its instance.
func TestNeverOverWithBindingsAndClaims(t *testing.T) {
	r := &bindingRace{race: &race{shop: newShop(t, func(o *osbtest.Options) { o.KeepCalls = 1000 })}}
	db := r.db("db", "small")
	r.Create(db)
	r.Ready(db)
	r.bound, r.claimed = r.limit("bound", bindings(maxBound), "small", "large"), r.limit("claimed", instances(maxClaimed), "large")
	mostBound, mostClaimed := r.broker.PeakBindings(), r.broker.Peak(r.PlanID("large"))
	rounds, round := suite.Rounds(t, "DEFAULTPLAN_QUOTA_ROUNDS", 3, 12), 0
	shown := func() bool {
		return mostBound() == maxBound && mostClaimed() == maxClaimed && r.faults > 0 && r.waited > 0
	}
	for ; round < rounds || round < mostRounds && !shown(); round++ {
		r.round(round)
		require.LessOrEqual(t, mostBound(), maxBound, "over in round %d", round)
		require.LessOrEqual(t, mostClaimed(), maxClaimed, "over in round %d", round)
	}
	t.Logf("%d rounds: %d stored, %d refused, %d waited, %d keepers and %d controllers killed, %d overthrown, %d faults, at most %d bound and %d claimed at once",
		round, r.stored, r.refused, r.waited, r.killed, r.crashes, r.overthrown, r.faults, mostBound(), mostClaimed())
	assert.Equal(t, maxBound, mostBound(), "or this shows nothing")
	assert.Equal(t, maxClaimed, mostClaimed(), "or this shows nothing")
	assert.Positive(t, r.faults, "or this shows nothing")
	assert.Positive(t, r.waited, "or this shows nothing")
	for id, history := range r.broker.Histories() {
		assert.LessOrEqual(t, history.Made, history.Freed+1, "ID %s", id)
	}
}

// A bindingRace is one of bindings, of which some are claims.
type bindingRace struct {
	*race

	bound, claimed *api.ProvisioningPolicy
}

func (r *bindingRace) round(round int) {
	if round%3 == 2 {
		r.broker.On(r.shaky(uint64(round)))
	}
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() { r.write(round, fmt.Sprintf("r%d-w%d", round, i)) })
	}
	all.Go(func() { r.trouble(round) })
	all.Wait()
	r.settles()
	r.broker.Sync()
	require.NoError(r, r.Client().DeleteAllOf(r.Context(), &api.ServiceBinding{}, client.InNamespace(r.Namespace)))
	r.Eventually(func() (bool, error) {
		left, bound, made := len(r.stand()), len(r.broker.Bindings()), r.there("large")
		if left+bound+made == 0 {
			return true, nil
		}
		return false, fmt.Errorf("%d bindings are still there, %d at the broker, and %d of its instances", left, bound, made)
	})
}

// write creates a binding, and deletes it and creates another, or neither.
func (r *bindingRace) write(round int, name string) {
	b := r.asked(round, name)
	if !r.accepted(r.Client().Create(r.Context(), b)) {
		return
	}
	<-time.After(rand.N(40 * time.Millisecond))
	if rand.IntN(3) == 0 {
		r.remove(b)
		r.accepted(r.Client().Create(r.Context(), r.asked(round, name+"-again")))
	}
}

// asked is a binding to the instance db, or a claim, not yet created.
func (r *bindingRace) asked(round int, name string) *api.ServiceBinding {
	if round == 0 || round > 1 && rand.IntN(2) == 0 {
		return r.Binding(name, "db")
	}
	b := r.Binding(name, "")
	b.Spec.ClusterServiceClassExternalName, b.Spec.ClusterServicePlanExternalName = r.Name("db"), "large"
	return b
}

// stand are the bindings that there are.
func (r *bindingRace) stand() []api.ServiceBinding {
	r.Helper()
	var list api.ServiceBindingList
	require.NoError(r, r.Client().List(r.Context(), &list, client.InNamespace(r.Namespace)))
	return list.Items
}

// settles waits until every binding is Ready and at the broker, or waits where all slots
// are granted that it needs one of.
func (r *bindingRace) settles() {
	r.Helper()
	waits := 0
	r.Eventually(func() (bool, error) {
		waits = 0
		_, bound := r.slots(r.bound)
		claimed, _ := r.slots(r.claimed)
		at := r.broker.Bindings()
		for _, b := range r.stand() {
			ready := env.ConditionOf(&b, api.ConditionReady)
			_, there := at[b.Status.ExternalID]
			switch {
			case b.DeletionTimestamp != nil, ready.ObservedGeneration != b.Generation:
				return false, fmt.Errorf("%s is on its way", b.Name)
			case ready.Status == api.ConditionTrue && there:
			case ready.Reason == "WaitingForSlot" && !there && (bound >= maxBound || b.Dedicated() && claimed >= maxClaimed):
				waits++
			default:
				return false, fmt.Errorf("%s (a claim: %t, there: %t) is %+v, with slots for %d bindings and %d claims", b.Name, b.Dedicated(), there, ready, bound, claimed)
			}
		}
		return true, nil
	})
	r.mu.Lock()
	r.waited += waits
	r.mu.Unlock()
}
