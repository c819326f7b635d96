package credentials

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
			w := newEnv(t)
			b := w.binding
			b.Spec.SecretTransforms = []v1beta1.SecretTransform{{}, tc.transform}
			if tc.given == nil {
				tc.given = map[string]json.RawMessage{"password": json.RawMessage(`"canary"`), "list": json.RawMessage(`["canary"]`)}
			}
			_, err := w.secrets.data(t.Context(), b, Origin{}, &osb.Binding{Credentials: tc.given})
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

// What a broker gives beside credentials is in the Secret too, before the transforms.
func TestKeysBesideCredentials(t *testing.T) {
	t.Parallel()
	const drain, route, mounts = "syslog-tls://logs.example.com:6514", "https://proxy.example.com", `[{"driver":"nfs","mode":"rw"}]`
	all := osb.Binding{SyslogDrainURL: drain, RouteServiceURL: route, VolumeMounts: json.RawMessage(mounts)}
	with := func(credentials map[string]json.RawMessage) osb.Binding {
		given := all
		given.Credentials = credentials
		return given
	}
	cases := map[string]struct {
		reason     string
		given      osb.Binding
		transforms []v1beta1.SecretTransform
		want       map[string]string
		empty      string
	}{
		"All":  {reason: "by the names of the specification", given: all, want: map[string]string{"syslog_drain_url": drain, "route_service_url": route, "volume_mounts": mounts}},
		"None": {reason: "a broker may give nothing", want: map[string]string{}, empty: "the broker gave no credentials"},
		"EmptyObject": {
			reason: "or an object that is empty", given: osb.Binding{Credentials: map[string]json.RawMessage{}}, want: map[string]string{}, empty: "the broker gave no credentials",
		},
		"CredentialsWin": {
			reason: "the application knows that name", given: with(map[string]json.RawMessage{"volume_mounts": json.RawMessage(`"mine"`), "syslog drain_url": json.RawMessage(`"mine too"`)}),
			want: map[string]string{"syslog_drain_url": "mine too", "route_service_url": route, "volume_mounts": "mine"},
		},
		"Transformed": {
			reason: "transforms see them", given: osb.Binding{SyslogDrainURL: drain},
			transforms: []v1beta1.SecretTransform{{RenameKey: &v1beta1.RenameKeyTransform{From: "syslog_drain_url", To: "drain"}}}, want: map[string]string{"drain": drain},
		},
		"TransformedAway": {
			reason: "and may leave nothing", given: osb.Binding{SyslogDrainURL: drain}, empty: "its transforms leave nothing in it",
			transforms: []v1beta1.SecretTransform{{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "syslog_drain_url"}}}, want: map[string]string{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			b := &v1beta1.ServiceBinding{}
			b.Spec.SecretTransforms = tc.transforms
			made, err := Secrets{}.data(t.Context(), b, Origin{}, &tc.given)
			require.NoError(t, err)
			has := map[string]string{}
			for key, value := range made.secret {
				has[key] = string(value)
			}
			assert.Equal(t, tc.want, has)
			assert.Equal(t, tc.empty, made.emptyBecause)
		})
	}
}

// Keys that transforms do not find are named, each at a length that a condition can hold.
func TestMissingKeysAreBounded(t *testing.T) {
	t.Parallel()
	const longest = 800 // bytes; what the controller has room for
	b := &v1beta1.ServiceBinding{}
	for range 50 {
		b.Spec.SecretTransforms = append(b.Spec.SecretTransforms, publishKey(strings.Repeat("\U0010ffff", 253)))
	}
	made, err := Secrets{}.data(t.Context(), b, Origin{}, givenText("host", "h"))
	require.NoError(t, err)
	require.Len(t, made.missing, 50)
	assert.True(t, strings.HasPrefix(made.missing[49], "secretTransforms[49].publishKey.key "), made.missing[49])
	for _, key := range made.missing {
		assert.LessOrEqual(t, len(key), longest)
	}
}
