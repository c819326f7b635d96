package instances_test

import (
	"strings"
	"syscall"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// leaderOf waits until one of two keepers leads, and returns which, from 0.
func leaderOf(e *env.Env, keepers [2]*stack.Keeper) int {
	e.Helper()
	leader := -1
	e.Eventually(func() (bool, error) {
		for i, k := range keepers {
			// One that was stopped has no metrics.
			if text, err := e.Scrape(e.Context(), k.Metrics()); err == nil && strings.Contains(text, "\ndefaultplan_keeper_leader 1\n") {
				leader = i
				return true, nil
			}
		}
		return false, nil
	})
	return leader
}

// anotherProcessKeepsOn: leadership moves when the keeper leaves, and when it is
// killed, as soon as its lease has run out.
func anotherProcessKeepsOn(e *env.Env) {
	second, err := e.StartKeeperWith(e.Context(), stack.KeeperOptions{Name: "keeper-b"})
	require.NoError(e, err)
	keepers := [2]*stack.Keeper{e.Keeper(), second}
	for _, tc := range []struct {
		name   string
		signal syscall.Signal
	}{{"ended", syscall.SIGTERM}, {"killed", syscall.SIGKILL}} {
		first := leaderOf(e, keepers)
		e.CreateInstance(tc.name, env.OfType(e.Name(tc.name)))
		require.NoError(e, keepers[first].Stop(e.Context(), tc.signal))
		e.AddPlans(env.Class{Name: e.Name(tc.name)}, env.Plan{Name: e.Name("plan-" + tc.name), ServiceType: e.Name(tc.name), Default: true})

		assert.Equal(e, e.Name("plan-"+tc.name), env.PlanOf(e.InstanceDecided(tc.name)), "the keeper was %s", tc.name)
		assert.NotEqual(e, first, leaderOf(e, keepers))
		require.NoError(e, keepers[first].Start(e.Context()))
	}
	require.NoError(e, second.Stop(e.Context(), syscall.SIGTERM))
}

// whatCameWhileNoKeeperRan is caught up with: that a broker offers a plan again is its
// status, which no hook guards.
func whatCameWhileNoKeeperRan(e *env.Env) {
	o := offering.New(e, offering.Cluster)
	o.Drops(o.Plan, true)
	untilUnknown(o)
	require.Empty(e, env.PlanOf(o.CreateInstance("mydb", env.OfType(o.Type))))
	require.NoError(e, e.Keeper().Stop(e.Context(), syscall.SIGTERM))
	for i := range 2 {
		require.NoError(e, e.StopWebhook(e.Context(), i, syscall.SIGTERM))
	}
	o.Drops(o.Plan, false)
	for i := range 2 {
		require.NoError(e, e.StartWebhook(e.Context(), i))
	}
	require.NoError(e, e.Keeper().Start(e.Context()))
	assert.Equal(e, o.Plan, env.PlanOf(e.InstanceDecided("mydb")))
}
