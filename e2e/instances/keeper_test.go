package instances_test

import (
	"syscall"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/offering"
)

// leaderOf waits until the keeper of one webhook process leads, and returns which, from 0.
func leaderOf(e *env.Env) int {
	e.Helper()
	leader := -1
	e.Eventually(func() (bool, error) {
		for i := range 2 {
			// One that was stopped has no metrics.
			if text, err := e.Scrape(e.Context(), e.WebhookMetrics(i)); err == nil && text != "" && e.Metric(i, "defaultplan_keeper_leader") == 1 {
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
	for _, tc := range []struct {
		name   string
		signal syscall.Signal
	}{{"ended", syscall.SIGTERM}, {"killed", syscall.SIGKILL}} {
		first := leaderOf(e)
		e.CreateInstance(tc.name, env.OfType(e.Name(tc.name)))
		require.NoError(e, e.StopWebhook(e.Context(), first, tc.signal))
		untilServed(e)
		e.AddPlans(env.Class{Name: e.Name(tc.name)}, env.Plan{Name: e.Name("plan-" + tc.name), ServiceType: e.Name(tc.name), Default: true})

		assert.Equal(e, e.Name("plan-"+tc.name), env.PlanOf(e.InstanceDecided(tc.name)), "the keeper was %s", tc.name)
		assert.NotEqual(e, first, leaderOf(e))
		require.NoError(e, e.StartWebhook(e.Context(), first))
	}
}

// untilServed returns when the API server has forgotten its connections to a
// process that ended: when the other one answers for plans, too.
func untilServed(e *env.Env) {
	e.Helper()
	answered := 0
	e.Eventually(func() (bool, error) {
		if err := e.Client().Create(e.Context(), env.Class{Name: e.Name("probe")}.Object(), client.DryRunAll); err != nil {
			answered = 0
			return false, err
		}
		const enough = 6
		answered++
		return answered >= enough, nil
	})
}

// whatCameWhileNoKeeperRan is caught up with. Without a webhook nobody writes a
// plan; but that a broker offers one again is its status, which no hook guards.
func whatCameWhileNoKeeperRan(e *env.Env) {
	o := offering.New(e, offering.Cluster)
	o.Drops(o.Plan, true)
	untilUnknown(o)
	require.Empty(e, env.PlanOf(o.CreateInstance("mydb", env.OfType(o.Type))))
	for i := range 2 {
		require.NoError(e, e.StopWebhook(e.Context(), i, syscall.SIGTERM))
	}
	o.Drops(o.Plan, false)
	for i := range 2 {
		require.NoError(e, e.StartWebhook(e.Context(), i))
	}
	assert.Equal(e, o.Plan, env.PlanOf(e.InstanceDecided("mydb")))
}
