package races_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// outages kill the keeper, now and then, and start it again.
type outages struct {
	*env.Env

	keeper *stack.Keeper
	random *rand.Rand
	// kills are how often it was killed, and together how often a webhook with
	// it.
	kills, together int
	// owed is a disturbance that did not come, because too little was stored.
	owed disturbance
}

// How a round is disturbed.
type disturbance int

const (
	calm disturbance = iota
	// keeperKilled: the next keeper takes over as soon as it runs.
	keeperKilled
	// keeperLost: its Lease must run out first.
	keeperLost
	// bothKilled: the keeper and one of the two webhooks.
	bothKilled
)

// disturb lets the strike fall after a few more of the contest's changes are
// stored, whatever they are: before, between and after the keeper's own. The
// function that it returns waits until all runs again, and says whether a webhook
// was killed.
func (o *outages) disturb(c *contest, d disturbance) (over func() bool) {
	if d == calm {
		return func() bool { return false }
	}
	most := 3
	if d == keeperKilled {
		most = 10 // it need not come in every round
	}
	struck, cancel := c.history.after(1+o.random.IntN(most)), make(chan struct{})
	webhook := o.random.IntN(2)
	var err error
	came := false
	var done sync.WaitGroup
	done.Go(func() {
		select {
		case <-struck:
			came = true
			err = o.strike(d, webhook)
		case <-cancel:
		}
	})
	return func() bool {
		o.Helper()
		close(cancel)
		done.Wait()
		require.NoError(o, err)
		if !came && d != keeperKilled {
			o.owed = d
		}
		return came && d == bothKilled
	}
}

// strike kills, and starts again.
func (o *outages) strike(d disturbance, webhook int) error {
	ctx := o.Context()
	o.kills++
	var errs []error
	if d == bothKilled {
		o.together++
		errs = append(errs, o.StopWebhook(ctx, webhook, syscall.SIGKILL))
	}
	errs = append(errs, o.keeper.Stop(ctx, syscall.SIGKILL))
	if d != keeperLost {
		errs = append(errs, o.keeper.Bury(ctx))
	}
	errs = append(errs, o.keeper.Start(ctx))
	if d == bothKilled {
		errs = append(errs, o.StartWebhook(ctx, webhook))
	}
	return errors.Join(errs...)
}
