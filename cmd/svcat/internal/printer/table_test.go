package printer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		header []string
		rows   [][]string
		want   []string
	}{
		"Look": {
			reason: "headers are centred, cells are not, the rule has a + at both ends, no line ends with a space",
			header: []string{"type", "name", "scope"},
			rows:   [][]string{{"redis*", "basic", "broker (azure)"}, {"", "tiny", "cluster"}},
			want: []string{
				"   TYPE    NAME        SCOPE",
				"+--------+-------+----------------+",
				"  redis*   basic   broker (azure)",
				"           tiny    cluster",
			},
		},
		"NoRows":  {reason: "a header alone is a table too", header: []string{"name"}, want: []string{"  NAME", "+------+"}},
		"Numbers": {reason: "numbers are words like others", header: []string{"plans", "x"}, rows: [][]string{{"4", "y"}}, want: []string{"  PLANS   X", "+-------+---+", "  4       y"}},
		"CellsTooFewAndTooMany": {
			reason: "a row has as many cells as there are columns", header: []string{"aa", "bb"},
			rows: [][]string{{"1"}, {"1", "2", "3"}}, want: []string{"  AA   BB", "+----+----+", "  1", "  1    2"},
		},
		"WideLetters": {
			reason: "letters of the Far East take two places", header: []string{"name", "x"},
			rows: [][]string{{"\u4e16\u754c", "y"}, {"größer", "z"}}, want: []string{"   NAME    X", "+--------+---+", "  \u4e16\u754c     y", "  größer   z"},
		},
		"Hostile": {
			reason: "what a terminal would obey, and line breaks, would let a broker write anything on the screen", header: []string{"description"},
			rows: [][]string{{"two\nlines \x1b[31mred\x1b[0m \u202eturned"}},
			want: []string{"           DESCRIPTION", "+--------------------------------+", "  two lines \ufffd[31mred\ufffd[0m \ufffdturned"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := New(tc.header...)
			for _, row := range tc.rows {
				table.Add(row...)
			}
			var out strings.Builder
			require.NoError(t, table.Write(&out))
			assert.Equal(t, strings.Join(tc.want, "\n")+"\n", out.String(), tc.reason)
			assert.Equal(t, len(tc.rows), table.Len())
		})
	}
}

func TestWriteLegacy(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"default", "another-provided-service", "Another sample plan description that's really really really really really, kinda, wide"},
		{"premium", "user-provided-service", "Premium plan"},
	}
	cases := map[string]struct {
		reason string
		wrap   bool
		want   []string
	}{
		"Wrapped": {
			reason: "the last column wraps so that 80 columns are enough; lines are padded to the right",
			wrap:   true,
			want: []string{
				"   NAME              CLASS                          DESCRIPTION                ",
				"+---------+--------------------------+----------------------------------------+",
				"  default   another-provided-service   Another sample plan description that's  ",
				"                                       really really really really really,     ",
				"                                       kinda, wide                             ",
				"  premium   user-provided-service      Premium plan                            ",
			},
		},
		"Whole": {
			reason: "tables that never wrapped do not",
			want: []string{
				"   NAME              CLASS                                                  DESCRIPTION                                        ",
				"+---------+--------------------------+----------------------------------------------------------------------------------------+",
				"  default   another-provided-service   Another sample plan description that's really really really really really, kinda, wide  ",
				"  premium   user-provided-service      Premium plan                                                                            ",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := New("name", "class", "description")
			for _, row := range rows {
				table.Add(row...)
			}
			var out strings.Builder
			require.NoError(t, table.WriteLegacy(&out, tc.wrap))
			assert.Equal(t, strings.Join(tc.want, "\n")+"\n", out.String(), tc.reason)
		})
	}
}

// The page of the retired svcat is filled: 79 places with the spaces at both ends.
func TestWriteLegacyFillsThePage(t *testing.T) {
	t.Parallel()
	table := New("name", "description")
	table.Add("default", strings.TrimSpace(strings.Repeat("x ", 66)))
	var out strings.Builder
	require.NoError(t, table.WriteLegacy(&out, true))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Len(t, lines, 4)
	for _, line := range lines {
		assert.Len(t, line, 79)
	}
}

// Columns before the last may leave no room at all: the longest word is the least.
func TestWriteLegacyWithoutRoom(t *testing.T) {
	t.Parallel()
	table := New("name", "description")
	table.Add(strings.Repeat("n", 90), "a few words")
	var out strings.Builder
	require.NoError(t, table.WriteLegacy(&out, true))
	assert.Len(t, strings.Split(strings.TrimSpace(out.String()), "\n"), 4)
}

// A sentence in the last column is shown whole; its rule has an end.
func TestLongLastColumn(t *testing.T) {
	t.Parallel()
	table := New("plan", "fate")
	sentence := strings.TrimSpace(strings.Repeat("why ", 100))
	table.Add("small", sentence)
	var out strings.Builder
	require.NoError(t, table.Write(&out))
	lines := strings.Split(out.String(), "\n")
	assert.Equal(t, "+-------+"+strings.Repeat("-", longLast+2)+"+", lines[1])
	assert.Equal(t, "  small   "+sentence, lines[2])
}

// TestWrapIsEven: as the retired svcat broke its lines, not each as full as it can be.
func TestWrapIsEven(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, text string
		room         int
		want         []string
	}{
		"Even":     {"a first line that is full would leave the second one short", "aaa bb cc ddddd", 6, []string{"aaa", "bb cc", "ddddd"}},
		"Last":     {"the last line may be short", "aaa bb cc d", 9, []string{"aaa bb cc", "d"}},
		"LongWord": {"the longest word is the least", "a bbbbbbbb c", 3, []string{"a", "bbbbbbbb", "c"}},
		"NoRoom":   {"columns before may leave less than none", "a b", -7, []string{"a", "b"}},
		"Wide":     {"letters of the Far East take two places", "\u4e16\u754c \u4e16\u754c", 8, []string{"\u4e16\u754c", "\u4e16\u754c"}},
		"Nothing":  {reason: "no words, no lines", room: 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, wrap(tc.text, tc.room), tc.reason)
		})
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	const sentence = "a sentence that goes on for some time"
	cases := map[string]struct {
		reason string
		room   int
		want   string
	}{
		"Fits":    {"what has room stays", 200, "  mydb   " + sentence + "   https://example.com/a/path   dev"},
		"Widest":  {"the widest column gives first", 75, "  mydb   a sentence that goes on fo…   https://example.com/a/path   dev"},
		"All":     {"then the next one", 50, "  mydb   a sentence …   https://example…   dev"},
		"NoRoom":  {"names stay whole, and columns readable", 10, "  mydb   a sentence …   https://exa…   dev"},
		"Exactly": {"a rule as wide as the screen fits", 85, "  mydb   " + sentence + "   https://example.com/a/path   dev"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := New("name", "description", "url", "scope")
			table.Add("mydb", sentence, "https://example.com/a/path", "dev")
			table.Fit(tc.room, "description", "url")
			var out strings.Builder
			require.NoError(t, table.Write(&out))
			lines := strings.Split(out.String(), "\n")
			assert.Equal(t, tc.want, lines[2], tc.reason)
			if tc.room > 49 {
				assert.LessOrEqual(t, len(lines[1]), tc.room, tc.reason)
			}
		})
	}
}

func TestContinue(t *testing.T) {
	t.Parallel()
	first, more := New("name", "status"), New("name", "status")
	first.Add("mydatabase", "Ready")
	more.Add("db", "Deprovisioning")
	more.Continue(first)
	var out strings.Builder
	require.NoError(t, more.Write(&out))
	assert.Equal(t, "  db           Deprovisioning\n", out.String(), "no header, and below the columns of before")

	first.NoHeaders = true
	out.Reset()
	require.NoError(t, first.Write(&out))
	assert.Equal(t, "  mydatabase   Ready\n", out.String())
}

func TestPairs(t *testing.T) {
	t.Parallel()
	var pairs Pairs
	pairs.Add("Name:", "mydb")
	pairs.AddSet("DashboardURL:", "")
	pairs.Add("Kubernetes Name:", "")
	pairs.Add("Tags:", "a\tb")
	var out strings.Builder
	require.NoError(t, pairs.Write(&out))
	assert.Equal(t, "  Name:              mydb\n  Kubernetes Name:\n  Tags:              a b\n", out.String())
	assert.Equal(t, 3, pairs.Len())
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		table := New("type", "name", "class", "description", "scope")
		for range 10_000 {
			table.Add("mysql*", "premium-p1", "azure-mysql", "PremiumP1 Tier, 125 DTUs, 500GB, 35 days point-in-time restore", "broker (azure)")
		}
		if err := table.Write(new(strings.Builder)); err != nil {
			b.Fatal(err)
		}
	}
}
