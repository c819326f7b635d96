package describe

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestWriteOrigins(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason           string
		parameters, sent string
		record           v1beta1.AppliedDefaults
		want             []string
	}{
		"NoRecord": {reason: "without a record nothing is claimed", parameters: `{"a": 1}`},
		"Restored": {reason: "what came with its references came from anywhere", parameters: `{"a": 1}`, record: v1beta1.AppliedDefaults{Rule: "restored"}},
		"Nothing":  {reason: "no parameters, no block", record: v1beta1.AppliedDefaults{Rule: "named"}},
		"Layers": {
			reason: "each root by its layer; an object is opened only where it is mixed", parameters: `{"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": {"g": {}}, "h": {"i": 1}}`,
			record: v1beta1.AppliedDefaults{Rule: "named", From: map[string]string{"/b/c": "class", "/b/d": "plan", "/f": "class"}},
			want:   []string{"a:     user", "b/c:   class", "b/d:   plan", "f:     class", "h:     user"},
		},
		"NullInDefault": {
			reason: "a null deep in a default is shown beside the rest of it", parameters: `{"f": {"ips": [1], "open": null}}`,
			record: v1beta1.AppliedDefaults{Rule: "named", From: map[string]string{"/f/ips": "class"}, Removed: []string{"/f/open"}},
			want:   []string{"f/ips:    class", "f/open:   nowhere, the user's null took the default away"},
		},
		"Secret": {
			reason: "what only the broker was sent, or was sent over a default, is from a Secret; the user's own text never is", parameters: `{"size": 1, "note": "<redacted>"}`,
			sent:   `{"size": "<redacted>", "note": "<redacted>", "password": "<redacted>"}`,
			record: v1beta1.AppliedDefaults{Rule: "named", From: map[string]string{"/size": "class"}},
			want:   []string{"note:       user", "password:   Secret", "size:       Secret"},
		},
		"Escaped": {
			reason: "a key with a slash stays told from a path", parameters: `{"a/b": 1}`, record: v1beta1.AppliedDefaults{Rule: "named"}, want: []string{"a~1b:   user"},
		},
		"Truncated": {
			reason: "a record that is cut says so", parameters: `{"a": 1}`, record: v1beta1.AppliedDefaults{Rule: "named", Truncated: true},
			want: []string{"a:   user", "# there are more defaults than the record of them can hold"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			require.NoError(t, writeOrigins(&out, raw(tc.parameters), raw(tc.sent), tc.record))
			want := ""
			if tc.want != nil {
				want = "\nParameters come from:\n  " + strings.Join(tc.want, "\n  ") + "\n"
			}
			assert.Equal(t, want, out.String(), tc.reason)
			assert.NoError(t, yaml.Unmarshal([]byte(out.String()), &map[string]any{}), "it is YAML")
		})
	}
}

func raw(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(text)}
}

func TestTransformText(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		transform v1beta1.SecretTransform
		want      string
	}{
		"Rename":   {reason: "both keys", transform: v1beta1.SecretTransform{RenameKey: &v1beta1.RenameKeyTransform{From: "a", To: "b"}}, want: "rename a to b"},
		"AddFixed": {reason: "a value may be secret", transform: v1beta1.SecretTransform{AddKey: &v1beta1.AddKeyTransform{Key: "a", StringValue: new("hidden")}}, want: "add a with a fixed value"},
		"AddPath":  {reason: "a path is none", transform: v1beta1.SecretTransform{AddKey: &v1beta1.AddKeyTransform{Key: "a", Value: []byte("hidden"), JSONPathExpression: new("{.host}")}}, want: "add a from {.host}"},
		"AddAll":   {reason: "a Secret by name", transform: v1beta1.SecretTransform{AddKeysFrom: &v1beta1.AddKeysFromTransform{SecretRef: &v1beta1.ObjectReference{Namespace: "n", Name: "s"}}}, want: "add every key of Secret n/s"},
		"Remove":   {reason: "the key", transform: v1beta1.SecretTransform{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "a"}}, want: "remove a"},
		"Empty":    {reason: "one that says nothing does nothing", want: "nothing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, transformText(&tc.transform), tc.reason)
		})
	}
}

func TestSecretValues(t *testing.T) {
	t.Parallel()
	printed := secretValues(map[string][]byte{
		"user": []byte("admin"), "certificate": []byte("-----BEGIN-----\nabc\n-----END-----\n"), "key": {0xff, 0x00}, "tail": []byte("one line\n"), "colour": []byte("\x1b[31m"),
	})
	assert.Equal(t, "  certificate\n    -----BEGIN-----\n    abc\n    -----END-----\n"+
		"  colour        G1szMW0=   (base64)\n  key           /wA=   (base64)\n  tail          one line\n  user          admin\n", printed)
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	cluster, namespaced := &v1beta1.ClusterServiceBroker{}, &v1beta1.ServiceBroker{}
	assert.Empty(t, credentials(cluster))
	assert.Empty(t, credentials(namespaced))
	cluster.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "n", Name: "s"}}}
	assert.Equal(t, "basic, from Secret n/s", credentials(cluster))
	cluster.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Bearer: &v1beta1.ClusterBearerTokenAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "n", Name: "s"}}}
	assert.Equal(t, "bearer token, from Secret n/s", credentials(cluster))
	namespaced.Spec.AuthInfo = &v1beta1.ServiceBrokerAuthInfo{Basic: &v1beta1.BasicAuthConfig{SecretRef: &v1beta1.LocalObjectReference{Name: "s"}}}
	assert.Equal(t, "basic, from Secret s", credentials(namespaced))
	namespaced.Spec.AuthInfo = &v1beta1.ServiceBrokerAuthInfo{Bearer: &v1beta1.BearerTokenAuthConfig{SecretRef: &v1beta1.LocalObjectReference{Name: "s"}}}
	assert.Equal(t, "bearer token, from Secret s", credentials(namespaced))
}
