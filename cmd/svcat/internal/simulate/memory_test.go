package simulate

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHeapGrowth(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		live   uint64
		want   int
	}{
		"Start":  {reason: "a start is no division by zero, and grows in steps", live: 0, want: 200},
		"Middle": {reason: "up to 200 MB", live: 100 << 20, want: 100},
		"Large":  {reason: "by half, whatever the size", live: 1 << 30, want: 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, heapGrowth(tc.live), tc.reason)
		})
	}
}
