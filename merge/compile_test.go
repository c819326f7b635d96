package merge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

// doubling is a chain of n links, each of which tries the next in two ways: 2^n evaluations of one value.
func doubling(n int) string {
	var text strings.Builder
	text.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
	for i := range n {
		fmt.Fprintf(&text, `"d%d":{"anyOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&text, `"d%d":{"type":"string"}}}`, n)
	return text.String()
}

// list repeats an item with its number, within brackets.
func list(brackets, item string, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(item, "#i", fmt.Sprint(i))
	}
	return brackets[:1] + strings.Join(items, ",") + brackets[1:]
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		schema string
		want   merge.Reason
		detail string
	}{
		"NotJSON": {reason: "no text of it is shown", schema: `{"a":x}`, want: merge.DoesNotCompile, detail: `not valid JSON at byte 6`},
		"Empty":   {reason: "nothing to compile", schema: ``, want: merge.DoesNotCompile, detail: `not valid JSON at byte 0`},
		"Array":   {reason: "a schema is an object", schema: `[]`, want: merge.DoesNotCompile, detail: `"" must be of type object, not array`},
		"UnknownType": {
			reason: "where it is wrong",
			schema: `{"properties":{"a":{"type":"objet"}}}`,
			want:   merge.DoesNotCompile,
			detail: `"/properties/a/type" must match at least one of the schema's alternatives`,
		},
		"Lookahead": {
			reason: "patterns are RE2",
			schema: `{"properties":{"a":{"pattern":"^(?!x)"}}}`,
			want:   merge.DoesNotCompile,
			detail: `"/properties/a/pattern" must be a pattern of the RE2 syntax, of at most 2000 instructions once its repeats are unrolled`,
		},
		"RepeatBomb": {
			reason: "instructions are counted, not built",
			schema: `{"properties":{"a":{"pattern":"(abcdefgh){999}"}}}`,
			want:   merge.DoesNotCompile,
			detail: `"/properties/a/pattern" must be a pattern of the RE2 syntax, of at most 2000 instructions once its repeats are unrolled`,
		},
		"RepeatTooHigh": {
			reason: "RE2's own limit",
			schema: `{"patternProperties":{"a{1001}":{}}}`,
			want:   merge.DoesNotCompile,
			detail: `invalid regex "a{1001}" at "#/patternProperties": not a regular expression of the RE2 syntax`,
		},
		"BombInName": {
			reason: "patterns for names too",
			schema: `{"patternProperties":{"(abcdefgh){999}":{}}}`,
			want:   merge.DoesNotCompile,
			detail: `invalid regex "(abcdefgh){999}" at "#/patternProperties": a pattern may have at most 2000 instructions once its repeats are unrolled`,
		},
		"NoAnchor": {
			reason: "a reference to nothing",
			schema: `{"$ref":"#nowhere"}`,
			want:   merge.DoesNotCompile,
			detail: `anchor in "#nowhere" not found in schema ""`,
		},
		"NoPointer": {reason: "nor by pointer", schema: `{"$ref":"#/definitions/x"}`, want: merge.DoesNotCompile, detail: `json-pointer in "#/definitions/x" not found`},
		"LongNumber": {
			reason: "exact arithmetic has a price",
			schema: `{"properties":{"a":{"maximum":1e999999}}}`,
			want:   merge.DoesNotCompile,
			detail: `the number at "/properties/a/maximum" is too long`,
		},
		"LongExponent": {
			reason: "even one that fits no integer",
			schema: `{"allOf":[{},{"maximum":1e99999999999999999999}]}`,
			want:   merge.DoesNotCompile,
			detail: `the number at "/allOf/1/maximum" is too long`,
		},
		"File": {reason: "never read", schema: `{"$ref":"file:///etc/hostname"}`, want: merge.OutsideReference, detail: `file:///etc/hostname`},
		"HTTP": {
			reason: "never fetched, at any depth",
			schema: `{"properties":{"a":{"anyOf":[{"$ref":"http://example.com/s#/x"}]}}}`,
			want:   merge.OutsideReference,
			detail: `http://example.com/s`,
		},
		"Relative": {reason: "there is no neighbour", schema: `{"$ref":"other.json"}`, want: merge.OutsideReference, detail: `other.json`},
		"RelativeToID": {
			reason: "nor one beside its id",
			schema: `{"id":"http://example.com/s/a","allOf":[{"$ref":"b"}]}`,
			want:   merge.OutsideReference,
			detail: `http://example.com/s/b`,
		},
		"UnknownSchema": {
			reason: "no draft that is built in",
			schema: `{"$schema":"http://example.com/meta"}`,
			want:   merge.OutsideReference,
			detail: `http://example.com/meta`,
		},
		"Long": {
			reason: "a long URL does not fill a message",
			schema: `{"$ref":"http://example.com/` + strings.Repeat("x", 5000) + `"}`,
			want:   merge.OutsideReference,
		},
		"TooLarge": {
			reason: "over 64 KiB",
			schema: `{"description":"` + strings.Repeat("x", 64<<10) + `"}`,
			want:   merge.TooLarge,
			detail: `65554 bytes, at most 65536 are allowed`,
		},
		"TooDeep": {reason: "the compiler recurses", schema: strings.Repeat(`{"not":`, 10_000) + `{}` + strings.Repeat(`}`, 10_000), want: merge.TooLarge},
		"Deep": {
			reason: "even a small one",
			schema: strings.Repeat(`{"not":`, 2000) + `{}` + strings.Repeat(`}`, 2000),
			want:   merge.OverBudget,
			detail: `nested more than 160 deep`,
		},
		"Doubling": {
			reason: "12 seconds for one check, once",
			schema: doubling(25),
			want:   merge.OverBudget,
			detail: `one place could be checked in more than 1000 ways`,
		},
		"DoublingBeyond": {reason: "counting does not overflow", schema: doubling(200), want: merge.OverBudget},
		"Circle":         {reason: "no end at one place", schema: `{"$ref":"#"}`, want: merge.OverBudget, detail: `a subschema applies itself to the same place`},
		"CircleOfThree": {
			reason: "through other subschemas",
			schema: `{"definitions":{"a":{"not":{"$ref":"#/definitions/b"}},"b":{"allOf":[{"$ref":"#/definitions/a"}]}},"properties":{"x":{"$ref":"#/definitions/a"}}}`,
			want:   merge.OverBudget,
			detail: `a subschema applies itself to the same place`,
		},
		"Fibonacci": {
			reason: "doubling from level to level, through properties that overlap with patterns",
			schema: `{"properties":{"a":{"$ref":"#"}},"patternProperties":{"a":{"$ref":"#"}}}`,
			want:   merge.OverBudget,
			detail: `one place could be checked in more than 1000 ways`,
		},
		"DoublingItems": {
			reason: "the same through arrays",
			schema: `{` + draft6 + `"properties":{"x":{"$ref":"#/definitions/l"}},"definitions":{"l":{"items":{"$ref":"#/definitions/l"},"contains":{"$ref":"#/definitions/l"}}}}`,
			want:   merge.OverBudget,
			detail: `one place could be checked in more than 1000 ways`,
		},
		"DoublingAnyOf": {
			reason: "the same by alternatives with the same key",
			schema: `{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			want:   merge.OverBudget,
			detail: `one place could be checked in more than 1000 ways`,
		},
		"NumbersInEnum": {
			reason: "each is compared exactly",
			schema: `{"items":{"enum":` + list("[]", "#i", 2000) + `}}`,
			want:   merge.OverBudget,
			detail: `one place could be checked in more than 1000 ways`,
		},
		"NumbersInConst": {
			reason: "likewise",
			schema: `{` + draft6 + `"items":{"const":` + list("[]", "#i", 2000) + `}}`,
			want:   merge.OverBudget,
			detail: `one place could be checked in more than 1000 ways`,
		},
		"UniqueAtAnyDepth": {
			reason: "equal items are looked for pair by pair, all the way down",
			schema: `{"uniqueItems":true,"items":{"$ref":"#"}}`,
			want:   merge.OverBudget,
			detail: `one place could be checked in more than 1000 ways`,
		},
		"ManyPatterns": {
			reason: "they keep memory, a hundred bytes for one of theirs",
			schema: `{"patternProperties":` + list("{}", `"#i(a{30}){30}":{}`, 500) + `}`,
			want:   merge.OverBudget,
			detail: `more than 4096 subschemas, 500 references, 10000 values, or 20000 instructions of patterns`,
		},
		"PatternManyTimes": {
			reason: "one value is matched against it by each reference",
			schema: `{"definitions":{"p":{"pattern":"a{900}"}},"allOf":` + list("[]", `{"$ref":"#/definitions/p"}`, 12) + `}`,
			want:   merge.OverBudget,
			detail: `one place could be matched against more than 20000 instructions of patterns`,
		},
		"ManyReferences": {
			reason: "into places that are no subschema: quadratic for the compiler",
			schema: `{"x":` + list("[]", "{}", 1000) + `,"allOf":` + list("[]", `{"$ref":"#/x/#i"}`, 1000) + `}`,
			want:   merge.OverBudget,
			detail: `more than 4096 subschemas, 500 references, 10000 values, or 20000 instructions of patterns`,
		},
		"ManySubschemas": {
			reason: "21,000 in 64 KiB would be a second of the compiler's",
			schema: `{"anyOf":` + list("[]", `{}`, 21_000) + `}`,
			want:   merge.OverBudget,
			detail: `more than 4096 subschemas, 500 references, 10000 values, or 20000 instructions of patterns`,
		},
		"ManyBooleans": {
			reason: "booleans are subschemas too",
			schema: `{` + draft6 + `"items":` + list("[]", `true`, 5000) + `}`,
			want:   merge.OverBudget,
			detail: `more than 4096 subschemas, 500 references, 10000 values, or 20000 instructions of patterns`,
		},
		"JustEnough": {reason: "a large but honest one", schema: `{"properties":` + list("{}", `"#i":{"type":"string"}`, 2000) + `}`, want: ""},
		"DynamicRef": {
			reason: "its target is not known before there are values",
			schema: `{` + d2020 + `"$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x"}}}`,
			want:   merge.OverBudget,
			detail: `a dynamic reference has no bounded target`,
		},
		"RecursiveRef": {
			reason: "likewise",
			schema: `{` + d2019 + `"$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}}}`,
			want:   merge.OverBudget,
			detail: `a dynamic reference has no bounded target`,
		},
		"StaticDynamic": {
			reason: "one that leads to one place only is fine",
			schema: `{` + d2020 + `"properties":{"a":{"$dynamicRef":"#/$defs/x"}},"$defs":{"x":{}}}`,
			want:   "",
		},
		"StaticRecursive": {reason: "likewise", schema: `{` + d2019 + `"properties":{"a":{"$recursiveRef":"#"}}}`, want: ""},
		"BadID":           {reason: "an id that is no URL", schema: `{"id":"http://[::1"}`, want: merge.DoesNotCompile, detail: `error in parsing id at "#"`},
		"TwoTrees": {
			reason: "a string or a list of trees: one place is in an object or in an array",
			schema: `{"properties":{"a":{"$ref":"#"}},"items":{"$ref":"#"}}`,
			want:   "",
		},
		"Boolean": {reason: "a draft without boolean schemas", schema: `true`, want: merge.DoesNotCompile, detail: `"" must be of type object, not boolean`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema, err := merge.Compile([]byte(tc.schema))
			if tc.want == "" {
				require.NoError(t, err, tc.reason)
				require.NotNil(t, schema)
				return
			}
			var refused *merge.SchemaError
			require.ErrorAs(t, err, &refused, tc.reason)
			assert.Nil(t, schema)
			assert.Equal(t, tc.want, refused.Reason, tc.reason+": "+refused.Detail)
			if tc.detail != "" {
				assert.Equal(t, tc.detail, refused.Detail, tc.reason)
			}
			assert.Equal(t, "cannot use the JSON schema: "+string(tc.want)+": "+refused.Detail, err.Error())
			assert.Less(t, len(err.Error()), 400)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

// TestCompileReadsNoFile: a file that is there, and is a schema, is not read either.
func TestCompileReadsNoFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "schema.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"type":"object"}`), 0o600))
	_, err := merge.Compile([]byte(`{"$ref":"file://` + file + `"}`))
	var refused *merge.SchemaError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, merge.OutsideReference, refused.Reason)
}

func TestCheckOverBudget(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		schema string
		values map[string]any
		detail string // "" if it can be checked
	}{
		"Affordable": {
			reason: "a large list against a plain schema",
			schema: `{"properties":{"a":{"items":{"type":"string"}}}}`,
			values: map[string]any{"a": many("x", 50_000)},
		},
		"ManyTimesMuch": {
			reason: "too many values for this many ways",
			schema: `{"additionalProperties":{"items":{"allOf":` + list("[]", `{"type":"string"}`, 900) + `}}}`,
			values: map[string]any{"a": many("x", 10_000)},
			detail: "the parameters are too many to be checked against this schema",
		},
		"ManyNamesMissing": {
			reason: "each of these objects would lack each of these names",
			schema: `{"properties":{"a":{"items":{"required":` + list("[]", `"name#i"`, 30) + `}}}}`,
			values: map[string]any{"a": many(map[string]any{}, 20_000)},
			detail: "the parameters are too many to be checked against this schema",
		},
		"PatternsOfBytes": {
			reason: "too long a text for this pattern",
			schema: `{"properties":{"a":{"pattern":"(x+x+y){200}"}}}`,
			values: sized("a", maxBytes),
			detail: "the parameters are too many to be checked against this schema",
		},
		"ShortForPattern": {reason: "a short one is fine", schema: `{"properties":{"a":{"pattern":"^(x+x+y){0,200}x*$"}}}`, values: sized("a", 1000)},
		"LongNumber": {
			reason: "a number that is a million digits",
			schema: `{"properties":{"a":{"maximum":1}}}`,
			values: decode(t, `{"b":1,"a":[1e1000000]}`),
			detail: `the number at "/a/0" is beyond what can be checked`,
		},
		"LongDigits": {
			reason: "or many written out",
			schema: `{"properties":{"a":{"maximum":1}}}`,
			values: decode(t, `{"a":`+strings.Repeat("9", 401)+`}`),
			detail: `the number at "/a" is beyond what can be checked`,
		},
		"LargeFloat": {
			reason: "what the API server can store is fine",
			schema: `{"properties":{"a":{"type":"number"}}}`,
			values: decode(t, `{"a":1.7976931348623157e+308}`),
		},
		"TooDeep": {
			reason: "values that no decoder gave",
			schema: `{}`,
			values: tower(10_000),
			detail: `the nesting at ` + fmt.Sprintf("%q", strings.Repeat("/a/0", 32)) + ` is beyond what can be checked`,
		},
		"TooDeepArray": {
			reason: "nor in an array",
			schema: `{}`,
			values: map[string]any{"b": tower(64)},
			detail: `the nesting at ` + fmt.Sprintf("%q", "/b"+strings.Repeat("/a/0", 31)+"/a") + ` is beyond what can be checked`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := compiled(t, tc.schema).Check(tc.values)
			if tc.detail == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			var refused *merge.SchemaError
			require.ErrorAs(t, err, &refused, tc.reason)
			assert.Equal(t, merge.SchemaError{Reason: merge.OverBudget, Detail: tc.detail}, *refused, tc.reason)
		})
	}
}

// FuzzCompile: no text makes the compiler panic, and what compiles can judge anything in bounded time.
func FuzzCompile(f *testing.F) {
	for _, schema := range []string{
		`{}`, `{"$ref":"#"}`, `{"id":"#","properties":{"a":{"id":"#foo"}}}`, `{"id":"http://[::1"}`, doubling(3), `{"patternProperties":{"a":{"$ref":"#"}}}`,
		`{` + d2020 + `"$defs":{"x":{"$anchor":"y"}},"properties":{"a":{"$ref":"#y"}},"unevaluatedProperties":false}`, `{` + d2019 + `"$recursiveRef":"#"}`,
		`{"items":[{}],"additionalItems":{"enum":[1,{"a":[null]}]},"uniqueItems":true}`, `{"dependencies":{"a":{"required":["b"]},"c":["d"]}}`,
	} {
		f.Add([]byte(schema), []byte(`{"a":{"a":[1,"x",{"b":null}]},"c":1}`))
	}
	f.Fuzz(func(t *testing.T, raw, values []byte) {
		schema, err := merge.Compile(raw)
		if err != nil {
			var refused *merge.SchemaError
			require.ErrorAs(t, err, &refused)
			return
		}
		partial, err := schema.Partial()
		require.NoError(t, err)
		in, err := merge.Decode(values)
		if err != nil {
			return
		}
		for _, s := range []*merge.Schema{schema, partial} {
			report, err := s.Check(in)
			if err == nil {
				assert.LessOrEqual(t, len(report.Violations), report.Total)
			}
		}
	})
}
