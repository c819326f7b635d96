package resolve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

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

// BenchmarkLargestSelector is the most that a selector costs: as many expressions and values as it may have, and each of
// 5,000 plans has all of its labels but the last. It is far below the hooks' timeout: resolve needs no way to end before.
func BenchmarkLargestSelector(b *testing.B) {
	selector, set := &metav1.LabelSelector{}, labels.Set{}
	for i := range resolve.MaxRequirements {
		key, values := fmt.Sprintf("label-%02d", i), make([]string, resolve.MaxValues/resolve.MaxRequirements)
		for j := range values {
			values[j] = fmt.Sprintf("value-%d", j)
		}
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values})
		set[key] = values[len(values)-1]
	}
	set[fmt.Sprintf("label-%02d", resolve.MaxRequirements-1)] = "other"
	cat := resolve.Catalog{Classes: []resolve.ClassEntry{{Ref: resolve.Ref{Name: "db"}}}}
	for i := range 5000 {
		cat.Plans = append(cat.Plans, resolve.PlanEntry{Ref: resolve.Ref{Name: fmt.Sprintf("db-%d", i)}, Class: "db", Labels: set})
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := resolve.Plan(resolve.Request{Namespace: "dev", Selector: selector}, cat)
		require.Error(b, err)
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
