package resolve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/resolve/resolvetest"
)

const narrow = "redis/cache: small* large? huge^"

//nolint:paralleltest // AllocsPerRun counts what the whole process allocates.
func TestAllocations(t *testing.T) {
	cat := resolvetest.Catalog(t, narrow)
	for _, request := range []string{"dev: type=redis", "dev: class=cache", "dev: class=cache plan=small"} {
		req := resolvetest.Request(t, request)
		got := testing.AllocsPerRun(100, func() { _, _ = resolve.Plan(req, cat) })
		if strings.Contains(request, "plan=") {
			assert.LessOrEqual(t, got, 2.0, "A named plan costs next to nothing: this runs at every admission.")
			continue
		}
		assert.LessOrEqual(t, got, 8.0, "A default costs little more, its note about a stray annotation included.")
	}
}

func BenchmarkPlan(b *testing.B) {
	var large strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&large, "t%d/class-%d{x=1}:", i, i)
		for j := range 100 {
			fmt.Fprintf(&large, " p%d=%d", j, j%7)
		}
		large.WriteString("*^\n")
	}
	benchmarks := []struct{ name, catalog, request string }{
		{"Named", narrow, "dev: class=cache plan=small"},
		{"Type", "redis/cache: small*^", "dev: type=redis"},
		{"TypeWithStrayDefault", narrow, "dev: type=redis"},
		{"Class", narrow, "dev: class=cache"},
		{"Selector", "redis/cache{x=1}: a=1 b=2 c=2", "dev: selector=x=1"},
		{"Named100k", large.String(), "dev: class=class-999 plan=p99"},
		{"Type100k", large.String(), "dev: type=t999"},
		{"Selector100k", large.String(), "dev: selector=x=1"},
	}
	for _, bm := range benchmarks {
		cat, req := resolvetest.Catalog(b, bm.catalog), resolvetest.Request(b, bm.request)
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := resolve.Plan(req, cat)
				require.NoError(b, err)
			}
		})
	}
}
