package credentials

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// What the preset makes of credentials as brokers give them: the well-known keys beside
// what was there.
func TestPreset(t *testing.T) {
	t.Parallel()
	mysql := Origin{ServiceType: "mysql", Class: "p-mysql"}
	cases := map[string]struct {
		reason string
		of     Origin
		preset v1beta1.PresetTransform
		given  string
		adds   string
	}{
		"CloudFoundry": {
			reason: "the names that most have", of: mysql, given: `{"hostname":"h","port":3306,"name":"d","username":"u","password":"p","uri":"mysql://x","jdbcUrl":"j"}`,
			adds: `{"host":"h","database":"d","type":"mysql","provider":"p-mysql"}`,
		},
		"Spelling":      {reason: "in any letters", of: mysql, given: `{"DB_HOST":"h","Db.Port":"1","user-name":"u","PASS":"p","DB-NAME":"d"}`, adds: `{"host":"h","port":"1","username":"u","password":"p","database":"d","type":"mysql","provider":"p-mysql"}`},
		"OwnName":       {reason: "in another spelling it comes before other names", of: Origin{}, given: `{"Host":"a","hostname":"b","userName":"u","login":"l","private_key":"k","client_key":"c"}`, adds: `{"host":"a","username":"u","private-key":"k"}`},
		"OtherUser":     {reason: "what many call the user", of: Origin{}, given: `{"user":"u"}`, adds: `{"username":"u"}`},
		"NotOverwriten": {reason: "what is there stays", of: mysql, given: `{"host":"a","hostname":"b","type":"t","provider":"v"}`, adds: `{}`},
		"Wished":        {reason: "what is written in the preset wins", of: mysql, preset: v1beta1.PresetTransform{Type: "postgresql", Provider: "acme"}, given: `{"type":"t"}`, adds: `{"type":"postgresql","provider":"acme"}`},
		"NoType":        {reason: "the specification demands one", of: Origin{Class: "c"}, given: `{}`, adds: `{"type":"c","provider":"c"}`},
		"Nothing":       {reason: "of a class that is gone nothing is known", given: `{}`, adds: `{}`},
		"Likeliest":     {reason: "the first name that fits", of: Origin{}, given: `{"server":"b","hostname":"a","name":"n","db_name":"d"}`, adds: `{"host":"a","database":"d"}`},
		"Certificates":  {reason: "those of the client", of: Origin{}, given: `{"client_cert":"c","client_key":"k","ca":"a"}`, adds: `{"certificates":"c","private-key":"k"}`},
		"NoObjects":     {reason: "a list is no host", of: Origin{}, given: `{"hostname":["a"],"server":{"a":1},"user":null,"pass":true}`, adds: `{"password":"true"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var given map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(tc.given), &given))
			preset := tc.preset
			preset.Name = v1beta1.PresetServiceBinding
			b := &v1beta1.ServiceBinding{}
			b.Spec.SecretTransforms = []v1beta1.SecretTransform{{Preset: &preset}}
			made, err := Secrets{}.data(t.Context(), b, tc.of, &osb.Binding{Credentials: given})
			require.NoError(t, err)
			assert.Empty(t, made.public)
			want := map[string]string{}
			require.NoError(t, json.Unmarshal([]byte(tc.adds), &want))
			for key, value := range given {
				if _, added := want[key]; !added {
					want[key] = string(credential{json: value}.content())
				}
			}
			got := map[string]string{}
			for key, value := range made.secret {
				got[key] = string(value)
			}
			assert.Equal(t, want, got, tc.reason)
		})
	}
}
