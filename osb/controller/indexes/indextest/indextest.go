// Package indextest gives fake clients the indexes of the cache.
package indextest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/controller/indexes"
)

// NewBuilder returns the builder of a client that finds the objects, with the indexes of the
// cache.
func NewBuilder(t *testing.T, objects ...client.Object) *fake.ClientBuilder {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta1.AddToScheme(scheme))
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
	require.NoError(t, indexes.Add(t.Context(), Fake{Builder: builder}))
	return builder
}

// A Fake is the indexer of a fake client that is being built.
type Fake struct{ Builder *fake.ClientBuilder }

// IndexField adds an index to the client.
func (f Fake) IndexField(_ context.Context, o client.Object, field string, value client.IndexerFunc) error {
	f.Builder.WithIndex(o, field, value)
	return nil
}
