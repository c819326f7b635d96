package merge

import (
	"regexp/syntax"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ofDraft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`

// TestCost counts by hand what the budget counts: how often the worst place is judged.
func TestCost(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		schema string
		want   cost
	}{
		"Empty":       {reason: "the schema itself", schema: `{}`, want: cost{paths: 1}},
		"Properties":  {reason: "one key has one property", schema: `{"properties":{"a":{},"b":{},"c":{}}}`, want: cost{paths: 1}},
		"WorstOfKeys": {reason: "the worst of them", schema: `{"properties":{"a":{},"b":{"allOf":[{},{}]},"c":{"not":{}}}}`, want: cost{paths: 3}},
		"Additional":  {reason: "what no property has", schema: `{"properties":{"a":{"not":{}}},"additionalProperties":{"allOf":[{},{},{}]}}`, want: cost{paths: 4}},
		"Patterns": {
			reason: "patterns overlap with properties and each other",
			schema: `{"properties":{"a":{}},"patternProperties":{"b":{},"c":{}}}`,
			want:   cost{paths: 3, steps: 2},
		},
		"Names": {reason: "a name is judged beside its value", schema: `{` + ofDraft7 + `"propertyNames":{},"properties":{"a":{}}}`, want: cost{paths: 2}},
		"InPlace": {
			reason: "all that looks at one place adds up",
			schema: `{` + ofDraft7 + `"allOf":[{}],"anyOf":[{}],"oneOf":[{}],"not":{},"if":{},"then":{},"else":{}}`,
			want:   cost{paths: 8},
		},
		"Dependent": {reason: "so do dependencies, which are schemas or names", schema: `{"dependencies":{"a":{},"b":["c","e"],"d":{}}}`, want: cost{paths: 5}},
		"Required":  {reason: "each name may be missing", schema: `{"required":["a","b"],"properties":{"a":{"required":["c","d","e"]}}}`, want: cost{paths: 4}},
		"DependentRequired": {
			reason: "so may those of the newer keyword",
			schema: `{"$schema":"https://json-schema.org/draft/2019-09/schema","dependentRequired":{"a":["b","c"],"d":["e"]}}`, want: cost{paths: 4},
		},
		"Reference": {reason: "a reference and its target", schema: `{"definitions":{"x":{}},"properties":{"a":{"$ref":"#/definitions/x"}}}`, want: cost{paths: 2}},
		"Siblings": {
			reason: "what stands beside a reference is ignored before 2019",
			schema: `{"definitions":{"x":{}},"$ref":"#/definitions/x","allOf":[{},{}]}`,
			want:   cost{paths: 2},
		},
		"Diamond": {
			reason: "two ways to one target are two judgements",
			schema: `{"definitions":{"x":{"not":{}}},"anyOf":[{"$ref":"#/definitions/x"},{"$ref":"#/definitions/x"}]}`,
			want:   cost{paths: 1 + 2*3},
		},
		"Deeper": {
			reason: "ways to a deeper place count there",
			schema: `{"allOf":[{"properties":{"a":{}}},{"properties":{"a":{}}},{"properties":{"b":{}}}]}`,
			want:   cost{paths: 4},
		},
		"Tree":        {reason: "a tree costs the same at every depth", schema: `{"properties":{"l":{"$ref":"#"},"r":{"$ref":"#"}}}`, want: cost{paths: 2}},
		"Items":       {reason: "one item has one schema", schema: `{"items":[{},{"not":{}}],"additionalItems":{"allOf":[{},{}]}}`, want: cost{paths: 3}},
		"Contains":    {reason: "and contains beside it", schema: `{` + ofDraft7 + `"items":{},"contains":{}}`, want: cost{paths: 2}},
		"Kinds":       {reason: "a place is in an object or in an array", schema: `{"items":{"not":{}},"properties":{"a":{"not":{}}}}`, want: cost{paths: 2}},
		"Unique":      {reason: "items are compared with each other", schema: `{"uniqueItems":true}`, want: cost{paths: 20}},
		"Strings":     {reason: "comparing strings is cheap", schema: `{"enum":["a","b","c"]}`, want: cost{paths: 1}},
		"Numbers":     {reason: "comparing numbers is not", schema: `{"enum":[1,2,3]}`, want: cost{paths: 4}},
		"LongNumbers": {reason: "least of all long ones", schema: `{"enum":[1e320]}`, want: cost{paths: 1 + 1 + 321/16}},
		"Pattern":     {reason: "a pattern has its size", schema: `{"properties":{"a":{"pattern":"abc"},"b":{"pattern":"x"}}}`, want: cost{paths: 1, steps: 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema, err := Compile([]byte(tc.schema))
			require.NoError(t, err)
			assert.Equal(t, tc.want, schema.cost, tc.reason)
		})
	}
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		pattern string
		want    int
	}{
		"Literal":     {reason: "one for each character", pattern: `abc`, want: 3},
		"Class":       {reason: "one for each range and its ends", pattern: `[a-z]`, want: 2},
		"Repeat":      {reason: "times its count", pattern: `(?:ab){10}`, want: 30},
		"RepeatRange": {reason: "times the higher count", pattern: `a{2,5}`, want: 10},
		"RepeatOpen":  {reason: "times the lower where there is no higher", pattern: `a{7,}`, want: 14},
		"RepeatNone":  {reason: "never less than itself", pattern: `a{0}`, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := syntax.Parse(tc.pattern, syntax.Perl)
			require.NoError(t, err)
			assert.Equal(t, tc.want, instructions(tree), tc.reason)
		})
	}
	tree, err := syntax.Parse(`a{1000}`, syntax.Perl)
	require.NoError(t, err)
	assert.LessOrEqual(t, instructions(tree), maxPattern, "RE2's highest repeat of a character is allowed")
	for range 10 {
		tree = &syntax.Regexp{Op: syntax.OpRepeat, Min: 1000, Max: 1000, Sub: []*syntax.Regexp{tree}}
	}
	assert.Equal(t, ceiling, instructions(tree), "and nothing overflows")
}

func TestNumberWeight(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		text   string
		digits int
		huge   bool
	}{
		"Plain":          {reason: "its characters", text: "9007199254740993", digits: 16},
		"Exponent":       {reason: "as many zeros as it says", text: "1e20", digits: 21},
		"SmallExponent":  {reason: "after the point as well", text: "1.5E-20", digits: 23},
		"LargestFloat":   {reason: "what a float64 can be is allowed", text: "1e308", digits: 309},
		"HugeExponent":   {reason: "more is not", text: "1e401", digits: 402, huge: true},
		"BeyondInt":      {reason: "nor an exponent that is no int", text: "1e99999999999999999999", digits: ceiling, huge: true},
		"NegativeBeyond": {reason: "of either sign", text: "1e-99999999999999999999", digits: ceiling, huge: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			digits, huge := numberWeight(tc.text)
			assert.Equal(t, tc.digits, digits, tc.reason)
			assert.Equal(t, tc.huge, huge, tc.reason)
		})
	}
}
