package offline_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/webhook/offline"
)

// A write is held against its CRD and what is stored: the same one may be allowed in a cluster and
// denied in its clone, and what a caller does with a result is not taken for what was validated.
func TestTheSameWriteInClones(t *testing.T) {
	t.Parallel()
	broker := func(requests int) *unstructured.Unstructured {
		return read(t, fmt.Sprintf(`{kind: ClusterServiceBroker, metadata: {name: b}, spec: {url: "https://b.example.com", relistRequests: %d}}`, requests))[0]
	}
	w := newWorld(t, shop)
	other := &world{t, w.Clone()}
	require.NoError(t, w.Load(broker(2)))
	require.NoError(t, other.Load(broker(4)))
	update := func(in *world, object *unstructured.Unstructured) (stored *unstructured.Unstructured, denied string) {
		result, err := in.Update(t.Context(), offline.Request{Object: object, User: offline.Admin(), DryRun: true})
		require.NoError(t, err)
		if result.Denied != nil {
			return nil, result.Denied.ErrStatus.Message
		}
		return result.Object, ""
	}
	const fell = "relistRequests counts requests and cannot go back"
	for range 2 {
		for _, tried := range []struct {
			reason   string
			in       *world
			requests int
			denied   string
		}{
			{reason: "it has more than are stored", in: w, requests: 3},
			{reason: "more are stored there", in: other, requests: 3, denied: fell},
			{reason: "this is another object", in: other, requests: 5},
			{reason: "and this one of before", in: other, requests: 3, denied: fell},
		} {
			_, denied := update(tried.in, broker(tried.requests))
			assert.Equal(t, tried.denied == "", denied == "", tried.reason)
			assert.Contains(t, denied, tried.denied, tried.reason)
		}
	}
	result, denied := update(w, broker(3))
	require.Empty(t, denied)
	require.NoError(t, unstructured.SetNestedField(result.Object, int64(1), "spec", "relistRequests"))
	_, denied = update(w, result)
	assert.Contains(t, denied, fell)
}
