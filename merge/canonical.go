package merge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Canonical is the one JSON text of a decoded value: keys sorted by their bytes, numbers as they were written, no space, and
// <, > and & left as they are. Equal values have equal texts, whatever the order in which their maps were filled. The error
// tells of a Go value that JSON has no form for; it never shows the value.
func Canonical(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("cannot encode parameters as JSON: %w", withoutValue(err))
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// withoutValue drops the encoder's own text, which quotes the value, but for the kind of Go value that it met.
func withoutValue(err error) error {
	if unsupported, ok := errors.AsType[*json.UnsupportedTypeError](err); ok {
		return fmt.Errorf("no JSON form of Go type %s", unsupported.Type)
	}
	return errors.New("a number is malformed, or a value contains itself")
}

// Checksum is the SHA-256 of the canonical text, in lower-case hex: equal for equal values, whatever the order of keys.
func Checksum(value any) (string, error) {
	text, err := Canonical(value)
	if err != nil {
		return "", err
	}
	return sumOf(text), nil
}

// RetiredChecksum is the sum that the retired service catalog stored of the same parameters: of a text in which numbers are
// 64-bit floats and <, >, &, U+2028 and U+2029 are escaped; empty for none. The error tells of a number that is no such float.
func RetiredChecksum(parameters map[string]any) (string, error) {
	if len(parameters) == 0 {
		return "", nil
	}
	text, err := Canonical(parameters)
	if err != nil {
		return "", err
	}
	var floats map[string]any
	if err := json.Unmarshal(text, &floats); err != nil {
		return "", errors.New("a number is beyond 64-bit floats")
	}
	if text, err = json.Marshal(floats); err != nil {
		return "", fmt.Errorf("cannot encode parameters as JSON: %w", withoutValue(err))
	}
	return sumOf(text), nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
