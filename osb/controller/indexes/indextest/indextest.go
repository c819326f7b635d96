// Package indextest gives fake clients the indexes of the cache.
package indextest

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// A Fake is the indexer of a fake client that is being built.
type Fake struct{ Builder *fake.ClientBuilder }

// IndexField adds an index to the client.
func (f Fake) IndexField(_ context.Context, o client.Object, field string, value client.IndexerFunc) error {
	f.Builder.WithIndex(o, field, value)
	return nil
}
