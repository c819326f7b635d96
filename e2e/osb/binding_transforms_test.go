package osb_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
)

func rename(from, to string) api.SecretTransform {
	return api.SecretTransform{RenameKey: &api.RenameKeyTransform{From: from, To: to}}
}

func remove(key string) api.SecretTransform {
	return api.SecretTransform{RemoveKey: &api.RemoveKeyTransform{Key: key}}
}

func addText(key, text string) api.SecretTransform {
	return api.SecretTransform{AddKey: &api.AddKeyTransform{Key: key, StringValue: &text}}
}

func addBytes(key string, value []byte) api.SecretTransform {
	return api.SecretTransform{AddKey: &api.AddKeyTransform{Key: key, Value: value}}
}

func addPath(key, expression string) api.SecretTransform {
	return api.SecretTransform{AddKey: &api.AddKeyTransform{Key: key, JSONPathExpression: &expression}}
}

func addFrom(namespace, name string) api.SecretTransform {
	return api.SecretTransform{AddKeysFrom: &api.AddKeysFromTransform{SecretRef: &api.ObjectReference{Namespace: namespace, Name: name}}}
}

// transformedBroker gives the same credentials always, and its class and plan suggest
// transforms.
func transformedBroker(s *setting) {
	giving(object{"host": "h", "port": 5432, "username": "u", "nested": object{"list": []any{"x", object{"deep": true}}}})(s)
	s.service["metadata"] = object{"defaultSecretTransforms": []any{object{"renameKey": object{"from": "username", "to": "user"}}}}
	s.small["metadata"] = object{"defaultSecretTransforms": []any{object{"addKey": object{"key": "dsn", "jsonPathExpression": "{.user}@{.host}"}}}}
}

// Transforms change what the broker gives, one after another: those of the class, those
// of the plan, and the binding's own.
func TestSecretTransforms(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t, transformedBroker)
	elsewhere := newEnv(t)
	own, other := s.Secret("own"), elsewhere.Secret("other")
	own.Data, other.Data = map[string][]byte{"host": []byte("own"), "ca": {0xff, 0}}, map[string][]byte{"ca": []byte("other")}
	s.Create(own, other)
	const nested = `{"list":["x",{"deep":true}]}`
	given := map[string]string{"host": "h", "port": "5432", "user": "u", "nested": nested, "dsn": "u@h"}
	both := addText("k", "text")
	both.AddKey.Value = []byte("bytes")
	all := addPath("k", "{.port}")
	all.AddKey.Value, all.AddKey.StringValue = []byte("bytes"), new("text")
	cases := map[string]struct {
		reason     string
		transforms []api.SecretTransform
		// want is what is not as given; empty: it is not there.
		want map[string]string
	}{
		"Defaults":         {reason: "the class's, then the plan's on what came of them"},
		"RenameMissing":    {reason: "nothing happens", transforms: []api.SecretTransform{rename("nothere", "host")}},
		"RenameOverwrites": {reason: "what it held is overwritten", transforms: []api.SecretTransform{rename("user", "host")}, want: map[string]string{"host": "u", "user": ""}},
		"RenameToItself":   {reason: "nothing is lost", transforms: []api.SecretTransform{rename("user", "user")}},
		"RenameNumber":     {reason: "a value is moved as it is", transforms: []api.SecretTransform{rename("port", "p"), addPath("q", "{.p}")}, want: map[string]string{"port": "", "p": "5432", "q": "5432"}},
		"AddBytes":         {reason: "bytes, whatever they are", transforms: []api.SecretTransform{addBytes("k", []byte{0, 0xff})}, want: map[string]string{"k": "\x00\xff"}},
		"AddText":          {reason: "a text", transforms: []api.SecretTransform{addText("k", "t")}, want: map[string]string{"k": "t"}},
		"AddOverwrites":    {reason: "as any other", transforms: []api.SecretTransform{addText("host", "t")}, want: map[string]string{"host": "t"}},
		"TextBeatsBytes":   {reason: "as in the retired catalog", transforms: []api.SecretTransform{both}, want: map[string]string{"k": "text"}},
		"PathBeatsAll":     {reason: "as in the retired catalog", transforms: []api.SecretTransform{all}, want: map[string]string{"k": "5432"}},
		"PathTemplate":     {reason: "text and more than one value", transforms: []api.SecretTransform{addPath("k", "tcp://{.host}:{.port}/")}, want: map[string]string{"k": "tcp://h:5432/"}},
		"PathNested":       {reason: "within what the broker gave", transforms: []api.SecretTransform{addPath("k", "{.nested.list[1].deep}")}, want: map[string]string{"k": "true"}},
		"PathObject":       {reason: "as JSON", transforms: []api.SecretTransform{addPath("k", "{.nested}")}, want: map[string]string{"k": nested}},
		"PathOfAdded":      {reason: "on what came of those before", transforms: []api.SecretTransform{addText("a", "1"), addPath("k", "{.a}{.dsn}")}, want: map[string]string{"a": "1", "k": "1u@h"}},
		"FromOwn":          {reason: "every key, and over those that are there", transforms: []api.SecretTransform{addFrom("", "own")}, want: map[string]string{"host": "own", "ca": "\xff\x00"}},
		"FromElsewhere":    {reason: "whom admission let read it", transforms: []api.SecretTransform{addFrom(elsewhere.Namespace, "other")}, want: map[string]string{"ca": "other"}},
		"FromBoth":         {reason: "the later one wins", transforms: []api.SecretTransform{addFrom("", "own"), addFrom(elsewhere.Namespace, "other")}, want: map[string]string{"host": "own", "ca": "other"}},
		"Remove":           {reason: "a key, and one that is not there", transforms: []api.SecretTransform{remove("nested"), remove("nothere")}, want: map[string]string{"nested": ""}},
		"InOrder":          {reason: "what is removed cannot be renamed", transforms: []api.SecretTransform{remove("user"), rename("user", "host")}, want: map[string]string{"user": ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s.in(t)
			b := s.Binding(strings.ToLower(name), "mydb")
			transformed(tc.transforms...)(b)
			s.Create(b)
			s.Ready(b)
			want, got := maps.Clone(given), map[string]string{}
			maps.Copy(want, tc.want)
			maps.DeleteFunc(want, func(_, value string) bool { return value == "" })
			for key, value := range s.secretOf(b).Data {
				got[key] = string(value)
			}
			assert.Equal(t, want, got)
		})
	}
}

// The transforms that class and plan suggest are those that admission wrote down, and
// can be refused.
func TestSecretTransformsWithoutDefaults(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t, transformedBroker)
	b := s.bound(func(b *api.ServiceBinding) { b.Spec.SecretTransformDefaults = api.SecretTransformDefaultsNone })
	assert.Empty(t, b.Spec.SecretTransforms)
	assert.Contains(t, s.secretOf(b).Data, "username")
	s.unbound(b)
}

// A Secret whose keys are to be added is waited for, before anything is bound.
func TestSecretTransformsWaitForTheirSecret(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	b := s.reader(transformed(addFrom("", "later")))
	s.Create(b)
	said := s.waits(b, "ErrorInjectingBindResult")
	assert.Contains(t, said.Message, "later")
	assert.Empty(t, s.broker.Bindings())
	later := s.Secret("later")
	later.Data = map[string][]byte{"ca": []byte("pem")}
	s.Create(later)
	s.Ready(b)
	assert.Equal(t, "pem", string(s.secretOf(b).Data["ca"]))
	s.unbound(b)
}

// A key that a transform does not find is told by name, in a condition and in an event. The binding is Ready.
func TestTransformsThatFindNoKey(t *testing.T) {
	t.Parallel()
	s := newBindingEnv(t)
	b := s.bound(transformed(rename("nothere", "host"), remove("typo")))
	told := s.HasCondition(b, api.ConditionTransformed, api.ConditionFalse, "KeysNotFound")
	event := s.HasEvent(b, "KeysNotFound")
	for _, says := range []string{told.Message, event.Note} {
		assert.Contains(t, says, `secretTransforms[0].renameKey.from "nothere"`)
		assert.Contains(t, says, `secretTransforms[1].removeKey.key "typo"`)
	}
}
