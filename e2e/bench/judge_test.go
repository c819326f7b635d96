package main

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMissed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		row    row
		want   bool
	}{
		"Told":         {"what has no goal misses none", row{value: 99}, false},
		"AtMost":       {"the goal itself is met", row{value: 2, bound: atMost, goal: 2}, false},
		"OverAtMost":   {"no rounding", row{value: 2.001, bound: atMost, goal: 2}, true},
		"AtLeast":      {"the goal itself is met", row{value: 95, bound: atLeast, goal: 95}, false},
		"UnderAtLeast": {"no rounding", row{value: 94.9, bound: atLeast, goal: 95}, true},
		"NoNumber":     {"nothing was measured", row{value: math.NaN(), bound: atMost, goal: 2}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged := table{rows: []row{{value: 1, bound: atMost, goal: 2}, tc.row}}
			assert.Equal(t, tc.want, judged.missed(), tc.reason)
			var text strings.Builder
			require.NoError(t, judged.writeTo(&text))
			assert.Equal(t, tc.want, strings.Contains(text.String(), "MISSED"), text.String())
		})
	}
}

// Pairs run in turns, the first does not count, and one outlier decides nothing.
func TestCompare(t *testing.T) {
	t.Parallel()
	var order strings.Builder
	batchOf := func(name string, values ...float64) batch {
		i := -1
		return func(context.Context) (float64, error) {
			order.WriteString(name)
			i++
			return values[i], nil
		}
	}
	c, err := compare(t.Context(), 3, batchOf("s", 1000, 4, 6, 900), batchOf("b", 1, 2, 2, 2))
	require.NoError(t, err)
	assert.Equal(t, "sbbssbbs", order.String())
	assert.InDelta(t, 3, c.ratio, 1e-9)
	assert.InDelta(t, 6, c.subject, 1e-9)
	assert.InDelta(t, 2, c.base, 1e-9)

	broken := errors.New("broken")
	_, err = compare(t.Context(), 1, batchOf("s", 1), func(context.Context) (float64, error) { return 0, broken })
	require.ErrorIs(t, err, broken)
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	values := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, .5: 2.5, 1: 4, .25: 1.75} {
		assert.InDelta(t, want, quantile(values, q), 1e-9)
	}
	assert.Equal(t, []float64{4, 1, 3, 2}, values, "they stay as they are")
	assert.InDelta(t, 7, quantile([]float64{7}, .5), 1e-9)
}

// What the hooks are asked is about 1 KB, and a patch of theirs can be applied.
func TestBodies(t *testing.T) {
	t.Parallel()
	f := &family{name: "f", plans: plansPerFamily}
	object := arriving(named(f), userParameters)
	assert.InDelta(t, 1024, len(object), 200)
	_, err := review(object)
	require.NoError(t, err)
	patched, err := mutated([]byte(`{"spec":{}}`), []byte(`{"response":{"patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvYSIsInZhbHVlIjoxfV0="}}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"spec":{"a":1}}`, string(patched))
	_, err = mutated(object, []byte(`{"response":{"allowed":false}}`))
	require.ErrorContains(t, err, "has no patch")
	assert.InDelta(t, largeSize, len(grown(largeSize)), 500)
}
