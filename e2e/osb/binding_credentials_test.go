package osb_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// What a Secret holds of what a broker gives.
func TestSecretHoldsWhateverCredentialsAre(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 900<<10)
	cases := map[string]struct {
		reason string
		given  any
		want   map[string]string
	}{
		"Scalars":  {reason: "a number keeps its digits", given: json.RawMessage(`{"port": 5432, "ratio": 1.50, "id": 12345678901234567890, "tls": true, "none": null}`), want: map[string]string{"port": "5432", "ratio": "1.50", "id": "12345678901234567890", "tls": "true", "none": "null"}},
		"Nested":   {reason: "what is no text is JSON", given: json.RawMessage(`{"hosts": ["a","b"], "user": {"name": "u"}}`), want: map[string]string{"hosts": `["a","b"]`, "user": `{"name":"u"}`}},
		"Empty":    {reason: "a binding may have none", given: object{}, want: map[string]string{}},
		"None":     {reason: "a binding may have none", given: nil, want: map[string]string{}},
		"Unicode":  {reason: "values are any text, keys are not", given: object{"paßwort": "héllo мир\n<&>"}, want: map[string]string{"pa_wort": "héllo мир\n<&>"}},
		"Keys":     {reason: "a Secret may not have every key", given: object{"a b": "1", "c/d.e": "2", "..": "3", "": "4", ".f": "5"}, want: map[string]string{"a_b": "1", "c_d.e": "2", "_..": "3", "_": "4", ".f": "5"}},
		"NameType": {reason: "the broker's own is not overwritten", given: object{"type": "postgres", "provider": "p"}, want: map[string]string{"type": "postgres", "provider": "p"}},
		"Large":    {reason: "a Secret holds a mebibyte", given: object{"blob": large}, want: map[string]string{"blob": large}},
	}
	kinds := map[string]any{}
	for name, tc := range cases {
		kinds[name] = tc.given
	}
	s := newBindingEnv(t, func(s *setting) {
		s.Credentials = func(b osbtest.Binding) map[string]any { return fields(kinds[b.Parameters["kind"].(string)]) }
		s.service["tags"] = []string{"ServiceType=" + s.service["name"].(string)}
	})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s.in(t)
			b := s.Binding(strings.ToLower(name), "mydb")
			b.Spec.SecretName, b.Spec.Parameters = "of-"+b.Name, env.RawJSON(fmt.Sprintf(`{"kind": %q}`, name))
			s.Create(b)
			s.Ready(b)
			secret := s.secretOf(b)
			assert.Equal(t, "of-"+b.Name, secret.Name)
			assert.Equal(t, "servicebinding.io/"+s.Name("db"), string(secret.Type))
			got := map[string]string{}
			for key, value := range secret.Data {
				got[key] = string(value)
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

// fields are credentials of which each keeps its text; nil for none.
func fields(given any) map[string]any {
	raw, isRaw := given.(json.RawMessage)
	if !isRaw {
		all, _ := given.(object)
		return all
	}
	var texts map[string]json.RawMessage
	if json.Unmarshal(raw, &texts) != nil {
		return nil
	}
	all := map[string]any{}
	for key, text := range texts {
		all[key] = text
	}
	return all
}

// Credentials that cannot be kept are not left at the broker, and the user is told,
// without a value.
func TestSecretThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	missing := "{.nothere}"
	cases := map[string]struct {
		reason string
		given  object
		edit   func(*api.ServiceBinding)
		says   string
	}{
		"TooLarge":  {reason: "a Secret holds a mebibyte", given: object{"blob": strings.Repeat("canary", 200<<10)}, says: "1048576"},
		"SameKey":   {reason: "none may be lost silently", given: object{"a b": "canary", "a_b": "canary"}, says: `the keys "a b" and "a_b"`},
		"PathFails": {reason: "the transform needs what is not there", given: object{"user": "canary"}, edit: transformed(api.SecretTransform{AddKey: &api.AddKeyTransform{Key: "x", JSONPathExpression: &missing}}), says: "secretTransforms[0]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The broker does not see why they are removed.
			s := newBindingEnv(t, giving(tc.given), func(s *setting) { s.except = []string{"M10"} })
			b := s.reader()
			if tc.edit != nil {
				tc.edit(b)
			}
			s.Create(b)
			said := s.HasCondition(b, api.ConditionReady, api.ConditionFalse, "ErrorInjectingBindResult")
			assert.Contains(t, said.Message, tc.says)
			assert.NotContains(t, env.StatusOf(b), "canary")
			assert.Nil(t, b.Status.Binding)
			s.called(osbtest.Unbind, 1)
			assert.True(t, s.Absent(s.Secret("reader")))
			s.unbound(b)
		})
	}
}
