package complete

import (
	"fmt"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTold(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		plans  []candidate
		want   map[string]string
	}{
		"Alone":     {reason: "its name is enough", plans: []candidate{{"redis", "small", "S"}}, want: map[string]string{"small": "S"}},
		"Two":       {reason: "two of one name need their class", plans: []candidate{{"redis", "small", "S"}, {"mysql", "small", "M"}}, want: map[string]string{"redis/small": "S", "mysql/small": "M"}},
		"Copied":    {reason: "the same class and name in a nearer scope is found first", plans: []candidate{{"redis", "small", "near"}, {"redis", "small", "far"}}, want: map[string]string{"small": "near"}},
		"Classless": {reason: "of a class that is not there, its name is all there is", plans: []candidate{{"", "small", "S"}, {"redis", "small", "R"}}, want: map[string]string{"small": "S", "redis/small": "R"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, told(tc.plans), tc.reason)
		})
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	s := search{typed: "s", described: map[string]string{}}
	s.add("small", "two\tcolumns\nand lines")
	s.add("small", "farther")
	s.add("slow", "")
	s.add("large", "not what was typed")
	s.add("s\x1b[2J", "a word that steers a terminal is none")
	s.add("shy", "\x1b[8mhides")
	assert.Equal(t, []cobra.Completion{"shy\t\ufffd[8mhides", "slow", "small\ttwo columns"}, s.words())
}

// TestVeryManyWords: the first, and that there are more.
func TestVeryManyWords(t *testing.T) {
	t.Parallel()
	s := search{typed: "plan-1", described: map[string]string{}}
	for i := range 10_000 {
		s.add(fmt.Sprintf("plan-%04d", i), "")
	}
	words := s.words()
	require.Len(t, words, 501)
	assert.Equal(t, "plan-1000", words[0])
	assert.Equal(t, "plan-1499", words[499])
	assert.Equal(t, cobra.AppendActiveHelp(nil, "the first 500 of 1000: type more of the name"), words[500:])
}
