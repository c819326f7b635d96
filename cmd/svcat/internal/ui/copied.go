package ui

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/merge"
)

// longestNumber and largestExponent bound the numbers that are compared digit by digit:
// beyond them no float64 has all of them.
const (
	longestNumber   = 400
	largestExponent = 400
)

// kept says that an API server, which keeps a number as an int64 or a float64, would
// write the same number again.
func kept(number json.Number) bool {
	text := number.String()
	if !strings.ContainsAny(text, ".eE") {
		_, err := number.Int64()
		return err == nil
	}
	wanted, ok := exactly(text)
	if !ok {
		return false
	}
	nearest, err := number.Float64()
	if err != nil {
		return false
	}
	stored, ok := exactly(strconv.FormatFloat(nearest, 'g', -1, 64))
	return ok && wanted.Cmp(stored) == 0
}

// exactly is a number without any rounding; ok is false for one beyond the bounds.
func exactly(text string) (number *big.Rat, ok bool) {
	if len(text) > longestNumber {
		return nil, false
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(text[at+1:])
		if err != nil || exponent > largestExponent || exponent < -largestExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// survives says that a manifest in YAML, as it is copied, still says what was meant. A
// key such as << has a meaning of its own there.
func survives(meant map[string]any, text string) bool {
	copied, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return false
	}
	after, err := merge.Decode(copied)
	return err == nil && merge.Equal(meant, after)
}

// copyable is the manifest as it is copied; problem says why it would not be what was
// meant.
func (w *wish) copyable() (text, problem string, err error) {
	manifest, err := w.manifest()
	if err != nil {
		return "", "", err
	}
	values, err := merge.Decode(manifest)
	if err != nil {
		return "", "", err
	}
	if problem := unkept(values); problem != "" {
		return "", problem, nil
	}
	text, err = inYAML(manifest)
	if err != nil || !survives(values, text) {
		return "", "There is a name or a value that YAML would read as something else, such as the key <<: it cannot be copied from here.", nil //nolint:nilerr // it is told in words for the form
	}
	return text, "", nil
}
