package e2e_test

import (
	"syscall"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		w.addPlans(class{name: w.name(tc.name)}, plan{name: w.name("plan-" + tc.name), serviceType: w.name(tc.name), isDefault: true})

		assert.Equal(w, w.name("plan-"+tc.name), planOf(w.becomesWhole(tc.name)), "the keeper was %s", tc.name)
		assert.NotEqual(w, first, w.leader())
		require.NoError(w, w.StartWebhook(w.Context(), first))
	}
}

// whatCameWhileNoKeeperRan is caught up with.
func whatCameWhileNoKeeperRan(w *world) {
	w.createInstance("mydb", ofType(w.name("db")))
	for i := range 2 {
		require.NoError(w, w.StopWebhook(w.Context(), i, syscall.SIGTERM))
	}
	w.addPlans(class{name: w.name("c")}, plan{name: w.name("p"), serviceType: w.name("db"), isDefault: true})
	for i := range 2 {
		require.NoError(w, w.StartWebhook(w.Context(), i))
	}
	assert.Equal(w, w.name("p"), planOf(w.becomesWhole("mydb")))
}
