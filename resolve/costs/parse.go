package costs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// The bounds of the API's schema.
const (
	maxCosts    = 32
	maxCurrency = 64
	maxUnit     = 256
)

var (
	errNoObject = errors.New("metadata is not an object")
	errNoList   = errors.New("costs is not a list")
)

// Parse reads the costs of a plan's metadata, in their order; the currencies of one amount
// are in the order in which they are written. There are none where metadata names none.
func Parse(metadata []byte) ([]v1beta1.PlanCost, error) {
	// Metadata may be large, and is mostly without costs. A name may have escapes.
	if !bytes.Contains(metadata, []byte(`costs"`)) && !bytes.Contains(metadata, []byte(`\u`)) {
		return nil, nil
	}
	fields, err := membersOf(metadata)
	if err != nil {
		return nil, errNoObject
	}
	var raw json.RawMessage
	for _, field := range fields {
		if field.name != "costs" {
			continue
		}
		if raw != nil {
			return nil, errors.New("costs is there twice")
		}
		raw = field.value
	}
	if raw == nil {
		return nil, nil
	}
	parsed, err := list(raw)
	if err != nil {
		return nil, err
	}
	return parsed, nil
}

func errTooMany(amounts int) error {
	return fmt.Errorf("there are %d amounts or more; at most %d are read", amounts, maxCosts)
}

// Named says that metadata names costs, readable or not.
func Named(metadata []byte) bool {
	// Admission asks for each candidate, mostly for what a cache kept.
	if bytes.Equal(metadata, named.Raw) {
		return true
	}
	listed, err := Parse(metadata)
	return len(listed) > 0 || err != nil
}

// named is metadata of which no more is known than that it names costs.
var named = runtime.RawExtension{Raw: []byte(`{"costs":"left out"}`)}

// Slim is what caches keep of metadata: whether it names costs, and nothing else. It is not to be
// changed.
func Slim(metadata *runtime.RawExtension) *runtime.RawExtension {
	if metadata == nil || !Named(metadata.Raw) {
		return nil
	}
	return &named
}

func list(raw json.RawMessage) ([]v1beta1.PlanCost, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, errNoList
	}
	var parsed []v1beta1.PlanCost
	for i, entry := range entries {
		some, err := one(entry)
		if err != nil {
			return nil, fmt.Errorf("costs[%d]: %w", i, err)
		}
		if parsed = append(parsed, some...); len(parsed) > maxCosts {
			return nil, errTooMany(len(parsed))
		}
	}
	return parsed, nil
}

// one reads an entry of costs: an amount in one currency or several, for a unit.
func one(raw json.RawMessage) ([]v1beta1.PlanCost, error) {
	fields, err := membersOf(raw)
	if err != nil {
		return nil, errors.New("it is not an object")
	}
	var amounts []member
	unit, seen := "", map[string]bool{}
	for _, field := range fields {
		if seen[field.name] {
			return nil, fmt.Errorf("%.16q is there twice", field.name)
		}
		seen[field.name] = true
		switch field.name {
		case "amount":
			if amounts, err = membersOf(field.value); err != nil {
				return nil, errors.New("amount is not an object")
			}
		case "unit":
			if unit, err = word(field.value); err != nil || utf8.RuneCountInString(unit) > maxUnit {
				return nil, fmt.Errorf("unit is not a text of 1 to %d characters", maxUnit)
			}
		}
	}
	if unit == "" || len(amounts) == 0 {
		return nil, errors.New("it needs an amount and a unit")
	}
	return priced(amounts, unit)
}

// priced are amounts by currency for a unit.
func priced(amounts []member, unit string) ([]v1beta1.PlanCost, error) {
	// Each currency is compared with all before it.
	if len(amounts) > maxCosts {
		return nil, errTooMany(len(amounts))
	}
	parsed := make([]v1beta1.PlanCost, 0, len(amounts))
	for _, amount := range amounts {
		currency := strings.TrimSpace(amount.name)
		if currency == "" || utf8.RuneCountInString(currency) > maxCurrency {
			return nil, fmt.Errorf("a currency is not a text of 1 to %d characters", maxCurrency)
		}
		for i := range parsed {
			if strings.EqualFold(parsed[i].Currency, currency) {
				return nil, fmt.Errorf("currency %.16q is there twice", currency)
			}
		}
		value, err := Decimal(string(amount.value))
		if err != nil {
			return nil, fmt.Errorf("the amount of %.16q %w", currency, err)
		}
		parsed = append(parsed, v1beta1.PlanCost{Currency: currency, Amount: Text(value), Unit: unit})
	}
	return parsed, nil
}

// word reads a JSON string without spaces around it; one of spaces is an error.
func word(raw json.RawMessage) (string, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", err //nolint:wrapcheck // the caller says what it is
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", errors.New("it is empty")
	}
	return text, nil
}

// A member is one of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf are the members of a JSON object, in their order, those with one name too:
// which of them counts would be a guess.
func membersOf(raw []byte) ([]member, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.Join(errNoObject, err)
	}
	var members []member
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller says what it is
		}
		one := member{name: fmt.Sprint(name)}
		if err := decoder.Decode(&one.value); err != nil {
			return nil, err //nolint:wrapcheck // the caller says what it is
		}
		members = append(members, one)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it is
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errNoObject
	}
	return members, nil
}
