package suite

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// LongVariable names the environment variable that, set to 1, lengthens scenarios; make
// test-long sets it.
const LongVariable = "DEFAULTPLAN_LONG"

// Long reports whether repetitions and random sequences run their long form.
func Long() bool { return isLong(os.Getenv(LongVariable)) }

// isLong reads the value of LongVariable.
func isLong(value string) bool { return value != "" && value != "0" }

// Rounds is how many steps a repetition or a random sequence has: as many as the environment
// variable says, else long in the long form, and short otherwise.
func Rounds(tb testing.TB, variable string, short, long int) int {
	tb.Helper()
	text := os.Getenv(variable)
	switch {
	case text == "" && Long():
		return long
	case text == "":
		return short
	}
	rounds, err := strconv.Atoi(text)
	require.NoError(tb, err, variable)
	require.Positive(tb, rounds, variable)
	return rounds
}

const (
	// AnySeed is the value of a seed's environment variable that has it drawn.
	AnySeed = "any"
	// shortSeed and longSeed are those of make test and of make test-long.
	shortSeed, longSeed = 1, 1_000_001
)

// Seed is what makes a random sequence the same again: that of the environment variable, or
// one that is drawn where it says AnySeed, as make soak does. Without it the seed is always the
// same, so that a failure is more likely to come from a change than from the sequence. It is logged.
func Seed(tb testing.TB, variable string) uint64 {
	tb.Helper()
	seed := uint64(shortSeed)
	if Long() {
		seed = longSeed
	}
	switch text := os.Getenv(variable); text {
	case "":
	case AnySeed:
		seed = rand.Uint64() //nolint:gosec // it guards nothing
	default:
		given, err := strconv.ParseUint(text, 10, 64)
		require.NoError(tb, err, variable)
		seed = given
	}
	tb.Logf("%s=%d", variable, seed)
	return seed
}
