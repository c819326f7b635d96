package e2e_test

import (
	"syscall"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leader waits until one webhook process keeps, and returns which, from 0.
func (w *world) leader() int {
	w.Helper()
	leader := -1
	w.eventually(func() (bool, error) {
		for i := range 2 {
			// One that was stopped has no metrics.
			if text, err := scrape(w.Context(), w.WebhookMetrics(i)); err == nil && text != "" && w.metric(i, "defaultplan_keeper_leader") == 1 {
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
func anotherProcessKeepsOn(w *world) {
	for _, tc := range []struct {
		name   string
		signal syscall.Signal
	}{{"ended", syscall.SIGTERM}, {"killed", syscall.SIGKILL}} {
		first := w.leader()
		w.createInstance(tc.name, ofType(w.name(tc.name)))
		require.NoError(w, w.StopWebhook(w.Context(), first, tc.signal))
		w.untilServed()
		w.addPlans(class{name: w.name(tc.name)}, plan{name: w.name("plan-" + tc.name), serviceType: w.name(tc.name), isDefault: true})

		assert.Equal(w, w.name("plan-"+tc.name), planOf(w.becomesWhole(tc.name)), "the keeper was %s", tc.name)
		assert.NotEqual(w, first, w.leader())
		require.NoError(w, w.StartWebhook(w.Context(), first))
	}
}

// untilServed returns when the API server has forgotten its connections to a
// process that ended: when the other one answers for plans, too.
func (w *world) untilServed() {
	w.Helper()
	answered := 0
	w.eventually(func() (bool, error) {
		if err := w.client.Create(w.Context(), class{name: w.name("probe")}.object(), client.DryRunAll); err != nil {
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
func whatCameWhileNoKeeperRan(w *world) {
	o := newOffer(w, clusterScope)
	o.drops(o.plan, true)
	o.untilUnknown()
	require.Empty(w, planOf(o.createInstance("mydb", ofType(o.kind))))
	for i := range 2 {
		require.NoError(w, w.StopWebhook(w.Context(), i, syscall.SIGTERM))
	}
	o.drops(o.plan, false)
	for i := range 2 {
		require.NoError(w, w.StartWebhook(w.Context(), i))
	}
	assert.Equal(w, o.plan, planOf(w.becomesWhole("mydb")))
}
