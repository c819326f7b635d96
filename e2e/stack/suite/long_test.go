package suite //nolint:testpackage // the environment belongs to the whole process

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsLong(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"": false, "0": false, "1": true, "true": true} {
		assert.Equal(t, want, isLong(value), "%s=%s", LongVariable, value)
	}
}

// TestRounds sets the environment, and so is not parallel.
func TestRounds(t *testing.T) {
	const variable = "DEFAULTPLAN_TEST_ROUNDS"
	for name, test := range map[string]struct {
		reason, given, long string
		want                int
	}{
		"Short": {reason: "the default", want: 3},
		"Long":  {reason: "make test-long", long: "1", want: 9},
		"Given": {reason: "make soak says how many, whatever the form", given: "200", long: "1", want: 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(LongVariable, test.long)
			t.Setenv(variable, test.given)
			assert.Equal(t, test.want, Rounds(t, variable, 3, 9), test.reason)
		})
	}
}

// TestSeed: without a variable the seed is always the same; a number is that seed; any draws one.
func TestSeed(t *testing.T) {
	const variable = "DEFAULTPLAN_TEST_SEED"
	t.Setenv(variable, "42")
	assert.Equal(t, uint64(42), Seed(t, variable))
	t.Setenv(variable, "")
	first, second := Seed(t, variable), Seed(t, variable)
	assert.Equal(t, first, second)
	t.Setenv(LongVariable, "1")
	assert.NotEqual(t, first, Seed(t, variable), "the long form does not repeat the short one")
	t.Setenv(variable, AnySeed)
	first, second = Seed(t, variable), Seed(t, variable)
	assert.NotEqual(t, first, second)
}
