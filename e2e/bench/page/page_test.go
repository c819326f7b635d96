package page

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/bench/measure"
)

var order = []string{"reviews", "scale", "rest"}

func part(name, commit string, value float64) Part {
	return Part{
		Name: name, Origin: Origin{Date: "2026-11-27", Commit: commit, Machine: "2 cores"},
		Rows: []measure.Row{
			{What: "mutate", Value: value, Unit: "×", Bound: measure.AtMost, Goal: 2, Detail: "a | b"},
			{What: "  of which", Value: 1, Unit: "MB"},
		},
	}
}

const around = "# How fast\n\nBy hand.\n\n" + begin + "\n" + end + "\n\nBy hand, too.\n"

// TestWrite: what is around the block stays, and the rows are a table with its origin.
func TestWrite(t *testing.T) {
	t.Parallel()
	got, err := Write(around, order, []Part{part("reviews", "abc", 2.5)})
	require.NoError(t, err)
	assert.Equal(t, "# How fast\n\nBy hand.\n\n"+begin+`

The parts were measured on commit abc. Not measured: `+"`scale`, `rest`"+`.

<!-- part reviews -->
### Part `+"`reviews`"+`

Measured on 2026-11-27, commit abc, on 2 cores.

| what | measured | goal | | how |
|---|---|---|---|---|
| mutate | 2.50 × | ≤ 2.00 × | **missed** | a \| b |
| … of which | 1.00 MB | - |  |  |

`+end+"\n\nBy hand, too.\n", got)
}

// TestWriteOnePart: parts that were not run stay with their own commit, and what is measured twice
// is there once.
func TestWriteOnePart(t *testing.T) {
	t.Parallel()
	page, err := Write(around, order, []Part{part("rest", "abc", 1), part("reviews", "abc", 1), part("gone", "abc", 1)})
	require.NoError(t, err)
	scale := part("scale", "def", 1)
	scale.Curve = "curve.svg"
	page, err = Write(page, order, []Part{scale, part("reviews", "def", 1)})
	require.NoError(t, err)
	assert.Contains(t, page, "All parts were measured on 2 commits: abc, def.\n")
	assert.Contains(t, page, "](curve.svg)")
	assert.NotContains(t, page, "gone", "no such part")
	assert.Equal(t, 1, strings.Count(page, "### Part `reviews`"))
	assert.Equal(t, 2, strings.Count(page, "commit def, on 2 cores"))
	assert.Equal(t, 1, strings.Count(page, "commit abc, on 2 cores"))
	assert.Less(t, strings.Index(page, "part reviews"), strings.Index(page, "part scale"))
	assert.Less(t, strings.Index(page, "part scale"), strings.Index(page, "part rest"))

	whole, err := Write(page, order, []Part{part("rest", "def", 1)})
	require.NoError(t, err)
	assert.Contains(t, whole, "All parts were measured on commit def.\n")

	again, err := Write(page, order, nil)
	require.NoError(t, err)
	assert.Equal(t, page, again, "nothing was measured")
}

func TestWriteWithoutBlock(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", begin, end + begin} {
		_, err := Write(page, order, nil)
		require.ErrorIs(t, err, errNoBlock)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "2 cores of Xeon at 2100 MHz, 25 GB of memory, Go 1.27",
		describe(2, "Architecture: x86_64\nModel name:   Xeon\nCPU max MHz: 2100.0000", "MemTotal:       24684268 kB\nMemFree: 1 kB", "go1.27"))
	assert.Equal(t, "1 cores, Go 1.27", describe(1, "", "", "go1.27"), "what is not known is left out")
}

// TestDraw: a drawing is XML, with a point for each value, those of larger sizes further right, and of
// larger values higher.
func TestDraw(t *testing.T) {
	t.Parallel()
	svg := Draw([]Panel{
		{Title: "memory <of>", Unit: "MB", X: []float64{1000, 10_000, 100_000}, Y: []float64{60, 75, 210}},
		{Title: "one", Unit: "s", X: []float64{100}, Y: []float64{0}},
	})
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := decoder.Token(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
	}
	assert.Equal(t, 4, strings.Count(svg, "<circle"))
	assert.Contains(t, svg, "memory &lt;of&gt; (MB)")
	assert.Contains(t, svg, "100,000</text>")
	p := Panel{X: []float64{1000, 10_000, 100_000}}
	assert.InDelta(t, p.across(10_000), (p.across(1000)+p.across(100_000))/2, 1e-9, "the scale is logarithmic")
}

func TestLabels(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]float64{0: 1, 0.3: 0.5, 1: 1, 1.1: 2, 210: 500, 501: 1000} {
		assert.InDelta(t, want, ceiling(value), 1e-9)
	}
	assert.Equal(t, "1,000,000", sizeLabel(1e6))
	assert.Equal(t, "100", sizeLabel(100))
	assert.Equal(t, "0.0123", label(0.01234))
	assert.Equal(t, "1235", label(1234.6))
}
