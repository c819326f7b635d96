package merge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

func TestEqual(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		a, b string
		want bool
	}{
		"Same":          {a: `{"a":[1,"x",null,true]}`, b: `{"a":[1,"x",null,true]}`, want: true},
		"Order":         {a: `{"a":1,"b":2}`, b: `{"b":2,"a":1}`, want: true},
		"Whole":         {a: `{"a":5}`, b: `{"a":5.0}`, want: true},
		"Exponent":      {a: `{"a":100}`, b: `{"a":1e2}`, want: true},
		"Fractions":     {a: `{"a":0.5}`, b: `{"a":5e-1}`, want: true},
		"Fraction":      {a: `{"a":5}`, b: `{"a":5.5}`},
		"Rounded":       {a: `{"a":9007199254740993}`, b: `{"a":9007199254740992.0}`},
		"RoundedBack":   {a: `{"a":9007199254740992.0}`, b: `{"a":9007199254740993}`},
		"LargeIntegers": {a: `{"a":9007199254740993}`, b: `{"a":9007199254740992}`},
		"Largest":       {a: `{"a":9223372036854775807}`, b: `{"a":9223372036854775808}`},
		"Beyond":        {a: `{"a":9223372036854775808}`, b: `{"a":9223372036854775808.0}`, want: true},
		"TooLarge":      {a: `{"a":1e999}`, b: `{"a":1e998}`},
		"TooLargeTwice": {a: `{"a":1e999}`, b: `{"a":1e999}`, want: true},
		"NumberAndText": {a: `{"a":1}`, b: `{"a":"1"}`},
		"TextAndNumber": {a: `{"a":"1"}`, b: `{"a":1}`},
		"NullAndAbsent": {a: `{"a":null}`, b: `{}`},
		"NullAndNull":   {a: `{"a":null}`, b: `{"a":null}`, want: true},
		"TextAndList":   {a: `{"a":"1"}`, b: `{"a":[]}`},
		"ListAndObject": {a: `{"a":[]}`, b: `{"a":{}}`},
		"Longer":        {a: `{"a":[1]}`, b: `{"a":[1,2]}`},
		"Deep":          {a: `{"a":{"b":[{"c":1}]}}`, b: `{"a":{"b":[{"c":2}]}}`},
		"NoneAndEmpty":  {a: ``, b: `{}`},
		"NoneAndNone":   {a: ``, b: `null`, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := merge.Decode([]byte(tc.a))
			require.NoError(t, err)
			b, err := merge.Decode([]byte(tc.b))
			require.NoError(t, err)
			assert.Equal(t, tc.want, merge.Equal(a, b))
			assert.Equal(t, tc.want, merge.Equal(b, a), "the other way round")
		})
	}
}
