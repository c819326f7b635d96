package merge_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/merge"
)

// transforms reads a list as in "a>b +c=x -d !e *f=t @dev/g": a renamed to b, c added with the value x, d removed, e published,
// the preset f applied with the type t, and the keys of the Secret g in the namespace dev added.
func transforms(text string) []v1beta1.SecretTransform {
	var list []v1beta1.SecretTransform
	for word := range strings.FieldsSeq(text) {
		list = append(list, transform(word))
	}
	return list
}

func transform(word string) v1beta1.SecretTransform {
	switch word[0] {
	case '+':
		key, value, _ := strings.Cut(word[1:], "=")
		return v1beta1.SecretTransform{AddKey: &v1beta1.AddKeyTransform{Key: key, StringValue: &value}}
	case '-':
		return v1beta1.SecretTransform{RemoveKey: &v1beta1.RemoveKeyTransform{Key: word[1:]}}
	case '!':
		return v1beta1.SecretTransform{PublishKey: &v1beta1.PublishKeyTransform{Key: word[1:]}}
	case '*':
		name, typ, _ := strings.Cut(word[1:], "=")
		return v1beta1.SecretTransform{Preset: &v1beta1.PresetTransform{Name: name, Type: typ}}
	case '@':
		namespace, name, _ := strings.Cut(word[1:], "/")
		return v1beta1.SecretTransform{AddKeysFrom: &v1beta1.AddKeysFromTransform{SecretRef: &v1beta1.ObjectReference{Namespace: namespace, Name: name}}}
	}
	from, to, _ := strings.Cut(word, ">")
	return v1beta1.SecretTransform{RenameKey: &v1beta1.RenameKeyTransform{From: from, To: to}}
}

// written is the inverse of transforms.
func written(list []v1beta1.SecretTransform) string {
	words := make([]string, len(list))
	for i, t := range list {
		switch {
		case t.AddKey != nil:
			words[i] = "+" + t.AddKey.Key + "=" + *t.AddKey.StringValue
		case t.RemoveKey != nil:
			words[i] = "-" + t.RemoveKey.Key
		case t.PublishKey != nil:
			words[i] = "!" + t.PublishKey.Key
		case t.Preset != nil:
			words[i] = "*" + t.Preset.Name + "=" + t.Preset.Type
		case t.AddKeysFrom != nil:
			words[i] = "@" + t.AddKeysFrom.SecretRef.Namespace + "/" + t.AddKeysFrom.SecretRef.Name
		default:
			words[i] = t.RenameKey.From + ">" + t.RenameKey.To
		}
	}
	return strings.Join(words, " ")
}

func transformLayers(class, plan, binding string) []merge.TransformLayer {
	return []merge.TransformLayer{
		{Name: "class", Transforms: transforms(class)}, {Name: "plan", Transforms: transforms(plan)}, {Name: "binding", Transforms: transforms(binding)},
	}
}

func TestTransforms(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason               string
		class, plan, binding string
		want                 string
		layers               string // the first letter of each
	}{
		"None":            {reason: "nothing comes of nothing"},
		"InOrder":         {reason: "class's, plan's, binding's", class: "a>b -c", plan: "+d=x", binding: "@dev/e", want: "a>b -c +d=x @dev/e", layers: "ccpb"},
		"ClassOnly":       {reason: "defaults alone", class: "a>b", want: "a>b", layers: "c"},
		"BindingOnly":     {reason: "a binding alone", binding: "b>c a>b", want: "b>c a>b", layers: "bb"},
		"Rename":          {reason: "a later one on the same key takes the place", class: "a>b -x", binding: "a>c", want: "a>c -x", layers: "bc"},
		"Add":             {reason: "of an added key", class: "+a=1 -x", plan: "+a=2", want: "+a=2 -x", layers: "pc"},
		"Remove":          {reason: "of a removed one", class: "-a -x", plan: "-a", want: "-a -x", layers: "pc"},
		"Publish":         {reason: "of a published one", class: "!a -x", plan: "!a", want: "!a -x", layers: "pc"},
		"Preset":          {reason: "a preset is one, whatever it is given", class: "*sb=mysql -x", binding: "*sb=other", want: "*sb=other -x", layers: "bc"},
		"PublishedApart":  {reason: "what is published and what is removed are two", class: "!a", binding: "-a *a=", want: "!a -a *a=", layers: "cbb"},
		"Secret":          {reason: "of a Secret", class: "@dev/s -x", plan: "@dev/s", want: "@dev/s -x", layers: "pc"},
		"OtherNamespace":  {reason: "another namespace's is another", class: "@dev/s", plan: "@qa/s @/s", want: "@dev/s @qa/s @/s", layers: "cpp"},
		"KindsApart":      {reason: "each kind has its own targets", class: "a>b", plan: "+a=1", binding: "-a @a/a @/a", want: "a>b +a=1 -a @a/a @/a", layers: "cpbbb"},
		"ByFromNotTo":     {reason: "where a key goes is no target", class: "a>c", binding: "b>c", want: "a>c b>c", layers: "cb"},
		"LastOfThree":     {reason: "the highest wins, in the lowest's place", class: "a>1 -x", plan: "a>2 -y", binding: "a>3", want: "a>3 -x -y", layers: "bcp"},
		"PlaceOfThePlans": {reason: "or the plan's, where that has another", class: "a>1 -x", plan: "-y a>2", binding: "a>3", want: "-x -y a>3", layers: "cpb"},
		"SeveralPlaces":   {reason: "several take their places", class: "a>1 -x b>1 -y c>1", binding: "a>2 c>2", want: "a>2 -x b>1 -y c>2", layers: "bcccb"},
		"NewAtTheEnd":     {reason: "what is new comes last", class: "a>1 -x", binding: "a>2 +n=1", want: "a>2 -x +n=1", layers: "bcb"},
		"NewBeforeOld": {
			reason: "the user's order stands: +a would otherwise come after its renaming", class: "a>1 -x", binding: "+a=v a>2",
			want: "-x +a=v a>2", layers: "cbb",
		},
		"OtherOrder": {
			reason: "the user's order stands, as far as places go", class: "-a b>1 -x", binding: "b>2 -a",
			want: "b>2 -x -a", layers: "bcb",
		},
		"PlansOrder": {
			reason: "as does a plan's", class: "-a b>1 -x", plan: "b>2 -a", binding: "-a",
			want: "b>2 -x -a", layers: "pcb",
		},
		"AfterANewOne":  {reason: "once at the end, always at the end", class: "a>1 b>1 c>1", binding: "a>2 +n=1 c>2", want: "a>2 b>1 +n=1 c>2", layers: "bcbb"},
		"UsersOwnTwice": {reason: "what an old manifest does twice is done twice", binding: "a>b +a=1 a>c +a=2", want: "a>b +a=1 a>c +a=2", layers: "bbbb"},
		"TwiceOverOnce": {reason: "also where it replaces a default", class: "-x a>1 -y", binding: "a>2 a>3", want: "-x a>2 -y a>3", layers: "cbcb"},
		"OnceOverTwice": {reason: "all earlier ones on the target are replaced", class: "a>1 -x a>2 -y", binding: "a>3", want: "a>3 -x -y", layers: "bcc"},
		"TwiceOverTwice": {
			reason: "each takes a place", class: "a>1 -x a>2 -y", binding: "a>3 a>4", want: "a>3 -x a>4 -y", layers: "bcbc",
		},
		"SecondPlace": {reason: "the first place that keeps the order", class: "a>1 -x a>2 -y", binding: "-x a>3", want: "-x a>3 -y", layers: "bbc"},
		"All":         {reason: "a list that leaves nothing over is the result", class: "a>1 -x", plan: "+k=1", binding: "+k=2 -x a>2", want: "+k=2 -x a>2", layers: "bbb"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := transformLayers(tc.class, tc.plan, tc.binding)
			result, err := merge.Transforms(in...)
			require.NoError(t, err)
			assert.Equal(t, tc.want, written(result.Transforms), tc.reason)
			initials := ""
			for _, layer := range result.Layers {
				initials += layer[:1]
			}
			assert.Equal(t, tc.layers, initials, tc.reason)
			transformLawsHold(t, in)
		})
	}
	result, err := merge.Transforms()
	require.NoError(t, err)
	assert.Equal(t, merge.MergedTransforms{}, result, "No layers are no transforms.")
}

func TestTransformErrors(t *testing.T) {
	t.Parallel()
	const notOne = "it must be exactly one of renameKey, addKey, addKeysFrom, removeKey, publishKey and preset"
	rename, remove := transform("a>b"), transform("-a")
	cases := map[string]struct {
		reason string
		broken v1beta1.SecretTransform
		detail string
	}{
		"None":      {reason: "no kind", detail: notOne},
		"Two":       {reason: "two kinds have no order", broken: v1beta1.SecretTransform{RenameKey: rename.RenameKey, RemoveKey: remove.RemoveKey}, detail: notOne},
		"NoFrom":    {reason: "no key", broken: transform(">b"), detail: "renameKey.from is required"},
		"NoAdded":   {reason: "no key", broken: transform("+=hunter2"), detail: "addKey.key is required"},
		"NoRemoved": {reason: "no key", broken: transform("-"), detail: "removeKey.key is required"},
		"NoPublic":  {reason: "no key", broken: transform("!"), detail: "publishKey.key is required"},
		"NoPreset":  {reason: "no preset", broken: transform("*"), detail: "preset.name is required"},
		"NoSecret":  {reason: "no Secret", broken: v1beta1.SecretTransform{AddKeysFrom: &v1beta1.AddKeysFromTransform{}}, detail: "addKeysFrom.secretRef.name is required"},
		"NoName":    {reason: "no Secret's name", broken: transform("@dev/"), detail: "addKeysFrom.secretRef.name is required"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, layer := range []string{"class", "plan", "binding"} {
				in := transformLayers("a>b", "a>b", "a>b")
				in[i].Transforms = append(in[i].Transforms, tc.broken, v1beta1.SecretTransform{})
				result, err := merge.Transforms(in...)
				assert.Equal(t, &merge.TransformError{Layer: layer, Index: 1, Detail: tc.detail}, err, tc.reason)
				assert.Equal(t, merge.MergedTransforms{}, result)
			}
		})
	}
	_, err := merge.Transforms(merge.TransformLayer{Name: "plan", Transforms: transforms("+=hunter2")})
	assert.EqualError(t, err, `secret transform [0] of layer "plan" cannot be used: addKey.key is required`)
}

// removals remove n keys, from the number on.
func removals(from, n int) []v1beta1.SecretTransform {
	list := make([]v1beta1.SecretTransform, n)
	for i := range list {
		list[i] = transform("-k" + strconv.Itoa(from+i))
	}
	return list
}

func TestTransformsLimit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason        string
		class, plan   []v1beta1.SecretTransform
		binding       []v1beta1.SecretTransform
		want          string // the layer with most; "" if it is allowed
		wantRemaining int
	}{
		"AtLimit":     {reason: "256 are allowed", class: removals(0, 100), plan: removals(100, 100), binding: removals(200, 56), wantRemaining: 256},
		"OverLimit":   {reason: "one more is not", class: removals(0, 100), plan: removals(100, 101), binding: removals(201, 56), want: "plan"},
		"TheBindings": {reason: "of equals the binding's is named", class: removals(0, 100), plan: removals(100, 100), binding: removals(200, 100), want: "binding"},
		"Replaced":    {reason: "what is replaced does not count", class: removals(0, 200), plan: removals(0, 200), binding: removals(0, 256), wantRemaining: 256},
		"InBetween":   {reason: "nor does what came between", class: append(removals(0, 200), removals(0, 56)...), plan: removals(200, 56), binding: removals(0, 256), wantRemaining: 256},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := merge.Transforms(
				merge.TransformLayer{Name: "class", Transforms: tc.class}, merge.TransformLayer{Name: "plan", Transforms: tc.plan}, merge.TransformLayer{Name: "binding", Transforms: tc.binding})
			assert.Len(t, result.Transforms, tc.wantRemaining, tc.reason)
			assert.Len(t, result.Layers, tc.wantRemaining, tc.reason)
			if tc.want == "" {
				require.NoError(t, err, tc.reason)
				return
			}
			assert.Equal(t, &merge.LimitError{Layer: tc.want, Quantity: "transforms", Max: 256}, err, tc.reason)
			assert.EqualError(t, err, fmt.Sprintf("merged secret transforms are too many, most of them from layer %q: at most 256 are allowed; remove some", tc.want))
		})
	}
}

// TestTransformsAreCopied: defaults come from a cache that requests share.
func TestTransformsAreCopied(t *testing.T) {
	t.Parallel()
	in := transformLayers("+a=1", "@dev/s", "-b")
	result, err := merge.Transforms(in...)
	require.NoError(t, err)
	*result.Transforms[0].AddKey.StringValue = "changed"
	result.Transforms[1].AddKeysFrom.SecretRef.Name = "changed"
	result.Transforms[2].RemoveKey.Key = "changed"
	assert.Equal(t, transformLayers("+a=1", "@dev/s", "-b"), in)
}
