package review

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
)

// What the hooks are asked is about 1 KB, and a patch of theirs can be applied.
func TestBodies(t *testing.T) {
	t.Parallel()
	f := &catalog.Family{Name: "f", Plans: catalog.PlansPerFamily}
	object := Arriving(Named(f), UserParameters)
	assert.InDelta(t, 1024, len(object), 200)
	_, err := OfInstance(object)
	require.NoError(t, err)
	patched, err := Mutated([]byte(`{"spec":{}}`), []byte(`{"response":{"patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvYSIsInZhbHVlIjoxfV0="}}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"spec":{"a":1}}`, string(patched))
	_, err = Mutated(object, []byte(`{"response":{"allowed":false}}`))
	require.ErrorContains(t, err, "has no patch")
	const large = 34 << 10
	assert.InDelta(t, large, len(Grown(large)), 500)
}
