package binding

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/webhook/instance"
)

// AddIndexes adds the indexes by which the cache is searched for bindings.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for field, value := range map[string]client.IndexerFunc{
		secretNames.field: secretNames.index, serviceNames.field: serviceNames.index, instance.IndexDedicated: instance.DedicatedOf,
	} {
		if err := indexer.IndexField(ctx, &v1beta1.ServiceBinding{}, field, value); err != nil {
			return fmt.Errorf("cannot index bindings by %q: %w", field, err)
		}
	}
	return nil
}
