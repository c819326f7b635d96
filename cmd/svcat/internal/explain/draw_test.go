package explain

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var drawn = []node{
	node{mark: heading, text: `a "quoted" \ <b> & #1 ` + "`x`"}.with(
		leaf("first"), node{}, node{mark: winner, text: "second"}.with(leaf("below")), node{mark: loser, text: "third"}),
	leaf("another"),
}

func TestDrawTrees(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, drawTrees(&out, drawn, false))
	assert.Equal(t, strings.Join([]string{
		`a "quoted" \ <b> & #1 ` + "`x`", "├─ first", "├─ ✔ second", "│  └─ below", "└─ ✘ third", "", "another", "",
	}, "\n"), out.String())
	out.Reset()
	require.NoError(t, drawTrees(&out, drawn, true))
	assert.Contains(t, out.String(), "├─ \x1b[32m✔ second\x1b[0m\n")
	assert.Equal(t, strings.Count(out.String(), "\x1b[")/2, strings.Count(out.String(), "\x1b[0m"), "every colour ends")
}

// TestDrawTextOfMoreLines: a policy's message may have some.
func TestDrawTextOfMoreLines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, drawTrees(&out, []node{leaf("a\nb").with(leaf("c\nd").with(leaf("e")), leaf("f\ng"))}, false))
	assert.Equal(t, strings.Join([]string{"a", "│  b", "├─ c", "│  │  d", "│  └─ e", "└─ f", "   g", ""}, "\n"), out.String())
}

func TestDrawDot(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, drawDot(&out, drawn))
	assert.Contains(t, out.String(), `n0 [label="a \"quoted\" \\ <b> & #1 `+"`x`"+`", style=bold];`)
	assert.Equal(t, 6, strings.Count(out.String(), "[label="))
	assert.Equal(t, 4, strings.Count(out.String(), " -> "))
	assert.Contains(t, out.String(), "n2 -> n3;")
}

func TestDrawMermaid(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, drawMermaid(&out, drawn))
	assert.Contains(t, out.String(), `n0["a #quot;quoted#quot; \ #lt;b#gt; #amp; #35;1 #96;x#96;"]`)
	assert.Equal(t, 4, strings.Count(out.String(), " --> "))
	assert.Contains(t, out.String(), `n2["✔ second"]:::chosen`)
}

// TestReportKeepsItsShape: -o json is what scripts read. Fields may be added here,
// and none renamed or taken away.
func TestReportKeepsItsShape(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(filepath.Join("testdata", "report.txt"))
	require.NoError(t, err)
	assert.Equal(t, strings.Fields(string(want)), jsonPaths(reflect.TypeFor[Report](), ""))
}

// jsonPaths are the paths of all fields of a type, sorted.
func jsonPaths(of reflect.Type, at string) []string {
	switch of.Kind() {
	case reflect.Pointer:
		return jsonPaths(of.Elem(), at)
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Struct {
			return jsonPaths(of.Elem(), at+"[]")
		}
	case reflect.Struct:
		var paths []string
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			below := strings.TrimPrefix(at+"."+name, ".")
			if field.Anonymous {
				below = at
			}
			paths = append(paths, jsonPaths(field.Type, below)...)
		}
		slices.Sort(paths)
		return paths
	default:
	}
	return []string{at}
}
