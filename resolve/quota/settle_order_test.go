package quota_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/resolve/quota"
)

// randomSettlement makes policies and demands: some have slots, some of demands that are gone.
func randomSettlement(r *rand.Rand) ([]quota.Policy, []quota.Demand) {
	var policies []quota.Policy
	for _, name := range []string{"p", "q"} {
		limit := int32(r.IntN(4))
		p := quota.Policy{Name: name, Limit: &limit}
		for i := range 6 {
			if r.IntN(3) == 0 {
				p.Granted = append(p.Granted, types.UID(fmt.Sprint(i)))
			}
		}
		policies = append(policies, p)
	}
	var demands []quota.Demand
	for i := range r.IntN(6) {
		c := quota.Demand{UID: types.UID(fmt.Sprint(i)), Name: fmt.Sprint(i), Since: int64(r.IntN(3)), Leaving: r.IntN(4) == 0, Opaque: r.IntN(4) == 0}
		c.Stages = map[string]quota.Stage{"p": quota.Stage(r.IntN(4)), "q": quota.Stage(r.IntN(4))}
		demands = append(demands, c)
	}
	return policies, demands
}

// TestSettleRegardlessOfOrder holds the rules of a settlement against random input: the order of
// what is listed does not matter, what is at a broker has its slot, what is gone has none, and
// nothing new is granted over the limit.
func TestSettleRegardlessOfOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		policies, demands := randomSettlement(r)
		got := quota.Settle(policies, demands)

		r.Shuffle(len(policies), func(i, j int) { policies[i], policies[j] = policies[j], policies[i] })
		r.Shuffle(len(demands), func(i, j int) { demands[i], demands[j] = demands[j], demands[i] })
		require.Equal(t, got, quota.Settle(policies, demands), "seed %d: another order", seed)

		for _, p := range policies {
			checkGranted(t, seed, p, demands, got.Granted[p.Name])
		}
	}
}

func checkGranted(t *testing.T, seed uint64, p quota.Policy, demands []quota.Demand, granted []types.UID) {
	t.Helper()
	alive, standing := map[types.UID]bool{}, 0
	for _, c := range demands {
		alive[c.UID] = true
		if c.Stages[p.Name] == quota.Standing {
			standing++
			assert.Contains(t, granted, c.UID, "seed %d: %s is at the broker", seed, c.UID)
		}
	}
	had := map[types.UID]bool{}
	for _, uid := range p.Granted {
		had[uid] = true
	}
	fresh := 0
	for _, uid := range granted {
		assert.True(t, alive[uid], "seed %d: %s is gone", seed, uid)
		if !had[uid] {
			fresh++
		}
	}
	if fresh > standing {
		assert.LessOrEqual(t, len(granted), int(*p.Limit), "seed %d: of %s", seed, p.Name)
	}
}

// TestSettleTwice settles what was settled: without a revoked slot the second time changes nothing.
func TestSettleTwice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		policies, demands := randomSettlement(rand.New(rand.NewPCG(seed, 2)))
		first := quota.Settle(policies, demands)
		if first.Unsettled {
			continue
		}
		for i := range policies {
			policies[i].Granted = first.Granted[policies[i].Name]
		}
		assert.Equal(t, first, quota.Settle(policies, demands), "seed %d", seed)
	}
}
