package measure

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
		row    Row
		want   bool
	}{
		"Told":         {"what has no goal misses none", Row{Value: 99}, false},
		"AtMost":       {"the goal itself is met", Row{Value: 2, Bound: AtMost, Goal: 2}, false},
		"OverAtMost":   {"no rounding", Row{Value: 2.001, Bound: AtMost, Goal: 2}, true},
		"AtLeast":      {"the goal itself is met", Row{Value: 95, Bound: AtLeast, Goal: 95}, false},
		"UnderAtLeast": {"no rounding", Row{Value: 94.9, Bound: AtLeast, Goal: 95}, true},
		"NoNumber":     {"nothing was measured", Row{Value: math.NaN(), Bound: AtMost, Goal: 2}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged := Table{rows: []Row{{Value: 1, Bound: AtMost, Goal: 2}, tc.row}}
			assert.Equal(t, tc.want, judged.Missed(), tc.reason)
			var text strings.Builder
			require.NoError(t, judged.Print(&text))
			assert.Equal(t, tc.want, strings.Contains(text.String(), "MISSED"), text.String())
		})
	}
}

// Pairs run in turns, the first does not count, and one outlier decides nothing.
func TestCompare(t *testing.T) {
	t.Parallel()
	var order strings.Builder
	batchOf := func(name string, values ...float64) Batch {
		i := -1
		return func(context.Context) (float64, error) {
			order.WriteString(name)
			i++
			return values[i], nil
		}
	}
	c, err := Compare(t.Context(), 3, batchOf("s", 1000, 4, 6, 900), batchOf("b", 1, 2, 2, 2))
	require.NoError(t, err)
	assert.Equal(t, "sbbssbbs", order.String())
	assert.InDelta(t, 3, c.Ratio, 1e-9)
	assert.InDelta(t, 6, c.Subject, 1e-9)
	assert.InDelta(t, 2, c.Base, 1e-9)

	broken := errors.New("broken")
	_, err = Compare(t.Context(), 1, batchOf("s", 1), func(context.Context) (float64, error) { return 0, broken })
	require.ErrorIs(t, err, broken)
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	values := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, .5: 2.5, 1: 4, .25: 1.75} {
		assert.InDelta(t, want, Quantile(values, q), 1e-9)
	}
	assert.Equal(t, []float64{4, 1, 3, 2}, values, "they stay as they are")
	assert.InDelta(t, 7, Quantile([]float64{7}, .5), 1e-9)
}
