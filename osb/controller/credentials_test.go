package controller

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

func TestCredentialContent(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		given  credential
		want   string
	}{
		"Text":         {reason: "without its quotes", given: credential{json: json.RawMessage(`"a\nb\u00e9"`)}, want: "a\nbé"},
		"EmptyText":    {reason: "is empty, not quotes", given: credential{json: json.RawMessage(`""`)}},
		"Number":       {reason: "with all its digits", given: credential{json: json.RawMessage(`12345678901234567890.10`)}, want: "12345678901234567890.10"},
		"True":         {reason: "as JSON has it", given: credential{json: json.RawMessage(`true`)}, want: "true"},
		"Null":         {reason: "as the retired catalog had it", given: credential{json: json.RawMessage(`null`)}, want: "null"},
		"Object":       {reason: "as the broker wrote it", given: credential{json: json.RawMessage(`{"b": 1, "a": [2]}`)}, want: `{"b": 1, "a": [2]}`},
		"Bytes":        {reason: "of another Secret, or of a transform", given: credential{bytes: []byte{0, 0xff}}, want: "\x00\xff"},
		"BytesAsQuote": {reason: "bytes are no JSON", given: credential{bytes: []byte(`"a"`)}, want: `"a"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, string(tc.given.content()))
		})
	}
}

func TestLawfulKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 300)
	cases := map[string]struct{ reason, key, want string }{
		"Lawful":   {reason: "is kept", key: "a-B_c.9", want: "a-B_c.9"},
		"Slash":    {reason: "becomes an underscore", key: "a/b c", want: "a_b_c"},
		"Unicode":  {reason: "a character becomes one underscore", key: "ключ", want: "____"},
		"NotUTF8":  {reason: "as does a byte", key: "a\xff", want: "a_"},
		"Empty":    {reason: "a key has a character", key: "", want: "_"},
		"Dot":      {reason: "is a folder's name", key: ".", want: "_."},
		"DotDot":   {reason: "is a folder's name", key: "..", want: "_.."},
		"DotDotX":  {reason: "is the kubelet's", key: "..data", want: "_..data"},
		"DotFirst": {reason: "is a file's name", key: ".env", want: ".env"},
		"Long":     {reason: "a key has a bound", key: long, want: long[:253]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, lawfulKey(tc.key))
		})
	}
}

// No error of a transform tells of a value.
func TestTransformErrorsTellNoValue(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		transform v1beta1.SecretTransform
		given     map[string]json.RawMessage
		says      string
	}{
		"PathMissing":  {reason: "what it names is not there", transform: pathTransform("{.nothere}"), says: "does not evaluate"},
		"PathOfText":   {reason: "a text has no fields", transform: pathTransform("{.password.x}"), says: "does not evaluate"},
		"PathIndex":    {reason: "a list is too short", transform: pathTransform("{.list[7]}"), says: "does not evaluate"},
		"PathUnlawful": {reason: "a brace is open", transform: pathTransform("{.canary"), says: "not lawful"},
		"SecretAbsent": {
			reason: "another Secret is not there", says: `"other/x"`,
			transform: v1beta1.SecretTransform{AddKeysFrom: &v1beta1.AddKeysFromTransform{SecretRef: &v1beta1.ObjectReference{Namespace: "other", Name: "x"}}},
		},
		"SameKey": {reason: "two keys become one", given: map[string]json.RawMessage{"a b": json.RawMessage(`"canary"`), "a_b": json.RawMessage(`"canary"`)}, says: "rename one"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBindingWorld(t)
			b := w.bindingHere()
			b.Spec.SecretTransforms = []v1beta1.SecretTransform{{}, tc.transform}
			if tc.given == nil {
				tc.given = map[string]json.RawMessage{"password": json.RawMessage(`"canary"`), "list": json.RawMessage(`["canary"]`)}
			}
			_, _, err := w.reconciler.secrets.data(t.Context(), b, provenance{}, &osb.Binding{Credentials: tc.given})
			require.Error(t, err)
			assert.Contains(t, err.Error(), tc.says)
			assert.NotContains(t, err.Error(), "canary")
		})
	}
}

func pathTransform(expression string) v1beta1.SecretTransform {
	return v1beta1.SecretTransform{AddKey: &v1beta1.AddKeyTransform{Key: "k", JSONPathExpression: &expression}}
}

// FuzzLawfulKey: whatever a broker calls a credential, a Secret takes it.
func FuzzLawfulKey(f *testing.F) {
	for _, seed := range []string{"", "a", "..", "a b", "ключ", strings.Repeat(".", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		name := lawfulKey(key)
		assert.Regexp(t, `^[-._a-zA-Z0-9]{1,253}$`, name)
		assert.NotEqual(t, ".", name)
		assert.False(t, strings.HasPrefix(name, ".."), name)
		assert.Equal(t, name, lawfulKey(name), "what is lawful stays")
	})
}

// credentialsIn are the credentials of a JSON object.
func credentialsIn(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var credentials map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &credentials))
	return credentials
}
