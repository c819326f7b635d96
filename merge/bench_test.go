package merge_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

// keyed are n keys, from first on, every fifth of them an object with five keys.
func keyed(first, n int) map[string]any {
	values := make(map[string]any, n)
	for i := first; i < first+n; i++ {
		key := "key-" + strconv.Itoa(i)
		values[key] = json.Number(strconv.Itoa(i))
		if i%5 == 0 {
			values[key] = map[string]any{"a": "x", "b": true, "c": nil, "d": []any{}, "e": json.Number("1")}
		}
	}
	return values
}

// BenchmarkLayers merges three layers that overlap by half, and reports the time for one key: it stays about the same.
func BenchmarkLayers(b *testing.B) {
	for _, n := range []int{5, 100, 1000} {
		in := []merge.Layer{
			{Name: "class", Values: keyed(0, n)},
			{Name: "plan", Values: keyed(n/2, n)},
			{Name: "user", Values: keyed(n, n)},
		}
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := merge.Layers(in...)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		})
	}
}

// BenchmarkLayersNoDefaults is what an admission without defaults pays.
func BenchmarkLayersNoDefaults(b *testing.B) {
	in := []merge.Layer{{Name: "class"}, {Name: "plan"}, {Name: "user", Values: keyed(0, 20)}}
	b.ReportAllocs()
	for b.Loop() {
		_, err := merge.Layers(in...)
		require.NoError(b, err)
	}
}

// BenchmarkTransforms merges lists that overlap by half, the last of them as long as a request can make it: the time for one
// entry stays about the same.
func BenchmarkTransforms(b *testing.B) {
	for _, n := range []int{8, 128, 100_000} {
		in := []merge.TransformLayer{
			{Name: "class", Transforms: removals(0, min(n, 128))}, {Name: "plan", Transforms: removals(64, min(n, 128))}, {Name: "binding", Transforms: removals(128, n)},
		}
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := merge.Transforms(in...)
				require.Equal(b, n > 128, err != nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{5, 100, 1000} {
		raw := []byte(canonical(b, keyed(0, n)))
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				_, err := merge.Decode(raw)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkCompile is paid once for each revision of a plan, or for each attack.
func BenchmarkCompile(b *testing.B) {
	for name, schema := range map[string]string{
		"honest":   `{"properties":` + list("{}", `"#i":{"type":"string","enum":["a","b","c"]}`, 20) + `,"required":["1"]}`,
		"doubling": doubling(25),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := merge.Compile([]byte(schema))
				require.Equal(b, name == "honest", err == nil)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	s := compiled(b, `{"properties":`+list("{}", `"key-#i":{"type":["integer","object"]}`, 20)+`,"additionalProperties":false}`)
	values := keyed(0, 20)
	b.ReportAllocs()
	for b.Loop() {
		report, err := s.Check(values)
		require.NoError(b, err)
		require.Zero(b, report.Total)
	}
}
