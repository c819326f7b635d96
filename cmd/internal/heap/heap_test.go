package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestGrow: the pace is that of what is alive, now and after each collection.
//
//nolint:paralleltest // it sets the environment, and the pace of the process
func TestGrow(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "100")
	Grow(func(uint64) int {
		t.Error("an operator's GOGC takes precedence")
		return 1
	})
	t.Setenv("GOGC", "")
	var wanted, live atomic.Int64
	wanted.Store(77)
	Grow(func(alive uint64) int {
		live.Store(int64(alive))
		return int(wanted.Load())
	})
	assert.Equal(t, uint64(77), percent())
	wanted.Store(300)
	for percent() != 300 {
		require.NoError(t, t.Context().Err())
		runtime.GC()
	}
	assert.Positive(t, live.Load())
	wanted.Store(301)
	before := live.Swap(0)
	for live.Load() == 0 {
		require.NoError(t, t.Context().Err())
		runtime.GC()
	}
	assert.Positive(t, before)
	assert.Equal(t, uint64(300), percent(), "a small change is not worth a stop")
}
