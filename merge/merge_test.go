package merge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

// decode reads a test's JSON; "" is a layer with nothing to say.
func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	values, err := merge.Decode([]byte(text))
	require.NoError(t, err)
	return values
}

// canonical is the text of a value, to compare results exactly: numbers by their digits, and {} apart from absent.
func canonical(t testing.TB, value any) string {
	t.Helper()
	text, err := merge.Canonical(value)
	require.NoError(t, err)
	return string(text)
}

// layers are class, plan and user from JSON texts.
func layers(t testing.TB, class, plan, user string) []merge.Layer {
	t.Helper()
	return []merge.Layer{
		{Name: "class", Values: decode(t, class)},
		{Name: "plan", Values: decode(t, plan)},
		{Name: "user", Values: decode(t, user)},
	}
}

func TestLayersValues(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 253)
	cases := map[string]struct {
		reason            string
		class, plan, user string
		want              string // what is stored
		sent              string // what a broker is sent; "" if the same
	}{
		"ProposalByPlan": {
			reason: "the proposal's example: plan over class, user over both",
			class:  `{"sslEnforcement":"disabled","firewallRules":[{"name":"AllowAll"}]}`,
			plan:   `{"sslEnforcement":"enabled","cores":2}`,
			user:   `{"location":"westus","cores":4}`,
			want:   `{"cores":4,"firewallRules":[{"name":"AllowAll"}],"location":"westus","sslEnforcement":"enabled"}`,
		},
		"RetiredCatalog": {
			reason: "the retired catalog's own test keeps its result",
			class:  `{"secure":false,"class-default":1}`,
			plan:   `{"secure":true,"plan-default":2}`,
			want:   `{"class-default":1,"plan-default":2,"secure":true}`,
		},
		"BigInteger":       {reason: "2^53+1 is not a float64", class: `{"n":9007199254740993}`, user: `{}`, want: `{"n":9007199254740993}`},
		"BigIntegerOfUser": {reason: "nor for the user", class: `{"n":1}`, user: `{"n":9007199254740993}`, want: `{"n":9007199254740993}`},
		"Int64Bounds": {
			reason: "64 bits, both ends",
			class:  `{"a":9223372036854775807}`,
			user:   `{"b":-9223372036854775808}`,
			want:   `{"a":9223372036854775807,"b":-9223372036854775808}`,
		},
		"NumberTextStays":        {reason: "no number is rewritten", class: `{"a":1e3,"b":1.50,"c":-0}`, user: `{"d":1E+2}`, want: `{"a":1e3,"b":1.50,"c":-0,"d":1E+2}`},
		"EmptyObjectOverNothing": {reason: "{} is a value", user: `{"a":{}}`, class: `{"b":1}`, want: `{"a":{},"b":1}`},
		"EmptyObjectOverObject":  {reason: "{} merges: it adds nothing", class: `{"a":{"x":1}}`, user: `{"a":{}}`, want: `{"a":{"x":1}}`},
		"EmptyObjectOverScalar":  {reason: "{} replaces a scalar", class: `{"a":1}`, user: `{"a":{}}`, want: `{"a":{}}`},
		"EmptyObjectDefault":     {reason: "a default may be {}", class: `{"a":{}}`, user: `{}`, want: `{"a":{}}`},
		"EmptyArrayOverArray":    {reason: "arrays are replaced whole, by [] too", class: `{"a":[1,2]}`, user: `{"a":[]}`, want: `{"a":[]}`},
		"EmptyArrayDefault":      {reason: "a default may be []", class: `{"a":[]}`, user: `{}`, want: `{"a":[]}`},
		"ArraysDoNotMerge":       {reason: "no element-wise merge", class: `{"a":[{"x":1},{"y":2}]}`, user: `{"a":[{"z":3}]}`, want: `{"a":[{"z":3}]}`},
		"EmptyStringOverString":  {reason: `"" is a value`, class: `{"a":"x"}`, user: `{"a":""}`, want: `{"a":""}`},
		"FalseOverTrue":          {reason: "false is a value", class: `{"a":true}`, user: `{"a":false}`, want: `{"a":false}`},
		"ZeroOverNumber":         {reason: "0 is a value", class: `{"a":7}`, user: `{"a":0}`, want: `{"a":0}`},
		"NullOverDefault": {
			reason: "stored, so that a second apply changes nothing, and not sent",
			class:  `{"a":1,"b":2}`,
			user:   `{"a":null}`,
			want:   `{"a":null,"b":2}`,
			sent:   `{"b":2}`,
		},
		"NullOverNothing": {reason: "sent as it is, as before", class: `{"b":2}`, user: `{"a":null}`, want: `{"a":null,"b":2}`},
		"NullAlone":       {reason: "without defaults too", user: `{"a":null}`, want: `{"a":null}`},
		"NullOverObject":  {reason: "takes the whole subtree", class: `{"a":{"x":{"y":1}}}`, user: `{"a":null}`, want: `{"a":null}`, sent: `{}`},
		"NullOverFalsy": {
			reason: "false, 0, empty ones are defaults all the same",
			class:  `{"a":false,"b":0,"c":"","d":[],"e":{}}`,
			user:   `{"a":null,"b":null,"c":null,"d":null,"e":null}`,
			want:   `{"a":null,"b":null,"c":null,"d":null,"e":null}`,
			sent:   `{}`,
		},
		"NestedNullOverDefault": {
			reason: "at any depth",
			class:  `{"a":{"b":{"c":1,"d":2}}}`,
			user:   `{"a":{"b":{"c":null}}}`,
			want:   `{"a":{"b":{"c":null,"d":2}}}`,
			sent:   `{"a":{"b":{"d":2}}}`,
		},
		"NestedNullOverNothing":   {reason: "beside a default", class: `{"a":{"b":1}}`, user: `{"a":{"c":null}}`, want: `{"a":{"b":1,"c":null}}`},
		"NestedNullOverScalar":    {reason: "an object over a scalar has nothing below it", class: `{"a":5}`, user: `{"a":{"b":null}}`, want: `{"a":{"b":null}}`},
		"NullInArray":             {reason: "arrays are not looked into", class: `{"a":[1]}`, user: `{"a":[null,{"b":null}]}`, want: `{"a":[null,{"b":null}]}`},
		"PlanNullOverClass":       {reason: "in a default layer the key is gone", class: `{"a":1,"b":2}`, plan: `{"a":null}`, user: `{}`, want: `{"b":2}`},
		"PlanNullOverClassNested": {reason: "and its object stays", class: `{"a":{"x":1}}`, plan: `{"a":{"x":null}}`, user: `{}`, want: `{"a":{}}`},
		"PlanNullOverNothing":     {reason: "stays a null and is sent", class: `{"b":2}`, plan: `{"a":null}`, user: `{}`, want: `{"a":null,"b":2}`},
		"PlanNullThenUserNull": {
			reason: "the plan took it away: the user's null is over nothing",
			class:  `{"a":1}`,
			plan:   `{"a":null}`,
			user:   `{"a":null}`,
			want:   `{"a":null}`,
		},
		"PlanNullOverClassNull":   {reason: "a null of the class is a key", class: `{"a":null}`, plan: `{"a":null}`, user: `{}`, want: `{}`},
		"PlanNullThenUserValue":   {reason: "the user starts over", class: `{"a":{"x":1}}`, plan: `{"a":null}`, user: `{"a":{"y":2}}`, want: `{"a":{"y":2}}`},
		"UserNullOverNullDefault": {reason: "they agree: nothing is taken away", plan: `{"a":null}`, user: `{"a":null}`, want: `{"a":null}`},
		"UserValueOverNull":       {reason: "a default null is replaced", plan: `{"a":null}`, user: `{"a":{"x":1}}`, want: `{"a":{"x":1}}`},
		"ObjectOverScalarAndBack": {
			reason: "kinds change freely",
			class:  `{"a":1,"b":{"x":1}}`,
			plan:   `{"a":{"x":1},"b":2}`,
			user:   `{"a":3,"b":{"y":1}}`,
			want:   `{"a":3,"b":{"y":1}}`,
		},
		"ObjectOverArray": {reason: "an array is no object", class: `{"a":[1]}`, user: `{"a":{"0":2}}`, want: `{"a":{"0":2}}`},
		"KeysWithSlashAndTilde": {
			reason: "keys are not paths",
			class:  `{"a/b":{"c~d":1,"~1":2}}`,
			user:   `{"a/b":{"c~d":null}}`,
			want:   `{"a/b":{"c~d":null,"~1":2}}`,
			sent:   `{"a/b":{"~1":2}}`,
		},
		"KeysUnicode":        {reason: "nor ASCII", class: `{"größe":1,"ключ":{"é":1}}`, user: `{"ключ":{"é":2,"😀":3}}`, want: `{"größe":1,"ключ":{"é":2,"😀":3}}`},
		"KeyOf253":           {reason: "long keys are kept", class: `{"` + long + `":{"a":1}}`, user: `{"` + long + `":{"b":2}}`, want: `{"` + long + `":{"a":1,"b":2}}`},
		"EmptyKey":           {reason: "the empty key is a key", class: `{"":{"":1}}`, user: `{"":{"a":2}}`, want: `{"":{"":1,"a":2}}`},
		"NoHTMLEscapes":      {reason: "text is left as it is", class: `{"a":"<&>"}`, user: `{}`, want: `{"a":"<&>"}`},
		"NoDefaults":         {reason: "nothing changes", user: `{"b":[1,{"c":2}],"a":{}}`, want: `{"a":{},"b":[1,{"c":2}]}`},
		"NoUser":             {reason: "defaults alone", class: `{"a":{"x":1}}`, plan: `{"a":{"y":2}}`, want: `{"a":{"x":1,"y":2}}`},
		"NothingAtAll":       {reason: "nil stays nil", want: `null`},
		"OnlyEmptyDefaults":  {reason: "an empty default is none: parameters stay absent", class: `{}`, plan: `{}`, want: `null`},
		"DefaultsThatCancel": {reason: "likewise where the plan takes all away", class: `{"a":1}`, plan: `{"a":null}`, want: `null`},
		"EmptyUser":          {reason: "{} stays {}", class: `{}`, user: `{}`, want: `{}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := merge.Layers(layers(t, tc.class, tc.plan, tc.user)...)
			require.NoError(t, err, tc.reason)
			assert.Equal(t, tc.want, canonical(t, result.Values), tc.reason)
			sent := tc.sent
			if sent == "" {
				sent = tc.want
			}
			assert.Equal(t, sent, canonical(t, result.Sent()), tc.reason)
		})
	}
}

// additions is Added as text, in its order.
func additions(t *testing.T, result merge.Result) []string {
	t.Helper()
	var list []string
	for _, a := range result.Added {
		list = append(list, string(a.Pointer)+" "+canonical(t, a.Value))
	}
	return list
}

func TestLayersProvenance(t *testing.T) {
	t.Parallel()
	type origin = map[merge.Pointer]string
	cases := map[string]struct {
		reason            string
		class, plan, user string
		origin            origin
		removed           []merge.Pointer
		added             []string
	}{
		"EachItsOwn": {
			reason: "one key of each layer",
			class:  `{"c":1}`, plan: `{"p":2}`, user: `{"u":3}`,
			origin: origin{"/c": "class", "/p": "plan", "/u": "user"},
			added:  []string{"/c 1", "/p 2"},
		},
		"Overridden": {
			reason: "the highest layer wins, and what the user has is not added",
			class:  `{"a":1,"b":1}`, plan: `{"a":2,"b":2}`, user: `{"a":3}`,
			origin: origin{"/a": "user", "/b": "plan"},
			added:  []string{"/b 2"},
		},
		"UniformSubtree": {
			reason: "a subtree of one layer has one root",
			plan:   `{"a":{"b":{"c":1},"d":[{"e":1}]}}`, user: `{}`,
			origin: origin{"/a": "plan"},
			added:  []string{`/a {"b":{"c":1},"d":[{"e":1}]}`},
		},
		"SubtreeOfTwoDefaults": {
			reason: "added whole, recorded by its parts",
			class:  `{"a":{"x":1}}`, plan: `{"a":{"y":2}}`, user: `{}`,
			origin: origin{"/a/x": "class", "/a/y": "plan"},
			added:  []string{`/a {"x":1,"y":2}`},
		},
		"SubtreeCoveredByPlan": {
			reason: "the plan repeats all that the class has: it is the plan's, whole",
			class:  `{"a":{"x":1,"z":{"w":1}}}`, plan: `{"a":{"x":2,"z":{"w":2}}}`, user: `{}`,
			origin: origin{"/a": "plan"},
			added:  []string{`/a {"x":2,"z":{"w":2}}`},
		},
		"IntoTheUsersObject": {
			reason: "the object is the user's: only what it lacks is added",
			class:  `{"a":{"x":1,"b":{"y":2}}}`, user: `{"a":{"b":{"u":0}}}`,
			origin: origin{"/a/x": "class", "/a/b/y": "class", "/a/b/u": "user"},
			added:  []string{"/a/b/y 2", "/a/x 1"},
		},
		"IntoTheUsersEmptyObject": {
			reason: "even one with nothing in it",
			class:  `{"a":{"x":1}}`, user: `{"a":{}}`,
			origin: origin{"/a/x": "class"},
			added:  []string{"/a/x 1"},
		},
		"EmptiedByPlan": {
			reason: "what is left of it is the plan's",
			class:  `{"a":{"x":1}}`, plan: `{"a":{"x":null}}`, user: `{}`,
			origin: origin{"/a": "plan"},
			added:  []string{"/a {}"},
		},
		"Nulls": {
			reason: "taken away: in order, and the user's; over nothing: just the user's",
			class:  `{"b":{"y":1,"x":1},"a":1}`, user: `{"b":{"x":null,"y":null},"a":null,"n":null}`,
			origin:  origin{"/a": "user", "/b/x": "user", "/b/y": "user", "/n": "user"},
			removed: []merge.Pointer{"/a", "/b/x", "/b/y"},
		},
		"NullDefault": {
			reason: "a null that stays is added like any value",
			plan:   `{"a":null}`, user: `{}`,
			origin: origin{"/a": "plan"},
			added:  []string{"/a null"},
		},
		"EscapedPointers": {
			reason: "~ before /, in nested keys too",
			class:  `{"a/b":{"~":1},"~1":2}`, user: `{"a/b":{"/":1}}`,
			origin: origin{"/a~1b/~0": "class", "/a~1b/~1": "user", "/~01": "class"},
			added:  []string{"/a~1b/~0 1", "/~01 2"},
		},
		"NoUserLayer": {
			reason: "parameters are absent: the whole document is added, once",
			class:  `{"a":{"x":1}}`, plan: `{"b":2}`,
			origin: origin{"/a": "class", "/b": "plan"},
			added:  []string{` {"a":{"x":1},"b":2}`},
		},
		"NoDefaults": {
			reason: "all is the user's",
			user:   `{"a":{"x":1},"b/":2}`,
			origin: origin{"/a": "user", "/b~1": "user"},
		},
		"Nothing": {reason: "nothing comes from nowhere"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := merge.Layers(layers(t, tc.class, tc.plan, tc.user)...)
			require.NoError(t, err, tc.reason)
			assert.Empty(t, cmp.Diff(tc.origin, result.Origin), tc.reason)
			assert.Equal(t, tc.removed, result.Removed, tc.reason)
			assert.Equal(t, tc.added, additions(t, result), tc.reason)
		})
	}
}

func TestLayersOfNoneAndOne(t *testing.T) {
	t.Parallel()
	none, err := merge.Layers()
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(merge.Result{}, none))

	values := decode(t, `{"a":null,"b":{"c":1}}`)
	one, err := merge.Layers(merge.Layer{Name: "user", Values: values})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(values, one.Values))
	assert.Empty(t, one.Removed)
	assert.Empty(t, one.Added)
}

func TestOriginOf(t *testing.T) {
	t.Parallel()
	result, err := merge.Layers(layers(t, `{"a":{"x":{"deep":[1]}},"m":{"c":1}}`, `{"m":{"p":1}}`, `{"u":{"v":1}}`)...)
	require.NoError(t, err)
	cases := map[string]struct {
		reason string
		at     merge.Pointer
		want   string
	}{
		"Root":        {reason: "the root itself", at: "/a", want: "class"},
		"Inside":      {reason: "anything below a root", at: "/a/x/deep/0", want: "class"},
		"Missing":     {reason: "a property that would be there", at: "/a/nope", want: "class"},
		"Mixed":       {reason: "two layers gave it", at: "/m", want: ""},
		"InsideMixed": {reason: "each part has one", at: "/m/p", want: "plan"},
		"Users":       {reason: "the user's", at: "/u/v", want: "user"},
		"Document":    {reason: "the document has none", at: "", want: ""},
		"Unknown":     {reason: "it was not given", at: "/zz", want: ""},
		"SamePrefix":  {reason: "a key that begins alike is another key", at: "/ab", want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, result.OriginOf(tc.at), tc.reason)
		})
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason        string
		values        string
		removed       []merge.Pointer
		want, wantAny string // what Without and Omit leave
	}{
		"Nulls":        {reason: "keys that hold a null go", values: `{"a":null,"b":{"c":null,"d":1}}`, removed: []merge.Pointer{"/a", "/b/c"}, want: `{"b":{"d":1}}`, wantAny: `{"b":{"d":1}}`},
		"ValueSince":   {reason: "a value that the user gave since stays", values: `{"a":5,"b":{}}`, removed: []merge.Pointer{"/a", "/b"}, want: `{"a":5,"b":{}}`, wantAny: `{}`},
		"OtherKeys":    {reason: "only the listed ones", values: `{"a":null,"b":null}`, removed: []merge.Pointer{"/b"}, want: `{"a":null}`, wantAny: `{"a":null}`},
		"SameObject":   {reason: "several keys of one object", values: `{"a":{"b":null,"c":2,"d":3}}`, removed: []merge.Pointer{"/a/b", "/a/d"}, want: `{"a":{"c":2,"d":3}}`, wantAny: `{"a":{"c":2}}`},
		"Gone":         {reason: "a pointer to nothing is passed over", values: `{"a":1}`, removed: []merge.Pointer{"/x", "/a/b", "/x/y"}, want: `{"a":1}`, wantAny: `{"a":1}`},
		"Array":        {reason: "an item is not a key", values: `{"a":[null]}`, removed: []merge.Pointer{"/a/0"}, want: `{"a":[null]}`, wantAny: `{"a":[null]}`},
		"Escaped":      {reason: "tokens are unescaped", values: `{"a/b":{"~1":null}}`, removed: []merge.Pointer{"/a~1b/~01"}, want: `{"a/b":{}}`, wantAny: `{"a/b":{}}`},
		"Root":         {reason: "the document is never removed", values: `{"a":1}`, removed: []merge.Pointer{"", "rubbish"}, want: `{"a":1}`, wantAny: `{"a":1}`},
		"BothLevels":   {reason: "a key and one below it, in a forged list", values: `{"a":{"b":null}}`, removed: []merge.Pointer{"/a", "/a/b"}, want: `{"a":{}}`, wantAny: `{}`},
		"NothingAtAll": {reason: "nil stays nil", values: ``, removed: []merge.Pointer{"/a"}, want: `null`, wantAny: `null`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := decode(t, tc.values)
			assert.Equal(t, tc.want, canonical(t, merge.Without(values, tc.removed)), tc.reason)
			assert.Equal(t, tc.wantAny, canonical(t, merge.Omit(values, tc.removed)), tc.reason)
			assert.Empty(t, cmp.Diff(decode(t, tc.values), values), "values must not change")
		})
	}
}

// TestResultOwnsItsDefaults: defaults come from a cache, so nothing that a caller does to a result may reach them.
func TestResultOwnsItsDefaults(t *testing.T) {
	t.Parallel()
	class, plan := `{"a":{"x":{"y":[{"z":1}]}},"c":[[1],{"d":1}]}`, `{"a":{"x":{"w":{"v":1}}},"p":{"q":{}}}`
	in := layers(t, class, plan, `{"u":1,"a":{}}`)
	result, err := merge.Layers(in...)
	require.NoError(t, err)
	scribble(result.Values)
	scribble(result.Sent())
	assert.Empty(t, cmp.Diff(decode(t, class), in[0].Values))
	assert.Empty(t, cmp.Diff(decode(t, plan), in[1].Values))
}

// scribble changes every container below a value.
func scribble(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, item := range v {
			scribble(item)
		}
		v["scribbled"] = true
	case []any:
		for i, item := range v {
			scribble(item)
			v[i] = "scribbled"
		}
	}
}
