package quotas_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
	"github.com/defaultplan/defaultplan/osb/osbtest"
	"github.com/defaultplan/defaultplan/webhook/keeper"
)

const (
	// writers write at the same time, each an instance of its own.
	writers = 8
	// maxAll and maxLarge are the limits of the two policies: of both plans together,
	// and of the large one.
	maxAll, maxLarge = 4, 2
	// mostRounds bounds the further rounds of a race that has not come to its limits: in
	// so many it does.
	mostRounds = 40
)

// TestNeverOverWhateverTheRace: eight writers create, change and delete at the same time,
// while the keeper that leads is killed or overthrown, and the controller killed, at
// random; in every third round the broker is slow and faulty too. Its books are never over
// a limit, and in the end no slot is free while an object waits for it.
func TestNeverOverWhateverTheRace(t *testing.T) {
	r := &race{shop: newShop(t, func(o *osbtest.Options) { o.KeepCalls = 1000 })}
	r.limit("all", instances(maxAll), "small", "large")
	r.limit("large", instances(maxLarge), "large")
	most, mostLarge := r.broker.Peak(r.PlanID("small"), r.PlanID("large")), r.broker.Peak(r.PlanID("large"))
	rounds, round := suite.Rounds(t, "DEFAULTPLAN_QUOTA_ROUNDS", 6, 12), 0
	shown := func() bool { return most() == maxAll && mostLarge() == maxLarge && r.faults > 0 && r.waited > 0 }
	for ; round < rounds || round < mostRounds && !shown(); round++ {
		r.round(round)
		require.LessOrEqual(t, most(), maxAll, "over in round %d", round)
		require.LessOrEqual(t, mostLarge(), maxLarge, "over in round %d", round)
	}
	t.Logf("%d rounds: %d stored, %d refused, %d waited, %d keepers and %d controllers killed, %d overthrown, %d faults, at most %d and %d large at once",
		round, r.stored, r.refused, r.waited, r.killed, r.crashes, r.overthrown, r.faults, most(), mostLarge())
	assert.Equal(t, maxAll, most(), "or this shows nothing")
	assert.Equal(t, maxLarge, mostLarge(), "or this shows nothing")
	assert.Positive(t, r.faults, "or this shows nothing")
	assert.Positive(t, r.waited, "or this shows nothing")
}

// A race is what is counted of one.
type race struct {
	*shop

	mu                                                          sync.Mutex
	stored, refused, waited, killed, overthrown, crashes, leads int
	// faults is the broker's, which asks for one call at a time.
	faults int
}

func (r *race) count(what *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*what++
}

func (r *race) round(round int) {
	if round%3 == 2 {
		r.broker.On(r.shaky(uint64(round)))
	}
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() { r.write(fmt.Sprintf("r%d-w%d", round, i)) })
	}
	all.Go(func() { r.trouble(round) })
	all.Wait()
	r.settles()
	r.broker.Sync()
	require.NoError(r, r.Client().DeleteAllOf(r.Context(), &api.ServiceInstance{}, client.InNamespace(r.Namespace)))
	r.Eventually(func() (bool, error) {
		list := r.stand()
		if len(list) == 0 && len(r.broker.Instances()) == 0 {
			return true, nil
		}
		return false, fmt.Errorf("%d are still there, and %d at the broker", len(list), len(r.broker.Instances()))
	})
}

// shaky has every third call go wrong, up to six: those after which it is
// unknown what the broker has are among them, and those that it works on for a
// while.
func (r *race) shaky(seed uint64) func(osbtest.Call) osbtest.Fault {
	random := osbtest.Random(seed, 0.3, func(verb osbtest.Verb) []osbtest.Fault {
		switch verb {
		case osbtest.Provision, osbtest.Update, osbtest.Deprovision, osbtest.Bind, osbtest.Unbind:
			out := osbtest.Status(http.StatusInternalServerError, "{}")
			return []osbtest.Fault{out, out.Acting(), osbtest.Malformed(), osbtest.CutBefore(), osbtest.CutAfter(), osbtest.AsyncDone(1)}
		default:
			return nil
		}
	})
	left := 6
	return func(c osbtest.Call) osbtest.Fault {
		if left == 0 {
			return osbtest.Fault{}
		}
		fault := random(c)
		if fault.String() != "" {
			left--
			r.count(&r.faults)
		}
		return fault
	}
}

// write creates an instance, changes its plan or deletes it, and creates another one.
func (r *race) write(name string) {
	plans := []string{"small", "large"}
	db := r.db(name, plans[rand.IntN(2)])
	if !r.accepted(r.Client().Create(r.Context(), db)) {
		return
	}
	<-time.After(rand.N(40 * time.Millisecond))
	switch rand.IntN(4) {
	case 0, 1:
		patch := fmt.Sprintf(`{"spec":{"clusterServicePlanExternalName":%q}}`, plans[rand.IntN(2)])
		r.accepted(r.Client().Patch(r.Context(), &api.ServiceInstance{ObjectMeta: r.Meta(name)}, client.RawPatch(types.MergePatchType, []byte(patch))))
	case 2:
		r.remove(db)
		r.accepted(r.Client().Create(r.Context(), r.db(name+"-again", plans[rand.IntN(2)])))
	}
}

// accepted says whether a write was stored. That it is over is the only other answer.
func (r *race) accepted(err error) bool {
	switch {
	case err == nil:
		r.count(&r.stored)
		return true
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "have a slot"):
		r.count(&r.refused)
	default:
		assert.NoError(r, err)
	}
	return false
}

// trouble kills the keeper that leads, or takes the Lease from it while it goes on, or
// kills the controller, which it does in every fourth round.
func (r *race) trouble(round int) {
	ctx := r.Context()
	<-time.After(rand.N(60 * time.Millisecond))
	switch {
	case round%4 == 1:
		r.count(&r.crashes)
		assert.NoError(r, r.Controller().Stop(ctx, syscall.SIGKILL))
		assert.NoError(r, r.Controller().Start(ctx))
		return
	case rand.IntN(3) == 0:
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "defaultplan-system", Name: keeper.DefaultLeaseName}}
		assert.NoError(r, r.Client().Patch(ctx, lease, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"holderIdentity":""}}`))))
		r.count(&r.overthrown)
		return
	}
	r.leads = 1 - r.leads
	one := keepers[r.leads]
	assert.NoError(r, one.Stop(ctx, syscall.SIGKILL))
	assert.NoError(r, one.Bury(ctx)) // whichever of the two led
	r.count(&r.killed)
	assert.NoError(r, one.Start(ctx))
}

// stand are the instances that there are.
func (r *race) stand() []api.ServiceInstance {
	r.Helper()
	var list api.ServiceInstanceList
	require.NoError(r, r.Client().List(r.Context(), &list, client.InNamespace(r.Namespace)))
	return list.Items
}

// settles waits until every instance is as it asks to be, or waits where its plan is full.
func (r *race) settles() {
	r.Helper()
	waits := 0
	r.Eventually(func() (bool, error) {
		waits = 0
		at := map[string]string{}
		for id, i := range r.broker.Instances() {
			at[id] = i.PlanID
		}
		full, fullLarge := len(at) >= maxAll, count(at, r.PlanID("large")) >= maxLarge
		for _, i := range r.stand() {
			asks := i.Spec.ClusterServicePlanExternalName
			ready := env.ConditionOf(&i, api.ConditionReady)
			known, there := at[i.Status.ExternalID]
			switch {
			case i.DeletionTimestamp != nil, ready.ObservedGeneration != i.Generation:
				return false, fmt.Errorf("%s is on its way", i.Name)
			case ready.Status == api.ConditionTrue && there && known == r.PlanID(asks):
			case ready.Reason == "WaitingForSlot" && (!there && full || asks == "large" && fullLarge):
				waits++
			default:
				return false, fmt.Errorf("%s of %s (there: %q) is %+v, with %v", i.Name, asks, known, ready, slices.Sorted(maps.Values(at)))
			}
		}
		return true, nil
	})
	r.mu.Lock()
	r.waited += waits
	r.mu.Unlock()
}

func count(at map[string]string, plan string) int {
	n := 0
	for _, id := range at {
		if id == plan {
			n++
		}
	}
	return n
}
