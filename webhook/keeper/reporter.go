package keeper

import "context"

// A reporter keeps the status of policies: what each selects now.
type reporter struct{ *Keeper }

func newReporter(k *Keeper) *reporter { return &reporter{k} }

func (r *reporter) run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
