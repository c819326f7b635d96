package merge_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
)

// targetOf is what a transform works on, as one text; it is of exactly one kind.
func targetOf(t v1beta1.SecretTransform) string {
	switch {
	case t.RenameKey != nil:
		return "rename " + t.RenameKey.From
	case t.AddKey != nil:
		return "add " + t.AddKey.Key
	case t.RemoveKey != nil:
		return "remove " + t.RemoveKey.Key
	case t.PublishKey != nil:
		return "publish " + t.PublishKey.Key
	case t.Preset != nil:
		return "preset " + t.Preset.Name
	}
	return "from " + t.AddKeysFrom.SecretRef.Namespace + "/" + t.AddKeysFrom.SecretRef.Name
}

// over is the reference for one list over another: the sentences of Transforms' comment one after the other, with a slot for
// each place. Its time is quadratic.
func over(below, above []v1beta1.SecretTransform) []v1beta1.SecretTransform {
	slots := make([][]v1beta1.SecretTransform, len(below)+1) // the last is for what comes after everything earlier
	for i, old := range below {
		if !slices.ContainsFunc(above, func(t v1beta1.SecretTransform) bool { return targetOf(t) == targetOf(old) }) {
			slots[i] = []v1beta1.SecretTransform{old}
		}
	}
	place := 0 // the first that keeps the list's order
	for i, entry := range above {
		for place < len(below) && targetOf(below[place]) != targetOf(entry) {
			place++
		}
		if place == len(below) {
			slots[place] = above[i:]
			break
		}
		slots[place] = []v1beta1.SecretTransform{entry}
		place++
	}
	return slices.Concat(slots...)
}

func transformLawsHold(t *testing.T, in []merge.TransformLayer) {
	t.Helper()
	before := canonicalOf(t, in)
	result, err := merge.Transforms(in...)
	require.Equal(t, before, canonicalOf(t, in), "inputs are never changed")
	if err != nil {
		require.Less(t, len(err.Error()), 1000)
		require.Equal(t, merge.MergedTransforms{}, result)
		return
	}

	var fold []v1beta1.SecretTransform
	for _, layer := range in {
		fold = over(fold, layer.Transforms)
	}
	equalTransforms(t, fold, result.Transforms, "the result is the left fold")

	// A result is a layer as any other: what was merged first makes no difference.
	for n := range in {
		first, err := merge.Transforms(in[:n]...)
		if err != nil {
			continue // alone they are too many
		}
		rest, err := merge.Transforms(append([]merge.TransformLayer{{Transforms: first.Transforms}}, in[n:]...)...)
		require.NoError(t, err)
		equalTransforms(t, result.Transforms, rest.Transforms, "the left fold can be taken in steps")
	}

	again := slices.Clone(in)
	again[len(again)-1].Transforms = result.Transforms
	second, err := merge.Transforms(again...)
	require.NoError(t, err)
	equalTransforms(t, result.Transforms, second.Transforms, "merging again over the same defaults changes nothing")

	keepsLists(t, in, result)
	repeated, err := merge.Transforms(in...)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(result, repeated), "two runs agree in everything")
}

// keepsLists: what a layer gave stands in the layer's order, and of a layer nothing is left out but what a higher one
// replaces.
func keepsLists(t *testing.T, in []merge.TransformLayer, result merge.MergedTransforms) {
	t.Helper()
	require.Len(t, result.Layers, len(result.Transforms), "each transform has its layer")
	higher := map[string]bool{}
	for _, layer := range slices.Backward(in) {
		var want, got []v1beta1.SecretTransform
		for _, entry := range layer.Transforms {
			if !higher[targetOf(entry)] {
				want = append(want, entry)
			}
		}
		for i, name := range result.Layers {
			if name == layer.Name {
				got = append(got, result.Transforms[i])
			}
		}
		equalTransforms(t, want, got, "all of layer "+layer.Name+" that no higher one replaces, in its order")
		for _, entry := range layer.Transforms {
			higher[targetOf(entry)] = true
		}
	}
}

func equalTransforms(t *testing.T, want, got []v1beta1.SecretTransform, law string) {
	t.Helper()
	require.Equal(t, canonicalOf(t, want), canonicalOf(t, got), law)
}

// canonicalOf is a value's text; no list and an empty one are the same.
func canonicalOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "null", "[]")
}

// FuzzTransforms: no lists make it panic, and the laws hold for those that it takes.
func FuzzTransforms(f *testing.F) {
	for _, seed := range [][3]string{
		{`[{"renameKey":{"from":"db-name","to":"database"}}]`, `[{"renameKey":{"from":"db-name","to":"name"}}]`, `[{"addKey":{"key":"db-name","value":"eA=="}}]`},
		{`[{"removeKey":{"key":"a"}},{"removeKey":{"key":"b"}}]`, `[]`, `[{"removeKey":{"key":"b"}},{"removeKey":{"key":"a"}}]`},
		{`[{"addKeysFrom":{"secretRef":{"namespace":"dev","name":"s"}}}]`, `[{"addKeysFrom":{"secretRef":{"name":"s"}}}]`, `[{"addKeysFrom":{}}]`},
		{`[{}]`, `[{"removeKey":{"key":""}}]`, `[{"addKey":{"key":"a","stringValue":null},"removeKey":{"key":"a"}}]`},
		{`[{"removeKey":{"key":"a"}},{"removeKey":{"key":"a"}}]`, `null`, `[{"removeKey":{"key":"a"}},{"removeKey":{"key":"a"}},{"removeKey":{"key":"a"}}]`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, class, plan, binding []byte) {
		in := []merge.TransformLayer{{Name: "class"}, {Name: "plan"}, {Name: "binding"}}
		for i, text := range [][]byte{class, plan, binding} {
			if json.Unmarshal(text, &in[i].Transforms) != nil {
				return
			}
		}
		transformLawsHold(t, in)
	})
}

// TestTransformLaws holds the laws over lists that are made to collide: few targets, often twice in a list.
func TestTransformLaws(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("a>1 a>2 a>3 b>1 b>2 c>1 +a=1 +a=2 +b=1 -a -b -c @/s @dev/s @qa/s")
	rounds := 5000
	if testing.Short() {
		rounds = 1000
	}
	for range rounds {
		var lists [3]string
		for i := range lists {
			for range random.IntN(7) {
				lists[i] += " " + words[random.IntN(len(words))]
			}
		}
		transformLawsHold(t, transformLayers(lists[0], lists[1], lists[2]))
	}
}
