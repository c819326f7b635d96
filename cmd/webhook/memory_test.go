package main

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
		"Nothing":      {reason: "a start is no division by zero", live: 0, want: 6400},
		"SmallCatalog": {reason: "64 MB over 8 MB", live: 8 << 20, want: 800},
		"AsMuch":       {reason: "where both rules give the same", live: 64 << 20, want: 100},
		"LargeCatalog": {reason: "never less than Go gives", live: 1 << 30, want: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, heapGrowth(tc.live), tc.reason)
		})
	}
}
