package costs

import (
	"errors"
	"math/big"
	"regexp"
	"strconv"
)

const (
	// maxDigits is how many digits an amount may have before its point, and as many behind it:
	// as text it is within the API's schema.
	maxDigits = 30
	// maxText is how long an amount may be as it is written.
	maxText = 80
)

var (
	errNoDecimal = errors.New("is not a number of zero or more")
	errTooLarge  = errors.New("has too many digits")

	// number is a JSON number that is not negative, with its exponent.
	number = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE]([+-]?[0-9]+))?$`)
)

// Decimal reads a JSON number exactly, without going through a float. One that is negative
// or has very many digits is an error.
func Decimal(text string) (*big.Rat, error) {
	if len(text) > maxText {
		return nil, errTooLarge
	}
	parts := number.FindStringSubmatch(text)
	if parts == nil {
		return nil, errNoDecimal
	}
	// A large exponent would be a large number to compute with.
	if parts[1] != "" {
		if exponent, err := strconv.Atoi(parts[1]); err != nil || exponent > maxText || exponent < -maxText {
			return nil, errTooLarge
		}
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok || value.Sign() < 0 {
		return nil, errNoDecimal
	}
	if places, exact := value.FloatPrec(); !exact || places > maxDigits || value.Cmp(limit) >= 0 {
		return nil, errTooLarge
	}
	return value, nil
}

// limit is what no amount reaches.
var limit = new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(maxDigits), nil))

// Text is a decimal without an exponent or trailing zeros.
func Text(value *big.Rat) string {
	places, _ := value.FloatPrec()
	return value.FloatString(places)
}
