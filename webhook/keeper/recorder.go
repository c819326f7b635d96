package keeper

import "context"

// A recorder keeps the service types: which there are, and which plan each
// records as its default.
type recorder struct{ *Keeper }

func newRecorder(k *Keeper) *recorder { return &recorder{k} }

func (r *recorder) run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
