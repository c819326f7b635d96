package merge_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

// compiled compiles a schema that must compile.
func compiled(t testing.TB, schema string) *merge.Schema {
	t.Helper()
	s, err := merge.Compile([]byte(schema))
	require.NoError(t, err)
	return s
}

// found checks values and writes the violations down.
func found(t testing.TB, s *merge.Schema, values string) []string {
	t.Helper()
	report, err := s.Check(decode(t, values))
	require.NoError(t, err)
	var list []string
	for _, v := range report.Violations {
		list = append(list, string(v.Pointer)+" ["+v.Keyword+"] "+v.Message)
	}
	if len(list) < 8 {
		assert.Len(t, list, report.Total)
	}
	return list
}

const (
	draft6 = `"$schema":"http://json-schema.org/draft-06/schema#",`
	draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	d2019  = `"$schema":"https://json-schema.org/draft/2019-09/schema",`
	d2020  = `"$schema":"https://json-schema.org/draft/2020-12/schema",`
)

func TestCheck(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		schema string
		values string
		want   []string
	}{
		"Good":     {reason: "nothing to say", schema: `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, values: `{"a":1}`},
		"NoValues": {reason: "absent parameters are an empty object", schema: `{"type":"object"}`, values: ``},
		"NoValuesRequired": {
			reason: "and so lack what is required",
			schema: `{"required":["b","a"]}`,
			values: ``,
			want:   []string{`/a [required] is required`, `/b [required] is required`},
		},
		"Type": {
			reason: "what it is allowed to be",
			schema: `{"properties":{"a":{"type":"integer"}}}`,
			values: `{"a":"hunter2"}`,
			want:   []string{`/a [type] must be of type integer, not string`},
		},
		"Types": {
			reason: "several types",
			schema: `{"properties":{"a":{"type":["string","null"]}}}`,
			values: `{"a":1}`,
			want:   []string{`/a [type] must be of type null or string, not number`},
		},
		"Integer64": {
			reason: "numbers are exact",
			schema: `{"properties":{"a":{"maximum":9007199254740992}}}`,
			values: `{"a":9007199254740993}`,
			want:   []string{`/a [maximum] must be at most 9007199254740992`},
		},
		"IntegerAsDecimal": {reason: "1.0 is an integer", schema: `{"properties":{"a":{"type":"integer"}}}`, values: `{"a":1.0}`},
		"Enum": {
			reason: "the allowed values, sorted",
			schema: `{"properties":{"a":{"enum":["west<us","eastus",3,null]}}}`,
			values: `{"a":"hunter2"}`,
			want:   []string{`/a [enum] must be one of "eastus", "west<us", 3, null`},
		},
		"EnumLong": {
			reason: "not all of too many",
			schema: `{"properties":{"a":{"enum":[11,12,13,14,15,16,17,18,19,20,21,22]}}}`,
			values: `{"a":1}`,
			want:   []string{`/a [enum] must be one of 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 2 more`},
		},
		"Additional": {
			reason: "each by its path",
			schema: `{"properties":{"a":{}},"additionalProperties":false}`,
			values: `{"a":1,"z/":2,"b":3}`,
			want: []string{
				`/b [additionalProperties] is not a property that the schema allows`,
				`/z~1 [additionalProperties] is not a property that the schema allows`,
			},
		},
		"Nested": {
			reason: "through objects and arrays",
			schema: `{"properties":{"a":{"items":{"required":["x"]}}}}`,
			values: `{"a":[{"x":1},{}]}`,
			want:   []string{`/a/1/x [required] is required`},
		},
		"Bounds": {
			reason: "numbers as people write them",
			schema: `{"properties":{"a":{"minimum":0.1},"b":{"minimum":1,"exclusiveMinimum":true},"c":{"maximum":3,"exclusiveMaximum":true},"d":{"multipleOf":0.25}}}`,
			values: `{"a":0,"b":1,"c":3,"d":0.3}`,
			want: []string{
				`/a [minimum] must be at least 0.1`,
				`/b [exclusiveMinimum] must be more than 1`,
				`/c [exclusiveMaximum] must be less than 3`,
				`/d [multipleOf] must be a multiple of 0.25`,
			},
		},
		"Lengths": {
			reason: "in characters",
			schema: `{"properties":{"a":{"minLength":2},"b":{"maxLength":1}}}`,
			values: `{"a":"é","b":"hunter2"}`,
			want:   []string{`/a [minLength] must have at least 2 characters`, `/b [maxLength] must have at most 1 characters`},
		},
		"Pattern": {
			reason: "the pattern, not the value",
			schema: `{"properties":{"a":{"pattern":"^[a-z]+$"}}}`,
			values: `{"a":"hunter2"}`,
			want:   []string{`/a [pattern] must match the pattern "^[a-z]+$"`},
		},
		"Format": {
			reason: "the format, not the value",
			schema: `{"properties":{"a":{"format":"ipv4"},"b":{"format":"made-up"}}}`,
			values: `{"a":"hunter2","b":"x"}`,
			want:   []string{`/a [format] must be a valid ipv4`},
		},
		"FormatRegex": {
			reason: "a user's pattern is bounded too",
			schema: `{"properties":{"a":{"format":"regex"}}}`,
			values: `{"a":"((a{100}){100}){100}"}`,
			want: []string{
				`/a [format] must be a pattern of the RE2 syntax, of at most 2000 instructions once its repeats are unrolled`,
			},
		},
		"Arrays": {
			reason: "counts and equal items",
			schema: `{"properties":{"a":{"minItems":2},"b":{"maxItems":1},"c":{"uniqueItems":true},"d":{"items":[{}],"additionalItems":false}}}`,
			values: `{"a":[1],"b":[1,2],"c":["hunter2",1,"hunter2"],"d":[1,2,3]}`,
			want: []string{
				`/a [minItems] must have at least 2 items`,
				`/b [maxItems] must have at most 1 items`,
				`/c [uniqueItems] must not have equal items, as at 0 and 2`,
				`/d [additionalItems] must have 2 items less`,
			},
		},
		"Properties": {
			reason: "counts of keys",
			schema: `{"properties":{"a":{"minProperties":1},"b":{"maxProperties":1}}}`,
			values: `{"a":{},"b":{"x":1,"y":2}}`,
			want: []string{
				`/a [minProperties] must have at least 1 properties`,
				`/b [maxProperties] must have at most 1 properties`,
			},
		},
		"Dependencies": {
			reason: "what one key needs",
			schema: `{"dependencies":{"a":["b"]}}`,
			values: `{"a":1}`,
			want:   []string{`/b [dependencies] is required where "a" is given`},
		},
		"AllOf": {
			reason: "each part by itself, no part twice",
			schema: `{"allOf":[{"required":["a"]},{"required":["a","b"]}]}`,
			values: `{}`,
			want:   []string{`/a [required] is required`, `/b [required] is required`},
		},
		"AnyOf": {
			reason: "where the choice is",
			schema: `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`,
			values: `{"a":1}`,
			want:   []string{`/a [anyOf] must match at least one of the schema's alternatives`},
		},
		"OneOfNone": {
			reason: "none",
			schema: `{"properties":{"a":{"oneOf":[{"minimum":5},{"minimum":6}]}}}`,
			values: `{"a":1}`,
			want:   []string{`/a [oneOf] must match exactly one of the schema's alternatives, and matches none`},
		},
		"OneOfTwo": {
			reason: "more than one",
			schema: `{"properties":{"a":{"oneOf":[{"minimum":5},{"minimum":6}]}}}`,
			values: `{"a":7}`,
			want:   []string{`/a [oneOf] must match exactly one of the schema's alternatives, and matches more`},
		},
		"Not": {
			reason: "excluded",
			schema: `{"properties":{"a":{"not":{"type":"string"}}}}`,
			values: `{"a":"hunter2"}`,
			want:   []string{`/a [not] must not match what the schema excludes`},
		},
		"Ref": {
			reason: "within the document",
			schema: `{"definitions":{"port":{"maximum":65535}},"properties":{"a":{"$ref":"#/definitions/port"}}}`,
			values: `{"a":70000}`,
			want:   []string{`/a [maximum] must be at most 65535`},
		},
		"RefByID": {
			reason: "the document's own id is no outside",
			schema: `{"id":"http://example.com/s","definitions":{"x":{"required":["q"]}},"allOf":[{"$ref":"http://example.com/s#/definitions/x"}]}`,
			values: `{}`,
			want:   []string{`/q [required] is required`},
		},
		"Draft4IsTheDefault": {reason: "const is of draft 6", schema: `{"properties":{"a":{"const":1}}}`, values: `{"a":2}`},
		"ConstOfDraft6": {
			reason: "and counts there",
			schema: `{` + draft6 + `"properties":{"a":{"const":1}}}`,
			values: `{"a":2}`,
			want:   []string{`/a [const] must be 1`},
		},
		"PropertyNames": {
			reason: "the name's place",
			schema: `{` + draft6 + `"propertyNames":{"maxLength":2}}`,
			values: `{"abc":1}`,
			want:   []string{`/abc [propertyNames] has a name that the schema does not allow`},
		},
		"FalseSchema": {
			reason: "nothing is allowed there",
			schema: `{` + draft6 + `"properties":{"a":false}}`,
			values: `{"a":1}`,
			want:   []string{`/a [false] is not allowed by the schema`},
		},
		"ContainsOfDraft6": {
			reason: "one item at least",
			schema: `{` + draft6 + `"properties":{"a":{"contains":{"type":"integer"}}}}`,
			values: `{"a":["hunter2"]}`,
			want:   []string{`/a [contains] must have an item that the schema asks for`},
		},
		"IfThenOfDraft7": {
			reason: "conditions",
			schema: `{` + draft7 + `"if":{"required":["a"]},"then":{"required":["b"]}}`,
			values: `{"a":1}`,
			want:   []string{`/b [required] is required`},
		},
		"DependentOf2019": {
			reason: "the newer word",
			schema: `{` + d2019 + `"dependentRequired":{"a":["b"]},"dependentSchemas":{"a":{"required":["c"]}}}`,
			values: `{"a":1}`,
			want:   []string{`/b [dependentRequired] is required where "a" is given`, `/c [required] is required`},
		},
		"CountedContainsOf2019": {
			reason: "how many",
			schema: `{` + d2019 + `"properties":{"a":{"contains":{"type":"integer"},"minContains":2},"b":{"contains":{"type":"integer"},"maxContains":1}}}`,
			values: `{"a":[1],"b":[1,2]}`,
			want: []string{
				`/a [minContains] must have at least 2 items that the schema asks for`,
				`/b [maxContains] must have at most 1 items that the schema asks for`,
			},
		},
		"PrefixItemsOf2020": {
			reason: "items by position",
			schema: `{` + d2020 + `"properties":{"a":{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}}}`,
			values: `{"a":["x","y"]}`,
			want:   []string{`/a/1 [type] must be of type integer, not string`},
		},
		"UnevaluatedOf2020": {
			reason: "what no part knew",
			schema: `{` + d2020 + `"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`,
			values: `{"a":1,"b":2}`,
			want:   []string{`/b [false] is not allowed by the schema`},
		},
		"MetaSchemaIsBuiltIn": {
			reason: "the drafts' own schemas are within",
			schema: `{"properties":{"a":{"$ref":"http://json-schema.org/draft-04/schema#"}}}`,
			values: `{"a":{"type":"objet"}}`,
			want:   []string{`/a/type [anyOf] must match at least one of the schema's alternatives`},
		},
		"KeywordsAsNames": {
			reason: "a property may be called like a keyword",
			schema: `{"properties":{"$ref":{"type":"string"},"id":{"type":"string"},"enum":{"type":"string"}}}`,
			values: `{"$ref":1,"id":2,"enum":"x"}`,
			want:   []string{`/$ref [type] must be of type string, not number`, `/id [type] must be of type string, not number`},
		},
		"CustomKeywords": {
			reason: "brokers' own words are ignored",
			schema: `{"properties":{"a":{"type":"string","prescribed":true,"prohibitUpdate":1}}}`,
			values: `{"a":"x"}`,
		},
		"PatternProperties": {
			reason: "by name",
			schema: `{"patternProperties":{"^s_":{"type":"string"}},"additionalProperties":{"type":"integer"}}`,
			values: `{"s_a":1,"b":"x"}`,
			want:   []string{`/b [type] must be of type integer, not string`, `/s_a [type] must be of type string, not number`},
		},
		"Tree": {
			reason: "a schema that contains itself a level deeper is no circle",
			schema: `{"definitions":{"n":{"type":"object","required":["v"],"properties":{"l":{"$ref":"#/definitions/n"},"r":{"$ref":"#/definitions/n"}}}},"properties":{"t":{"$ref":"#/definitions/n"}}}`,
			values: `{"t":{"v":1,"l":{"v":1,"r":{}}}}`,
			want:   []string{`/t/l/r/v [required] is required`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := found(t, compiled(t, tc.schema), tc.values)
			assert.Empty(t, cmp.Diff(tc.want, got), tc.reason)
			assert.NotContains(t, strings.Join(got, "\n"), "hunter2", "no value is shown")
		})
	}
}

func TestCheckIsBoundedAndSorted(t *testing.T) {
	t.Parallel()
	s := compiled(t, `{"additionalProperties":{"type":"string"}}`)
	values := map[string]any{}
	for key := range strings.FieldsSeq("k l m a b c d e f g h i j n o p") {
		values[key] = true
	}
	for range 20 { // the validator walks maps in another order each time
		report, err := s.Check(values)
		require.NoError(t, err)
		require.Equal(t, 16, report.Total)
		require.Len(t, report.Violations, 8)
		for i, key := range strings.Fields("a b c d e f g h") {
			require.Equal(t, merge.Pointer("/"+key), report.Violations[i].Pointer)
		}
	}
}

func TestPartial(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		schema string
		values string
		whole  []string
		part   []string
	}{
		"Required": {
			reason: "the Secret may bring it, at any depth; what is there is still judged",
			schema: `{"required":["password"],"properties":{"size":{"type":"integer"},"o":{"required":["x"],"minProperties":2}}}`,
			values: `{"size":"big","o":{}}`,
			whole:  []string{`/o [minProperties] must have at least 2 properties`, `/o/x [required] is required`, `/password [required] is required`, `/size [type] must be of type integer, not string`},
			part:   []string{`/size [type] must be of type integer, not string`},
		},
		"Combinators": {
			reason: "each may hold once the rest is there",
			schema: `{"anyOf":[{"required":["a"]}],"oneOf":[{"required":["b"]}],"allOf":[{"required":["c"]}],"not":{"properties":{"d":{}}},"dependencies":{"x":["y"]}}`,
			values: `{"x":1}`,
			whole: []string{
				` [anyOf] must match at least one of the schema's alternatives`,
				` [not] must not match what the schema excludes`,
				` [oneOf] must match exactly one of the schema's alternatives, and matches none`,
				`/c [required] is required`,
				`/y [dependencies] is required where "x" is given`,
			},
		},
		"NewerWords": {
			reason: "conditions, dependent ones, and what depends on the parts that were left out",
			schema: `{` + d2019 + `"if":{"required":["a"]},"else":{"required":["b"]},"dependentRequired":{"x":["y"]},"dependentSchemas":{"x":{"required":["z"]}},"unevaluatedProperties":false}`,
			values: `{"x":1}`,
			whole: []string{
				`/b [required] is required`, `/x [false] is not allowed by the schema`,
				`/y [dependentRequired] is required where "x" is given`, `/z [required] is required`,
			},
		},
		"UnevaluatedItems": {
			reason: "likewise for items",
			schema: `{` + d2019 + `"properties":{"a":{"allOf":[{"items":[{}]}],"unevaluatedItems":false}}}`,
			values: `{"a":[1,2]}`,
			whole:  []string{`/a/1 [false] is not allowed by the schema`},
		},
		"RefIntoACombinator": {
			reason: "what a reference leads to is found though the combinator is left out",
			schema: `{"allOf":[{"type":"object","required":["x"],"properties":{"n":{"type":"integer"}}}],"properties":{"o":{"$ref":"#/allOf/0"}}}`,
			values: `{"o":{"n":"x"}}`,
			whole:  []string{`/o/n [type] must be of type integer, not string`, `/o/x [required] is required`, `/x [required] is required`},
			part:   []string{`/o/n [type] must be of type integer, not string`},
		},
		"NamesAndValues": {
			reason: "a property named required, and an enum whose values hold the word, are not the keyword",
			schema: `{"properties":{"required":{"type":"boolean"},"allOf":{"enum":["a"]},"e":{"enum":["required"]}}}`,
			values: `{"required":1,"allOf":"b","e":"x"}`,
			whole:  []string{`/allOf [enum] must be one of "a"`, `/e [enum] must be one of "required"`, `/required [type] must be of type boolean, not number`},
			part:   []string{`/allOf [enum] must be one of "a"`, `/e [enum] must be one of "required"`, `/required [type] must be of type boolean, not number`},
		},
		"WholeObjectsAsValues": {
			reason: "an object that a Secret completes may become one of the allowed ones",
			schema: `{` + draft6 + `"enum":[{"a":1,"b":2}],"properties":{"c":{"const":{"x":1}}}}`,
			values: `{"a":1,"c":{}}`,
			whole:  []string{` [enum] must be one of {"a":1,"b":2}`},
		},
		"ConstObject": {
			reason: "likewise const",
			schema: `{` + draft6 + `"properties":{"c":{"const":{"x":1}},"d":{"const":1}}}`,
			values: `{"c":{},"d":2}`,
			whole:  []string{`/c [const] must be {"x":1}`, `/d [const] must be 1`},
			part:   []string{`/d [const] must be 1`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compiled(t, tc.schema)
			partial, err := s.Partial()
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(tc.part, found(t, partial, tc.values)), tc.reason)
			assert.Empty(t, cmp.Diff(tc.whole, found(t, s, tc.values)), "the whole schema is as it was")

			same, err := s.Partial()
			require.NoError(t, err)
			assert.Same(t, partial, same, "compiled once")
			same, err = partial.Partial()
			require.NoError(t, err)
			assert.Same(t, partial, same, "partial of partial is itself")
		})
	}
}

// TestPartialLeavesTheMetaSchemasAlone: what is relaxed must not be shared with later schemas.
func TestPartialLeavesTheMetaSchemasAlone(t *testing.T) {
	t.Parallel()
	_, err := compiled(t, `{"properties":{"a":{"$ref":"http://json-schema.org/draft-04/schema#"}}}`).Partial()
	require.NoError(t, err)
	_, err = merge.Compile([]byte(`{"type":"objet"}`))
	require.Error(t, err, "the metaschema still refuses an unknown type")
}

func TestCheckConcurrently(t *testing.T) {
	t.Parallel()
	s := compiled(t, `{"required":["a"],"properties":{"b":{"pattern":"^x+$"}}}`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				assert.Len(t, found(t, s, `{"b":"y"}`), 2)
				partial, err := s.Partial()
				assert.NoError(t, err)
				assert.Len(t, found(t, partial, `{"b":"y"}`), 1)
			}
		})
	}
	group.Wait()
}

// TestCheckNeverShowsValues puts one secret wherever a schema can fail, and looks for it in all that comes out.
func TestCheckNeverShowsValues(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, keyword := range []string{
		`"type":"integer"`, `"enum":["a"]`, `"const":"a"`, `"pattern":"^a$"`, `"format":"email"`, `"format":"uri"`, `"format":"date-time"`,
		`"format":"ipv6"`, `"format":"regex"`, `"format":"uuid"`, `"format":"json-pointer"`, `"minLength":100`, `"maxLength":1`, `"not":{"type":"string"}`,
		`"anyOf":[{"pattern":"^a$"},{"enum":["b"]}]`, `"oneOf":[{"pattern":"^a$"}]`, `"allOf":[{"pattern":"^a$"}]`, `"if":{"type":"string"},"then":{"maxLength":1}`,
	} {
		s := compiled(t, `{`+draft7+`"properties":{"a":{`+keyword+`}}}`)
		report, err := s.Check(map[string]any{"a": secret + " ((" /* in no format */})
		require.NoError(t, err)
		if !strings.Contains(keyword, "uuid") { // unknown to that draft
			require.NotEmpty(t, report.Violations, keyword)
		}
		for _, v := range report.Violations {
			assert.NotContains(t, v.Message+v.Keyword+string(v.Pointer), secret, keyword)
		}
	}
}
