package keeper

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/webhook/keeper/requeue"
)

// AddIndexes registers with the cache the indexes that the controllers read by. It is
// called before the cache starts; it fails if one of them is there already.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	return requeue.AddIndexes(ctx, indexer)
}
