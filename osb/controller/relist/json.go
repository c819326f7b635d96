package relist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// maxKey is how long a key of an object may be, in bytes as they are sent: the API
// server reads what is applied as YAML, which takes no longer one.
const maxKey = 1000

var (
	errTooLongKey = fmt.Errorf("a key in it has more than %d bytes", maxKey)
	errNumber     = errors.New("a number in it is too large")
	errNotJSON    = errors.New("it is not valid JSON")
)

// decode reads one JSON value of a catalog: integers of 64 bits are kept, other
// numbers are float64.
func decode(raw json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, errNotJSON
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	return plain(value)
}

// plain replaces the numbers of a value, in place.
func plain(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			if v[i], err = plain(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key, member := range v {
			if len(applied(key)) > maxKey {
				return nil, errTooLongKey
			}
			if v[key], err = plain(member); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func number(text json.Number) (any, error) {
	if i, err := text.Int64(); err == nil {
		return i, nil
	}
	f, err := text.Float64()
	if err != nil || math.IsInf(f, 0) {
		return nil, errNumber
	}
	// 1.0 is stored as 1.
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f), nil
	}
	return f, nil
}

// applied is a value as JSON that is YAML too: what no YAML text may have is escaped.
// Keys are sorted, so that equal values have equal texts. Values come from decode or
// are ours, so there is none that JSON cannot say.
func applied(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("cannot write %T as JSON: %v", value, err))
	}
	if bytes.IndexFunc(text, forbiddenInYAML) < 0 {
		return text
	}
	var escaped strings.Builder
	for _, r := range string(text) {
		if forbiddenInYAML(r) {
			fmt.Fprintf(&escaped, `\u%04x`, r)
			continue
		}
		escaped.WriteRune(r)
	}
	return []byte(escaped.String())
}

// forbiddenInYAML are the characters that a YAML text may not hold as they are, and
// JSON may.
func forbiddenInYAML(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0xfeff || r == 0xfffe || r == 0xffff
}
