package ui

import (
	"maps"
	"strings"

	"github.com/defaultplan/defaultplan/merge"
)

// A withheld value stands in the place of one that is not shown.
type withheld struct{}

// MarshalText is what is shown of it inside of another value.
func (withheld) MarshalText() ([]byte, error) { return []byte("(not shown)"), nil }

// isWithheld says that a value is not shown.
func isWithheld(value any) bool {
	_, is := value.(withheld)
	return is
}

// withhold takes the values of secret parameters out, wherever a row shows them.
func (p *parameters) withhold(secrets []merge.Pointer) {
	for i := range p.Rows {
		row := &p.Rows[i]
		for _, secret := range secrets {
			at := string(secret)
			inside, within := strings.CutPrefix(at, row.Pointer+"/")
			switch {
			case row.Pointer == at || strings.HasPrefix(row.Pointer, at+"/"):
				row.Value = withheld{}
			case within:
				row.Value = without(row.Value, merge.Pointer("/"+inside).Tokens())
			}
		}
	}
}

// without is a value whose part under the tokens is withheld; the value itself stays as
// it is.
func without(value any, tokens []string) any {
	if len(tokens) == 0 {
		return withheld{}
	}
	object, is := value.(map[string]any)
	if !is {
		return value
	}
	inner, has := object[tokens[0]]
	if !has {
		return value
	}
	object = maps.Clone(object)
	object[tokens[0]] = without(inner, tokens[1:])
	return object
}
