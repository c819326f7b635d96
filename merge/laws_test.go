package merge_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/merge"
)

// fold is the reference: the rules of the package's table, and nothing else. It changes low.
func fold(low, high map[string]any, user bool) map[string]any {
	for key, value := range high {
		below, present := low[key]
		inner, isObject := value.(map[string]any)
		belowInner, belowIsObject := below.(map[string]any)
		switch {
		case value == nil && present && !user:
			delete(low, key)
		case isObject && belowIsObject:
			low[key] = fold(belowInner, inner, user)
		default:
			low[key] = value
		}
	}
	return low
}

// seeds are the corpus of the fuzz targets: each line a class, a plan and a user.
var seeds = [][3]string{
	{`{"a":1}`, `{"a":2,"b":{"c":3}}`, `{"b":{"d":4}}`},
	{`{"a":{"b":{"c":1}},"n":9007199254740993}`, `{"a":{"b":null}}`, `{"a":{"b":{"x":null}},"n":null}`},
	{`{"a":null}`, `{"a":null,"b":null}`, `{"a":null,"b":null}`},
	{`{"a":1,"b":{"x":1}}`, `{"a":{"x":1},"b":2}`, `{"a":3,"b":{"y":1}}`},
	{`{"a/b":{"~":1}}`, `{"":{"":{}}}`, `{"a/b":{"/":[]},"":{"":[1]}}`},
	{`{"a":{"x":1}}`, `{"a":{"x":null}}`, `{}`},
	{`{"a":[{"b":null}]}`, ``, `{"a":{}}`},
	{`{"a":{"b":1}}`, `{"c":{"d":{}}}`, ``},
	{`{"😀":{"é":false}}`, `{"😀":{"é":0}}`, `{"😀":{"é":""}}`},
	{``, ``, `{"a":1}`},
	{`{}`, `{}`, `null`},
}

func FuzzLaws(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, class, plan, user []byte) {
		in, ok := parsed(class, plan, user)
		if ok {
			lawsHold(t, in)
		}
	})
}

// TestLaws holds the laws over documents that are made to collide: few keys, all kinds of values, at every depth.
func TestLaws(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 1000
	if testing.Short() {
		rounds = 300
	}
	for range rounds {
		in, ok := parsed(document(random), document(random), document(random))
		require.True(t, ok)
		lawsHold(t, in)
	}
}

// document is a random object's text.
func document(random *rand.Rand) []byte {
	text, err := json.Marshal(object(random, 3))
	if err != nil {
		return nil
	}
	return text
}

func object(random *rand.Rand, depth int) map[string]any {
	values := map[string]any{}
	for range random.IntN(5) {
		values[[]string{"a", "b", "a/b", "~", "", "é"}[random.IntN(6)]] = anything(random, depth)
	}
	return values
}

func anything(random *rand.Rand, depth int) any {
	if depth > 0 && random.IntN(2) == 0 {
		return object(random, depth-1)
	}
	scalars := []any{nil, nil, false, true, 0, int64(9007199254740993), "", "x", []any{}, []any{nil, map[string]any{"a": nil}}}
	return scalars[random.IntN(len(scalars))]
}

// parsed are three layers, if all three texts are parameters.
func parsed(texts ...[]byte) ([]merge.Layer, bool) {
	layers := make([]merge.Layer, 0, len(texts))
	for i, text := range texts {
		values, err := merge.Decode(text)
		if err != nil {
			return nil, false
		}
		layers = append(layers, merge.Layer{Name: strconv.Itoa(i), Values: values})
	}
	return layers, true
}

// again decodes a value's own text: a deep copy that shares nothing.
func again(t *testing.T, values map[string]any) map[string]any {
	t.Helper()
	return decode(t, canonical(t, values))
}

func lawsHold(t *testing.T, in []merge.Layer) {
	t.Helper()
	before := make([]string, len(in))
	for i := range in {
		before[i] = canonical(t, in[i].Values)
	}
	result, err := merge.Layers(in...)
	require.NoError(t, err)
	stored, sent := canonical(t, result.Values), canonical(t, result.Sent())

	for i := range in {
		require.Equal(t, before[i], canonical(t, in[i].Values), "inputs are never changed")
	}
	equalsFold(t, in, result)
	fixedPoint(t, in, result)
	addsUp(t, in, result)
	explains(t, in, result)
	agreesWithMergePatch(t, in, result)

	second, err := merge.Layers(in...)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(result, second), "two runs agree in everything")
	require.Equal(t, stored, canonical(t, result.Values))
	require.Equal(t, sent, canonical(t, result.Sent()))
}

// equalsFold: the result is the plain left fold.
func equalsFold(t *testing.T, in []merge.Layer, result merge.Result) {
	t.Helper()
	want := fold(fold(map[string]any{}, again(t, in[0].Values), false), again(t, in[1].Values), false)
	want = fold(want, again(t, in[2].Values), true)
	if len(want) == 0 && in[2].Values == nil {
		require.Nil(t, result.Values, "nothing over nothing stays absent")
		return
	}
	require.Equal(t, canonical(t, want), canonical(t, result.Values), "the result is the left fold")
}

// fixedPoint: what is stored, merged over the same defaults again, stays as it is, in all that follows from it.
func fixedPoint(t *testing.T, in []merge.Layer, result merge.Result) {
	t.Helper()
	again, err := merge.Layers(in[0], in[1], merge.Layer{Name: in[2].Name, Values: result.Values})
	require.NoError(t, err)
	require.Equal(t, canonical(t, result.Values), canonical(t, again.Values), "merging again changes nothing")
	require.Equal(t, canonical(t, result.Sent()), canonical(t, again.Sent()), "nor what is sent")
	require.Equal(t, result.Removed, again.Removed, "nor what was taken away")
	require.Empty(t, again.Added, "and adds nothing")

	alone, err := merge.Layers(merge.Layer{Name: "x", Values: result.Values})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(result.Values, alone.Values), "one layer is itself")
}

// addsUp: the user's document with every addition, applied by a library that knows nothing of this package, is what is stored.
func addsUp(t *testing.T, in []merge.Layer, result merge.Result) {
	t.Helper()
	if result.Values == nil {
		require.Empty(t, result.Added)
		return
	}
	type operation struct {
		Op    string        `json:"op"`
		Path  merge.Pointer `json:"path"`
		Value any           `json:"value"`
	}
	operations := make([]operation, 0, len(result.Added))
	byHand := map[string]any{"": again(t, in[2].Values)}
	for _, a := range result.Added {
		operations = append(operations, operation{Op: "add", Path: a.Pointer, Value: a.Value})
		add(t, byHand, a)
	}
	require.Equal(t, canonical(t, result.Values), canonical(t, byHand[""]), "user plus additions is what is stored")
	if throughEmptyKey(result.Added) {
		return // the library takes the empty key for the object that holds it
	}
	text, err := merge.Canonical(operations)
	require.NoError(t, err)
	patch, err := jsonpatch.DecodePatch(text)
	require.NoError(t, err)
	got := []byte(canonical(t, in[2].Values))
	if in[2].Values == nil {
		got = []byte(`{}`)
	}
	got, err = patch.Apply(got)
	require.NoError(t, err)
	require.Equal(t, canonical(t, result.Values), canonical(t, decode(t, string(got))), "and so says a JSON patch")
}

// add applies one addition to the document that root holds under the empty key. It adds, and so never finds the key there.
func add(t *testing.T, root map[string]any, a merge.Addition) {
	t.Helper()
	at, tokens := root, append([]string{""}, a.Pointer.Tokens()...)
	for _, token := range tokens[:len(tokens)-1] {
		inner, ok := at[token].(map[string]any)
		require.True(t, ok, "%q leads through objects of the user's", a.Pointer)
		at = inner
	}
	last := tokens[len(tokens)-1]
	if a.Pointer != "" {
		require.NotContains(t, at, last, "%q is absent", a.Pointer)
	}
	at[last] = a.Value
}

func throughEmptyKey(added []merge.Addition) bool {
	return slices.ContainsFunc(added, func(a merge.Addition) bool { return strings.Contains(string(a.Pointer), "//") })
}

// explains: every leaf has the origin of the highest layer that wrote exactly it, and what is removed is a null of the user's.
func explains(t *testing.T, in []merge.Layer, result merge.Result) {
	t.Helper()
	for at, value := range leaves(result.Values, "", nil) {
		origin := result.OriginOf(at)
		i, err := strconv.Atoi(origin)
		require.NoError(t, err, "%q has one origin", at)
		got, present := lookup(in[i].Values, at.Tokens())
		require.True(t, present, "%q is in its layer", at)
		if _, isObject := got.(map[string]any); !isObject {
			require.Empty(t, cmp.Diff(value, got), "%q has the value of its layer", at)
		}
	}
	for _, at := range result.Removed {
		value, present := lookup(in[2].Values, at.Tokens())
		require.True(t, present && value == nil, "%q was a null of the user's", at)
		_, present = lookup(result.Sent(), at.Tokens())
		require.False(t, present, "%q is not sent", at)
	}
	require.NotContains(t, result.Origin, merge.Pointer(""))
	for _, listed := range [][]merge.Pointer{slices.Collect(maps.Keys(result.Origin)), result.Removed} {
		for _, at := range listed {
			above := func(other merge.Pointer) bool { return strings.HasPrefix(string(at), string(other)+"/") }
			require.False(t, slices.ContainsFunc(listed, above), "%q is not below another", at)
		}
	}
}

// leaves are the values below which there are no more keys.
func leaves(values map[string]any, at merge.Pointer, found map[merge.Pointer]any) map[merge.Pointer]any {
	if found == nil {
		found = map[merge.Pointer]any{}
	}
	for key, value := range values {
		object, ok := value.(map[string]any)
		if ok && len(object) > 0 {
			leaves(object, at.Child(key), found)
			continue
		}
		found[at.Child(key)] = value
	}
	return found
}

func lookup(value any, tokens []string) (any, bool) {
	for _, token := range tokens {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[token]; !ok {
			return nil, false
		}
	}
	return value, true
}

// agreesWithMergePatch: where there is no null, RFC 7386 means the same.
func agreesWithMergePatch(t *testing.T, in []merge.Layer, result merge.Result) {
	t.Helper()
	want := []byte(`{}`)
	for _, layer := range in {
		if hasNull(layer.Values) {
			return
		}
		if layer.Values == nil {
			continue
		}
		var err error
		want, err = jsonpatch.MergePatch(want, []byte(canonical(t, layer.Values)))
		require.NoError(t, err)
	}
	if result.Values != nil {
		require.Equal(t, canonical(t, decode(t, string(want))), canonical(t, result.Values), "a merge patch without nulls")
	}
}

func hasNull(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		if v == nil {
			return false
		}
		for _, item := range v {
			if hasNull(item) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, hasNull)
	default:
		return v == nil
	}
}

// FuzzDecode: no bytes make it panic, and what it takes is what encoding/json takes, less what it says it refuses.
func FuzzDecode(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed[2]))
	}
	for _, text := range []string{`{"a":1,"a":2}`, `{"a":1}x`, "{\"\xff\":1,\"\xfe\":2}", nested(65), "{}\v", "\u00a0null", `{"a":"\`, `{"a":1e999}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		values, err := merge.Decode(raw)
		if err != nil {
			assert.Less(t, len(err.Error()), 1000)
			return
		}
		if values == nil {
			return
		}
		require.True(t, json.Valid(raw), "only JSON is taken")
		require.Empty(t, cmp.Diff(values, decode(t, canonical(t, values))), "and survives being written and read")
	})
}
