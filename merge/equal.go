package merge

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Equal says that two decoded values are the same JSON. Numbers are compared exactly, as the API server stores them: 5 is 5.0, and
// 9007199254740993 is not 9007199254740992.0, though it is that when it is rounded to a float.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		return ok && equalNumbers(x, y)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && (x == nil) == (y == nil) && maps.EqualFunc(x, y, Equal)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, Equal)
	}
	switch b.(type) {
	case json.Number, map[string]any, []any:
		return false
	}
	return a == b
}

// equalNumbers compares as integers of 64 bits what are such, and the others as floats.
func equalNumbers(a, b json.Number) bool {
	x, errX := a.Int64()
	y, errY := b.Int64()
	switch {
	case errX == nil && errY == nil:
		return x == y
	case errX == nil:
		return equalToFloat(x, b)
	case errY == nil:
		return equalToFloat(y, a)
	}
	f, errX := a.Float64()
	g, errY := b.Float64()
	return a == b || errX == nil && errY == nil && f == g
}

func equalToFloat(whole int64, number json.Number) bool {
	f, err := strconv.ParseFloat(number.String(), 64)
	// Beyond 64 bits the conversion back would mean nothing.
	return err == nil && f == math.Trunc(f) && f >= math.MinInt64 && f < math.MaxInt64 && int64(f) == whole
}
